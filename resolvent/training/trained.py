"""A trained operator, from its checkpoint."""

from __future__ import annotations

from torch import nn

from resolvent.models.build import build
from resolvent.training.normalisation import restored
from resolvent.training.settings import TrainingSettings


def trained_operator(checkpoint: dict) -> nn.Module | None:
    """Return the operator from physical units to physical units; None for a run that diverged."""
    if checkpoint["operator"] is None:
        return None
    return restored(
        build(checkpoint["architecture"], checkpoint["settings"], seed=0),
        TrainingSettings.model_validate(checkpoint["training"]),
        checkpoint["operator"],
    )
