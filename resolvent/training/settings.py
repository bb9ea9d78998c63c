"""What the configuration may say about training. No torch here."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from resolvent.common.settings import Seed, Settings


class TrainingSettings(Settings):
    """Adam; the defaults are Cao 2021, section C.1, for Example 5.1."""

    epochs: int = Field(100, ge=1, description="passes over the training samples")
    batch_size: int = Field(8, ge=1, description="samples per step; an incomplete last batch is dropped")
    schedule: Literal["1cycle", "plateau"] = Field(
        "1cycle",
        description="1cycle: up and down in cosines, a step at a time; plateau: halved after an epoch when "
        "the validation error has not fallen for plateau_patience epochs",
    )
    learning_rate: float = Field(1e-3, gt=0, description="peak of the 1cycle schedule; first of plateau")
    peak_fraction: float = Field(
        0.3,
        gt=0,
        lt=1,
        description="share of the steps before the peak (paper: epoch 30 of 100; its code: 0.2)",
    )
    initial_division: float = Field(1e4, ge=1, description="peak divided by the first learning rate")
    final_division: float = Field(
        1.0, ge=1, description="first learning rate divided by the last (paper: 1; its code: 1e4)"
    )
    plateau_patience: int = Field(2, ge=0, description="epochs without a lower validation error (plateau)")
    early_stopping: int | None = Field(
        None, ge=1, description="stop after as many epochs without a lower validation error; none: never"
    )
    weight_decay: float = Field(0.0, ge=0, description="Adam's L2 penalty")
    gradient_clip: float | None = Field(
        1.0, gt=0, description="bound of the global gradient norm (paper: 1; code: 0.999); null: none"
    )
    gradient_weight: float = Field(
        0.1,
        ge=0,
        description="γ of the H1-seminorm regulariser, whose weight is γ h with the spacing h; 0: none",
    )
    gradient_coefficient: Literal["one", "input"] = Field(
        "one",
        description="factor of the gradient in the regulariser; input: a∇u, for a coefficient a (Darcy)",
    )
    loss: Literal["norms", "squared_norms", "h1", "h1_unit_spacing"] = Field(
        "norms",
        description="mean of relative norms (the public code of Cao 2021, and what the paper's curves show), "
        "or of their squares (the paper's eq. 2); or relative H1: the norm itself, or, as in the public code "
        "of Calvello et al. 2024, with differences of neighbours for derivatives",
    )
    loss_units: Literal["physical", "standardised"] = Field(
        "physical",
        description="of prediction and target in the loss; standardised, as normalisation has them, as in "
        "the public code of Calvello et al. 2024",
    )
    precision: Literal["float32", "bfloat16"] = Field(
        "float32",
        description="of matrix products in a training step; Fourier transforms and weights stay in float32",
    )
    record_test_error: bool = Field(
        False,
        description="also measure the test error after every epoch, to report the paper's number, the best "
        "epoch on the test samples; it never chooses the checkpoint",
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
