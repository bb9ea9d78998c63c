"""How the learning rate moves while a run trains."""

from __future__ import annotations

import torch
from torch.optim.lr_scheduler import OneCycleLR, ReduceLROnPlateau

from resolvent.training.settings import TrainingSettings

PLATEAU_FACTOR = 0.5  # public code of Calvello et al. 2024


class Schedule:
    """The schedule that `settings` name, around torch's own; it hears of every step and of every epoch."""

    def __init__(self, optimizer: torch.optim.Optimizer, settings: TrainingSettings, steps_per_epoch: int):
        self.optimizer = optimizer
        self.by_step = settings.schedule == "1cycle"
        if self.by_step:
            self.scheduler = OneCycleLR(
                optimizer,
                max_lr=settings.learning_rate,
                total_steps=settings.epochs * steps_per_epoch,
                pct_start=settings.peak_fraction,
                div_factor=settings.initial_division,
                final_div_factor=settings.final_division,
            )
        else:
            self.scheduler = ReduceLROnPlateau(
                optimizer, factor=PLATEAU_FACTOR, patience=settings.plateau_patience
            )

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        return self.optimizer.param_groups[0]["lr"]

    def after_step(self) -> None:
        if self.by_step:
            self.scheduler.step()

    def after_epoch(self, validation_error: float) -> None:
        if not self.by_step:
            self.scheduler.step(validation_error)

    def state_dict(self) -> dict:
        return self.scheduler.state_dict()

    def load_state_dict(self, state: dict) -> None:
        self.scheduler.load_state_dict(state)
