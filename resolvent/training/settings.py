"""Settings of training in the configuration. Does not import torch, so that planning is fast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from resolvent.common.outside import check_location
from resolvent.common.settings import Seed, Settings

LOSSES = ("norms", "squared_norms", "h1", "h1_unit_spacing", "energy")


def _loss(value: str) -> str:
    if ":" in value:
        return check_location(value)
    if value not in LOSSES:
        accepted = ", ".join(map(repr, LOSSES))
        raise ValueError(f"input should be {accepted}, or module:function of your own, got {value!r}")
    return value


class TrainingSettings(Settings):
    """Settings of a training; the defaults are Cao 2021, section C.1, for Example 5.1."""

    train_samples: int | None = Field(
        None,
        ge=1,
        description="largest number of training samples, from the first of the experiment; none: all",
    )
    epochs: int = Field(100, ge=1, le=1_000_000, description="passes over the training samples")
    batch_size: int = Field(8, ge=1, description="samples per step; an incomplete last batch is dropped")
    schedule: Literal["1cycle", "plateau"] = Field(
        "1cycle",
        description="learning rate schedule. 1cycle: rises and falls as a cosine, every step; plateau: "
        "halved after more than plateau_patience epochs in a row without a validation error at least 0.01 % "
        "below the lowest before",
    )
    learning_rate: float = Field(
        1e-3, ge=1e-12, le=1e9, description="peak of the 1cycle schedule; initial learning rate of plateau"
    )
    peak_fraction: float = Field(
        0.3,
        gt=0,
        lt=1,
        description="share of the steps before the peak (paper: epoch 30 of 100; its code: 0.3, and since "
        "October 2021 0.2)",
    )
    initial_division: float = Field(1e4, ge=1, le=1e12, description="peak divided by the first learning rate")
    final_division: float = Field(
        1.0, ge=1, le=1e12, description="first learning rate divided by the last (paper: 1; its code: 1e4)"
    )
    plateau_patience: int = Field(
        2, ge=0, description="epochs without a lower validation error that do not yet halve the learning rate"
    )
    early_stopping: int | None = Field(
        None, ge=1, description="stop after as many epochs without a lower validation error; none: never"
    )
    optimiser: Literal["adam", "adam_torch_1_8"] = Field(
        "adam",
        description="adam; or adam_torch_1_8, for comparison with numbers of 2021: until version 1.9 torch "
        "squared gradients of complex weights without the conjugate, and FNO trains worse so "
        "(see why-they-differ.md)",
    )
    weight_decay: float = Field(0.0, ge=0, le=1e3, description="Adam's L2 penalty")
    gradient_clip: float | None = Field(
        1.0,
        ge=1e-9,
        le=1e12,
        description="gradient clipping threshold (Cao 2021: 1; its code: 0.999); null: no clipping",
    )
    gradient_clip_by: Literal["norm", "value"] = Field(
        "norm",
        description="clip the global norm, or the value of every component as in the public code of Calvello "
        "et al. 2024",
    )
    gradient_weight: float = Field(
        0.1,
        ge=0,
        description="γ of the H1-seminorm regulariser, whose weight is γ h with the spacing h; 0: none",
    )
    target_gradient: Literal["grid", "public_code"] = Field(
        "grid",
        description="derivative of the target in the regulariser. grid: spectral on periodic grids, "
        "otherwise differences, one-sided on a boundary. public_code, as in the code of Cao 2021: central "
        "differences on the finest stored grid, with zero outside the square; on a periodic interval at all "
        "points except the first and last, relative to the norm over all points",
    )
    gradient_coefficient: Literal["one", "input"] = Field(
        "one",
        description="factor of the gradient in the regulariser; input: a∇u, for a coefficient a (Darcy)",
    )
    loss: Annotated[str, AfterValidator(_loss)] = Field(
        "norms",
        description="norms: mean of relative L2 norms (public code and curves of Cao 2021); squared_norms: "
        "mean of their squares (eq. 2 of the paper); h1: mean of relative H1 norms; h1_unit_spacing: as in "
        "the public code of Calvello et al. 2024, with differences of neighbours as derivatives; energy: of "
        "Darcy flow, which the solution minimises, without labels (see equations/darcy.md); or your own "
        "module:function (see tutorials/own-metric.md)",
    )
    batch_reduction: Literal["mean", "sum"] = Field(
        "mean",
        description="reduction of the losses of a batch; sum, as in the public code of Li et al. 2021, "
        "changes the effect of weight_decay and gradient_clip (histories always have the mean)",
    )
    loss_units: Literal["physical", "standardised"] = Field(
        "physical",
        description="units of prediction and target in the loss; standardised by normalisation as in the "
        "public code of Calvello et al. 2024",
    )
    precision: Literal["float32", "tf32", "bfloat16"] = Field(
        "float32",
        description="precision of matrix products and convolutions in a training step. bfloat16: mixed "
        "precision (bf16); Fourier transforms and weights stay in float32. tf32: an NVIDIA GPU rounds "
        "operands to 10 bits; no effect on a CPU. Errors of each: performance.md",
    )
    record_test_error: bool = Field(
        False,
        description="also measure the test error after every epoch, for papers that report its lowest value. "
        "Uses the first test samples, as many as there are validation samples; never selects the checkpoint",
    )
    selection: Literal["best", "last"] = Field(
        "best",
        description="epoch of the checkpoint: the epoch with the lowest validation error, or the last epoch "
        "as in the public code of Calvello et al. 2024",
    )
    shuffle: bool = Field(
        True,
        description="shuffle the training samples in every epoch; false, as in the public code of Calvello "
        "et al. 2024: always the stored order",
    )
    fresh_samples: bool = Field(
        False,
        description="draw and solve `samples.train` new training samples for every epoch, in parallel with "
        "the training; for the loss energy only drawn. Normalisers are fitted to the stored samples",
    )
    augment: Literal["none", "symmetries"] = Field(
        "none",
        description="symmetries: in every epoch, map each training sample by a random symmetry of its "
        "equation, or leave it as it is (see use.md)",
    )
    loader_seed: Seed | None = Field(
        None,
        description="seed of the order of the training samples; none: the run's seed. With a fixed value, "
        "runs with different seeds see the samples in the same order (Cao 2021, Figure 8a)",
    )
    normalisation: Literal["none", "pointwise", "scalar"] = Field(
        "none",
        description="standardise input and target by mean and standard deviation of the training samples: "
        "pointwise (at every grid point) or scalar (one of each per channel)",
    )
    boundary: Literal["free", "zero"] = Field(
        "free", description="zero: set the prediction to zero on the boundary"
    )

    @property
    def reads_labels(self) -> bool:
        """Return whether the training reads the targets of the training samples."""
        return self.loss != "energy"

    def contradictions(self) -> Iterator[str]:
        """Yield a line for settings that exclude each other; checked once those of all levels are merged."""
        weight = self.gradient_weight
        if weight and (self.loss.startswith(("h1", "energy")) or ":" in self.loss):
            why = "is the whole loss" if ":" in self.loss else "contains the gradient"
            yield f"loss {self.loss} {why}; accepted gradient_weight: 0, got {weight}"
        if self.fresh_samples and self.target_gradient != "grid":
            got = f"got {self.target_gradient!r} for target_gradient"
            yield f"fresh_samples have the gradient of their own grid; {got}; accepted: 'grid'"
        if self.loss_units == "standardised" and not self.reads_labels:
            yield f"loss {self.loss} is in physical units; accepted loss_units: 'physical'"
        elif self.loss_units == "standardised" and self.normalisation == "none":
            yield "loss_units standardised need a normalisation; accepted: pointwise, scalar"
        elif self.loss_units == "standardised" and weight:
            why = "gradients of targets are in physical units"
            yield f"loss_units standardised: {why}; accepted gradient_weight: 0, got {weight}"
