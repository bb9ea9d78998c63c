"""What the configuration may say about training. No torch here."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from resolvent.common.outside import check_location
from resolvent.common.settings import Seed, Settings

LOSSES = ("norms", "squared_norms", "h1", "h1_unit_spacing")


def _loss(value: str) -> str:
    if ":" in value:
        return check_location(value)
    if value not in LOSSES:
        accepted = ", ".join(map(repr, LOSSES))
        raise ValueError(f"input should be {accepted}, or module:function of your own, got {value!r}")
    return value


class TrainingSettings(Settings):
    """Adam; the defaults are Cao 2021, section C.1, for Example 5.1."""

    train_samples: int | None = Field(
        None,
        ge=1,
        description="training samples used at most, the first of the experiment's; none: all of them",
    )
    epochs: int = Field(100, ge=1, le=1_000_000, description="passes over the training samples")
    batch_size: int = Field(8, ge=1, description="samples per step; an incomplete last batch is dropped")
    schedule: Literal["1cycle", "plateau"] = Field(
        "1cycle",
        description="1cycle: up and down in cosines, a step at a time; plateau: halved after an epoch when "
        "the validation error has not fallen for plateau_patience epochs",
    )
    learning_rate: float = Field(
        1e-3, ge=1e-12, le=1e9, description="peak of the 1cycle schedule; first of plateau"
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
    plateau_patience: int = Field(2, ge=0, description="epochs without a lower validation error (plateau)")
    early_stopping: int | None = Field(
        None, ge=1, description="stop after as many epochs without a lower validation error; none: never"
    )
    weight_decay: float = Field(0.0, ge=0, le=1e3, description="Adam's L2 penalty")
    gradient_clip: float | None = Field(
        1.0, ge=1e-9, le=1e12, description="bound of the gradient (Cao 2021: 1; its code: 0.999); null: none"
    )
    gradient_clip_by: Literal["norm", "value"] = Field(
        "norm",
        description="what gradient_clip bounds: the global norm, or the size of every component, as in the "
        "public code of Calvello et al. 2024",
    )
    gradient_weight: float = Field(
        0.1,
        ge=0,
        description="γ of the H1-seminorm regulariser, whose weight is γ h with the spacing h; 0: none",
    )
    target_gradient: Literal["grid", "public_code"] = Field(
        "grid",
        description="the target's derivative in the regulariser: grid, that of the grid, spectral on a "
        "periodic one and one-sided on a boundary; or, as in the public code of Cao 2021, by central "
        "differences on the finest stored grid, zero outside of the square, and on a periodic interval at "
        "all points but the first and the last, relative to the norm over all",
    )
    gradient_coefficient: Literal["one", "input"] = Field(
        "one",
        description="factor of the gradient in the regulariser; input: a∇u, for a coefficient a (Darcy)",
    )
    loss: Annotated[str, AfterValidator(_loss)] = Field(
        "norms",
        description="norms: mean of relative norms (the public code of Cao 2021, and what the paper's curves "
        "show); squared_norms: of their squares (the paper's eq. 2); h1: relative H1, the norm itself; "
        "h1_unit_spacing: as in the public code of Calvello et al. 2024, with differences of neighbours for "
        "derivatives; or module:function of your own (see tutorials/own-metric.md)",
    )
    batch_reduction: Literal["mean", "sum"] = Field(
        "mean",
        description="of the samples' losses in a batch; sum, as in the public code of Li et al. 2021, is "
        "felt beside weight_decay and gradient_clip (histories have the mean)",
    )
    loss_units: Literal["physical", "standardised"] = Field(
        "physical",
        description="of prediction and target in the loss; standardised, as normalisation has them, as in "
        "the public code of Calvello et al. 2024",
    )
    precision: Literal["float32", "tf32", "bfloat16"] = Field(
        "float32",
        description="of matrix products and convolutions in a training step; with bfloat16, Fourier "
        "transforms stay in float32, as weights always do. tf32: an NVIDIA GPU rounds operands to 10 bits; a "
        "CPU does not. Errors of each: performance.md",
    )
    record_test_error: bool = Field(
        False,
        description="also measure the test error after every epoch, to report the paper's number, the best "
        "epoch on the test samples: on the first of them, as many as there are validation samples; it never "
        "chooses the checkpoint",
    )
    selection: Literal["best", "last"] = Field(
        "best",
        description="the epoch of the checkpoint: that of the lowest validation error, or the last one, as "
        "in the public code of Calvello et al. 2024",
    )
    shuffle: bool = Field(
        True,
        description="draw a new order of the training samples for every epoch; false, as in the public code "
        "of Calvello et al. 2024: always the stored one",
    )
    fresh_samples: bool = Field(
        False,
        description="draw and solve new training samples for every epoch, while the network trains on those "
        "before them; as many as `samples.train`. Normalisers are fitted to the stored ones",
    )
    loader_seed: Seed | None = Field(
        None,
        description="seed of the order of the training samples; none: the run's seed. With a number, runs "
        "that differ in their seed see the samples in the same order (Cao 2021, Figure 8a)",
    )
    normalisation: Literal["none", "pointwise", "scalar"] = Field(
        "none",
        description="input and target are standardised by the mean and standard deviation of the training "
        "samples: at every point, or one of each for a channel",
    )
    boundary: Literal["free", "zero"] = Field(
        "free", description="zero: the prediction is overwritten by zero on the boundary"
    )
