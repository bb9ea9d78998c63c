"""Train one operator, resumable after every epoch, and select the best epoch on the validation split."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import OneCycleLR, ReduceLROnPlateau
from torch.utils.tensorboard import SummaryWriter

from resolvent.common.files import remove
from resolvent.common.progress import alive, progress_bar
from resolvent.common.records import HISTORY_COLUMNS
from resolvent.datasets.loading import Source
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.training import checkpoints
from resolvent.training.augmentation import Augmentation
from resolvent.training.data import Batch, InMemory, Streamed, training_data
from resolvent.training.devices import (
    device_name,
    forward_precision,
    is_out_of_memory,
    keep_large_arrays,
    peak_memory_bytes,
    tf32,
)
from resolvent.training.distributed.group import ALONE, Group, SharedOperator
from resolvent.training.errors import TrainingError
from resolvent.training.interruption import Interruption, interruption
from resolvent.training.losses import build_loss, relative_l2, weights_of
from resolvent.training.normalisation import NormalisedOperator, dtype_of
from resolvent.training.optimisers import build_optimiser
from resolvent.training.recorded import Recorded
from resolvent.training.settings import TrainingSettings
from resolvent.training.tensors import as_functions, as_samples, batch_size

VALIDATION_BATCH = 32  # largest number of samples in a batch
VALIDATION_VALUES = 2**18  # largest number of grid values in a batch: 32 samples at 8192, 5 at 211 x 211
# A mean relative error this large counts as divergence, even if every number is finite: predictions ten times
# the size of the solution never recover, but collapse to zero (error 1).
DIVERGED_ERROR = 10.0
PLATEAU_FACTOR = 0.5  # as in the public code of Calvello et al. 2024


@dataclass
class Progress:
    """State of a run. `micro_batch` samples fit into memory; `history` has HISTORY_COLUMNS for each epoch.

    `steps`, `loss` and `error` belong to the current epoch: steps done, and sums over them.
    """

    micro_batch: int

    history: list[list[float | None]] = field(default_factory=list)
    best_error: float = math.inf
    best_epoch: int = 0
    best_state: dict | None = None
    seconds: float = 0.0
    diverged_epoch: int | None = None
    steps: int = 0
    loss: float = 0.0
    error: float = 0.0


def schedule_of(
    optimizer: torch.optim.Optimizer, settings: TrainingSettings, steps_per_epoch: int
) -> OneCycleLR | ReduceLROnPlateau:
    """Return the learning rate schedule: 1cycle (called every step) or plateau (every epoch)."""
    if settings.schedule == "plateau":
        return ReduceLROnPlateau(optimizer, factor=PLATEAU_FACTOR, patience=settings.plateau_patience)
    return OneCycleLR(
        optimizer,
        max_lr=settings.learning_rate,
        total_steps=settings.epochs * steps_per_epoch,
        pct_start=settings.peak_fraction,
        div_factor=settings.initial_division,
        final_div_factor=settings.final_division,
    )


class Trainer:
    """Train an operator with optimiser, loss and schedule from the settings.

    operator           newly built, in physical units; moved to `device`.
    train, validation  samples in memory, or splits that are streamed during the training. The validation
                       samples select the epoch.
    test               if given, its error is recorded after every epoch, for papers that report the lowest.
    seed               of the dropout masks and, without `settings.loader_seed`, of the order of the samples.
                       The order in epoch e depends only on (seed, e): resumed runs are identical to others.
    identity           digest of data, settings and code. A saved state with another identity is ignored.
    directory          folder of `resume.pt` and TensorBoard's events.
    equation           settings of the samples' dataset, for the loss energy and for symmetries.
    group              the processes of the training, each with all samples on its device. Their number, which
                       may change on resuming, affects only rounding and dropout masks.
    recordable         whether a GPU may record the operator's passes and replay them (`Recorded`).
    """

    def __init__(
        self,
        operator: nn.Module,
        train: Source,
        validation: Source,
        settings: TrainingSettings,
        *,
        seed: int,
        device: torch.device,
        identity: str,
        directory: Path,
        test: Source | None = None,
        equation: DatasetSettings | None = None,
        group: Group = ALONE,
        recordable: bool = False,
    ):
        self.settings, self.seed, self.device, self.group = settings, seed, device, group
        self.loader_seed = seed if settings.loader_seed is None else settings.loader_seed
        self.identity, self.directory = identity, Path(directory)
        self.resume_path = self.directory / "resume.pt"
        self.operator = operator.to(device)
        self.shared = SharedOperator(self.operator, group)
        self.dtype = dtype_of(operator)
        self.train = training_data(train, device, settings, self.dtype)
        self.validation = training_data(validation, device, dtype=self.dtype)
        self.test = None if test is None else training_data(test, device, dtype=self.dtype)
        self.validation_batch = batch_size(validation.grid, VALIDATION_VALUES, VALIDATION_BATCH)
        self.tested_at_once = self.validation_batch  # by this process, of each batch
        self.steps_per_epoch = len(train) // settings.batch_size
        self.target_grid = train.target_grid
        weights = weights_of(self.target_grid)
        self.weights = None if weights is None else weights.to(device)
        self.loss = build_loss(self.target_grid, settings, self.weights, equation)
        self.augmentation = None
        if settings.augment == "symmetries":
            assert equation is not None
            symmetries, grids = equation.symmetries(), (train.grid, self.target_grid)
            self.augmentation = Augmentation(symmetries, grids, self.loader_seed, len(train), device)
        self.loss_scale = settings.batch_size if settings.batch_reduction == "sum" else 1
        self.optimizer = build_optimiser(operator, settings)
        self.schedule = schedule_of(self.optimizer, settings, self.steps_per_epoch)
        self.progress = Progress(settings.batch_size)
        # Of this process, by step of the epoch.
        self.losses = torch.zeros(self.steps_per_epoch, device=device)
        self.passes = Recorded(self._accumulated, device, recordable and group.size == 1)

    def fit(self) -> Progress:
        """Train to the last epoch, or until an epoch diverges; resume from `resume.pt` if it exists.

        A batch that does not fit into memory is split. Raises `TrainingError` if a single sample does not
        fit, and after SIGTERM or SIGINT, when the state has been saved.
        """
        torch.manual_seed(self.group.seed(self.seed))  # for dropout masks
        self._resume()  # restores the random state of a resumed run
        progress, patience = self.progress, self.settings.early_stopping or math.inf
        done, first = len(progress.history), self.group.first
        shown = _shown(self.directory, self.settings.epochs, done) if first else nullcontext()
        with interruption() as asked, shown as show:
            for epoch in range(done + 1, self.settings.epochs + 1):
                if progress.diverged_epoch is not None or epoch - progress.best_epoch > patience:
                    break
                row = self._epoch(epoch, asked)
                if show is not None:
                    show(row)
                self._save()
                keep_large_arrays(self.group.size)
        if self.settings.selection == "last" and progress.diverged_epoch is None:
            *_, validation_error, _ = progress.history[-1]
            assert validation_error is not None
            self._choose(len(progress.history), validation_error)
        return progress

    def words_of_divergence(self) -> str:
        """Return what is known about why the last epoch diverged: its first step, loss, errors and rate."""
        epoch, rate, loss, error, validation_error, _ = self.progress.history[-1]
        (steps,) = (~self.losses.isfinite()).nonzero(as_tuple=True)
        if len(steps):
            what = f"the loss is not finite from step {int(steps[0]) + 1} of {self.steps_per_epoch}"
        else:
            trained = "not measured" if error is None else f"{error:.3g}"
            what = f"loss {loss:.3g}, mean relative error {trained} (validation: {validation_error:.3g})"
        return f"diverged in epoch {epoch}: {what}; learning rate {rate:.3g}"

    def _choose(self, epoch: int, validation_error: float) -> None:
        """Select the current weights for the checkpoint."""
        self.progress.best_error, self.progress.best_epoch = validation_error, epoch
        self.progress.best_state = _on_cpu(self.operator.state_dict())

    def _epoch(self, epoch: int, asked: Interruption) -> list[float | None]:
        learning_rate, train_loss, train_error = self._steps(epoch, asked)
        validation_error = self._mean_error(self.validation)
        if isinstance(self.schedule, ReduceLROnPlateau):
            self.schedule.step(validation_error)
        test_error = None if self.test is None else self._mean_error(self.test)
        error = validation_error if train_error is None else train_error
        if not (error <= DIVERGED_ERROR and math.isfinite(train_loss + validation_error)):
            self.progress.diverged_epoch = epoch
        elif validation_error < self.progress.best_error:
            self._choose(epoch, validation_error)
        row = [epoch, learning_rate, train_loss, train_error, validation_error, test_error]
        self.progress.history.append(row)
        return row

    def _steps(self, epoch: int, asked: Interruption) -> tuple[float, float, float | None]:
        """Run the remaining steps of an epoch; return its last learning rate, mean loss and mean error.

        The error is None if the training reads no labels.
        """
        start, progress = time.perf_counter(), self.progress
        self.operator.train()
        order = np.arange(len(self.train))
        if self.settings.shuffle:
            order = np.random.default_rng([self.loader_seed, epoch]).permutation(len(order))
        if self.settings.fresh_samples:
            order += (epoch - 1) * len(order)
        members = torch.from_numpy(order).split(self.settings.batch_size)[: self.steps_per_epoch]
        shares = [self.group.share(batch) for batch in members]
        batches = self.train.batches(shares[progress.steps :])
        if self.augmentation is not None:
            batches = self.augmentation.applied(batches, epoch, shares[progress.steps :])
        # Sums over this process's shares; the first process adds the sums of an interrupted epoch.
        before = [progress.loss, progress.error] if self.group.first else [0.0, 0.0]
        totals = torch.tensor(before, device=self.device)
        self.losses.zero_()
        learning_rate = self.optimizer.param_groups[0]["lr"]
        for step in range(progress.steps, self.steps_per_epoch):
            if stop := self.group.largest(asked.signal or 0):
                progress.steps = step
                progress.loss, progress.error = map(float, self.group.add_up(totals))
                progress.seconds += time.perf_counter() - start
                self._save()
                raise TrainingError(
                    f"stopped by {Signals(stop).name} in epoch {epoch}, after {step} of "
                    f"{self.steps_per_epoch} steps; the state is saved: run the same command to resume"
                )
            sums = self._gradients(next(batches))
            totals += sums
            self.losses[step] = sums[0]  # read only if the epoch diverges: no step waits for it
            self._clip()
            learning_rate = self.optimizer.param_groups[0]["lr"]
            self.optimizer.step()
            if isinstance(self.schedule, OneCycleLR):
                self.schedule.step()
            alive()
        loss, error = (float(total) / self.steps_per_epoch for total in self.group.add_up(totals))
        progress.steps, progress.loss, progress.error = 0, 0.0, 0.0
        progress.seconds += time.perf_counter() - start
        return learning_rate, loss, error if self.settings.reads_labels else None

    def _clip(self) -> None:
        if bound := self.settings.gradient_clip:
            by_value = self.settings.gradient_clip_by == "value"
            clip = nn.utils.clip_grad_value_ if by_value else nn.utils.clip_grad_norm_
            clip(self.operator.parameters(), bound)

    def _gradients(self, share: Batch) -> Tensor:
        """Compute the gradients of a batch; return this share's part of its loss and mean error, (2,)."""
        while True:
            sums = None
            try:
                with tf32(self.settings.precision == "tf32"):
                    sums = self.passes(share)
            except (RuntimeError, MemoryError) as fault:
                name, refused, _ = str(fault).partition(" does not have a deterministic implementation")
                if refused:  # torch's message recommends to allow it
                    raise TrainingError(
                        f"{name} is not deterministic on {device_name(self.device)}; use another operation "
                        "in the model or loss, or train on a CPU (--resources gpu=0)"
                    ) from fault
                if not is_out_of_memory(fault):
                    raise
            # Outside `except`, since the exception keeps the tensors of the failed step alive.
            unused = self.shared.make_up() and sums is not None
            hindrance = self.group.largest(2 * (sums is None) or unused)
            if sums is not None and not hindrance:  # every process has finished its share
                return sums
            if hindrance == 2:
                self.progress.micro_batch = self._half(self._at_once)
            self.shared.renew(unused=hindrance == 1)

    def _accumulated(self, samples: Batch) -> Tensor:
        """Accumulate the gradients of this share of a batch; return its part of loss and error, (2,)."""
        self.optimizer.zero_grad(set_to_none=True)
        sums = torch.zeros(2, device=self.device)
        parts = samples.split(self.progress.micro_batch)
        for number, part in enumerate(parts, start=1):
            with self.shared.passes(last=number == len(parts)):
                with forward_precision(self.device, self.settings.precision):
                    prediction = self.shared(part.inputs, self.train.coordinates).to(self.dtype)
                share = len(part) / self.settings.batch_size
                loss = share * self.loss(
                    self._in_loss_units(as_samples(prediction)),
                    self._in_loss_units(part.targets),
                    part.gradients,
                    part.coefficients,
                )
                (loss * self.loss_scale).backward()
            error = share * relative_l2(as_samples(prediction.detach()), part.targets, self.weights).mean()
            sums += torch.stack([loss.detach(), error])
        return sums

    @property
    def _at_once(self) -> int:
        """Return how many samples a process computes at once, at most its share of a batch."""
        return min(self.progress.micro_batch, -(-self.settings.batch_size // self.group.size))

    def _half(self, size: int) -> int:
        """Return half of a number of samples that does not fit into memory. Raise `TrainingError` for one."""
        name = device_name(self.device)
        if size == 1:
            raise TrainingError(
                f"out of memory on {name}, even with one sample at once; use a smaller model or resolution, "
                "checkpointing: true if the model has this setting, or a larger device"
            )
        if self.group.first:
            print(f"out of memory: continuing with {size // 2} samples at once on {name}", file=sys.stderr)
        torch.cuda.empty_cache()  # has no effect without a GPU
        return size // 2

    def _in_loss_units(self, functions: Tensor) -> Tensor:
        """Return functions, in the shape of `as_samples`, in the units of the loss."""
        if self.settings.loss_units != "standardised":
            return functions
        assert isinstance(self.operator, NormalisedOperator)
        assert self.operator.output is not None
        return as_samples(self.operator.output.normalise(as_functions(functions, self.target_grid)))

    @torch.no_grad()
    def _mean_error(self, data: InMemory | Streamed) -> float:
        """Return the mean relative L2 error in evaluation mode; batches are distributed over processes."""
        self.operator.eval()
        errors = torch.zeros(len(data), device=self.device)
        members = torch.arange(len(data)).split(self.validation_batch)[self.group.rank :: self.group.size]
        own = errors.split(self.validation_batch)[self.group.rank :: self.group.size]
        for part, batch in zip(own, data.batches(list(members)), strict=True):
            part.copy_(self._errors(batch, data.coordinates))
        return float(self.group.add_up(errors).mean())

    def _errors(self, batch: Batch, coordinates: Tensor) -> Tensor:
        """Return the relative L2 error of each sample; compute fewer at once from when memory runs out."""
        while True:
            errors = []
            try:
                for part in batch.split(self.tested_at_once):
                    prediction = as_samples(self.operator(part.inputs, coordinates))
                    errors.append(relative_l2(prediction, part.targets, self.weights))
                    alive()
                return torch.cat(errors)
            except (RuntimeError, MemoryError) as fault:
                if not is_out_of_memory(fault):
                    raise
            self.tested_at_once = self._half(min(self.tested_at_once, len(batch)))

    def _save(self) -> None:
        random_states = [torch.get_rng_state()]
        if self.device.type == "cuda":
            random_states.append(torch.cuda.get_rng_state())
        state = {
            "identity": self.identity,
            "operator": _on_cpu(self.operator.state_dict()),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "progress": vars(self.progress),
            # A list over ranks of CPU states and, if used, GPU states.
            "random_states": list(zip(*map(self.group.gathered, random_states), strict=True)),
        }
        if self.group.first:
            checkpoints.save(state, self.resume_path)
        self.group.largest(0)  # wait until all processes reach this line

    def _resume(self) -> None:
        if not self.resume_path.exists():
            return
        state = checkpoints.load(self.resume_path)
        if state.get("identity") != self.identity:
            return
        self.operator.load_state_dict(state["operator"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        state["progress"].pop("joules", None)  # saved by version 1.0
        self.progress = Progress(**state["progress"])
        if self.group.rank < len(state["random_states"]):
            cpu, *gpu = state["random_states"][self.group.rank]
            torch.set_rng_state(cpu)
            if gpu and self.device.type == "cuda":
                torch.cuda.set_rng_state(*gpu)

    def measured_cost(self, threads: int) -> dict:
        """Return fields of a `CostRecord`; `threads`, micro-batch and peak memory are of this process."""
        progress, steps = self.progress, len(self.progress.history) * self.steps_per_epoch
        # Papers that select on test samples report the lowest test error of all epochs.
        tested = [(row[-1], row[0]) for row in progress.history if math.isfinite(row[-1] or math.nan)]
        test_error, test_epoch = min(tested, default=(None, None))
        return {
            "status": "finished" if progress.diverged_epoch is None else "diverged",
            "diverged_epoch": progress.diverged_epoch,
            "epochs": len(progress.history),
            "steps": steps,
            "best_epoch": progress.best_epoch,
            "best_validation_relative_l2": progress.best_error if progress.best_epoch else None,
            "best_test_epoch": test_epoch,
            "best_test_relative_l2": test_error,
            "parameters": sum(parameter.numel() for parameter in self.operator.parameters()),
            "train_seconds": progress.seconds,
            "seconds_per_step": progress.seconds / steps,
            "peak_memory_bytes": peak_memory_bytes(self.device),
            "device": device_name(self.device),
            "processes": self.group.size,
            "threads": threads,
            "micro_batch_size": self._at_once,
        }


def computation_of(optimizer: torch.optim.Optimizer, precision: str) -> dict:
    """Return optimiser and arithmetic of a training, for `RunRecord.computation`."""
    constants, group = optimizer.defaults, optimizer.param_groups[0]
    products = torch.get_float32_matmul_precision()
    # torch's 1cycle varies the first beta inversely to the learning rate.
    cycled = [group["base_momentum"], group["max_momentum"]] if "base_momentum" in group else None
    if precision == "float32" and products != "highest":
        precision = f"float32, products {products}"
    return {
        "optimiser": "AdamW" if constants.get("decoupled_weight_decay") else type(optimizer).__name__,
        "betas": list(constants["betas"]),
        "first_beta_cycles": cycled,
        "epsilon": constants["eps"],
        "amsgrad": constants.get("amsgrad", False),
        "drop_last": True,
        "weights": str(group["params"][0].dtype).removeprefix("torch."),
        "products": precision,
    }


@contextmanager
def _shown(directory: Path, epochs: int, done: int) -> Iterator[Callable[[list[float | None]], None]]:
    """Yield a function that shows an epoch's row in TensorBoard, except None, and in a progress bar.

    A run that starts from the beginning removes the events of an earlier run.
    """
    events = directory / "tensorboard"
    if not done:
        remove(events)
    with (
        SummaryWriter(events, purge_step=done + 1) as board,
        progress_bar(epochs, "/".join(directory.parts[-4:]), "epochs", done) as bar,
    ):

        def show(numbers: list[float | None]) -> None:
            row = dict(zip(HISTORY_COLUMNS, numbers, strict=True))
            for name, value in row.items():
                if name != "epoch" and value is not None:
                    board.add_scalar(name, value, row["epoch"])
            loss, validation = row["train_loss"], row["validation_relative_l2"]
            bar.set_postfix(loss=f"{loss:.2e}", validation=f"{validation:.2e}", refresh=False)
            bar.update()

        yield show


def _on_cpu(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().to("cpu", copy=True) for name, value in state.items()}
