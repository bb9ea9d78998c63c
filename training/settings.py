"""What the configuration may say about training, and about what is measured without it. No torch here."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from datasets.common_settings import Seed, Settings


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
        "Calvello et al. 2024",
    )
    precision: Literal["float32", "bfloat16"] = Field(
        "float32",
        description="of matrix products in a training step; Fourier transforms and weights stay in float32",
    )
    record_test_error: bool = Field(
        False,
        description="also measure the test error after every epoch, to tell the paper's number, the best "
        "epoch on the test samples; it never chooses the checkpoint",
    )
    noise: float = Field(
        0.0,
        ge=0,
        description="ε of the noise on the inputs, in units of the training inputs' pointwise deviation: one "
        "draw a sample, the same in every epoch; for equation darcy_inverse",
    )
    loader_seed: Seed | None = Field(
        None,
        description="seed of the order of the training samples; none: the run's seed. With a number, runs "
        "that differ in their seed see the samples in the same order (Cao 2021, Figure 8a)",
    )
    normalisation: Literal["none", "pointwise", "scalar"] = Field(
        "none",
        description="input and target are standardised by the training samples' mean and deviation: at every "
        "point, or one of each for a channel",
    )
    boundary: Literal["free", "zero"] = Field(
        "free", description="zero: the prediction is overwritten by zero on the boundary"
    )


class TheorySettings(Settings):
    """Sizes at which theory is measured: of Cao 2021 and, from `continuum_points`, of Calvello et al. 2024.

    No dataset and no training is needed.
    """

    projection_points: list[Annotated[int, Field(ge=32)]] = Field(
        [64, 128, 256, 512, 1024], min_length=1, description="grids of the projections (float64)"
    )
    convergence_points: list[Annotated[int, Field(ge=16, multiple_of=16)]] = Field(
        [16, 32, 64, 128, 256, 512, 1024],
        min_length=2,
        description="grids of the convergence to the integral operator (float64)",
    )
    cost_points: list[Annotated[int, Field(ge=1)]] = Field(
        [256, 512, 1024, 2048, 4096, 8192], min_length=2, description="grids of the timings (float32)"
    )
    cost_features: int = Field(97, ge=1, description="features of the head timed (Example 1: 96 and x)")
    cost_repetitions: int = Field(
        7, ge=1, description="timings of each attention and size; the median counts"
    )
    continuum_points: list[Annotated[int, Field(ge=2)]] = Field(
        [16, 64, 256, 1024, 4096],
        min_length=2,
        description="random points of attention and cross-attention (float64, as all that follows)",
    )
    continuum_draws: int = Field(100, ge=1, description="draws of random points, wherever there are any")
    quadrature_intervals: list[Annotated[int, Field(ge=4, multiple_of=4)]] = Field(
        [16, 32, 64, 128, 256, 512, 1024],
        min_length=2,
        description="intervals between the nodes of the quadratures; the two-rate nodes have 3/4 as many",
    )
    average_sides: list[Annotated[int, Field(ge=2)]] = Field(
        [4, 6, 8, 12, 16, 24],
        min_length=2,
        description="points a side of the layer of universal approximation; on a line their squares",
    )
    invariance_points_1d: list[Annotated[int, Field(ge=16, multiple_of=2)]] = Field(
        [32, 64, 128, 256],
        min_length=2,
        description="grids that are compared with twice as fine ones, in one dimension",
    )
    invariance_points_2d: list[Annotated[int, Field(ge=16, multiple_of=2)]] = Field(
        [16, 32, 64],
        min_length=2,
        description="the same in two, a side; half as many where all points attend to all",
    )
    seed: Seed = Field(1127802, description="seed of all that is random: bases, weights, nodes")


class CostSettings(Settings):
    """Sizes at which a step of training is measured, as in Table 1 of Cao 2021; no dataset is needed."""

    points: int = Field(2048, ge=32, description="grid points (paper: 8192)")
    batch_size: int = Field(4, ge=1, description="samples of a step")
    rounds: int = Field(3, ge=1, description="timings, of which the median counts")


class ArchitectureCostSettings(Settings):
    """Sizes at which parameters and operations are counted, for Tables 2, 4 and 5 of Calvello et al. 2024.

    Counting computes nothing, so these are the paper's sizes by default; forward passes are timed only up to
    a number of operations.
    """

    points: list[Annotated[int, Field(ge=2)]] = Field(
        [64, 312, 416],
        min_length=2,
        description="points along each side of the grids; the patched operators take the multiples of "
        "patches that carry smoother_modes, of which there must be two",
    )
    widths: list[Annotated[int, Field(ge=8, multiple_of=8)]] = Field(
        [32, 64, 96, 128], min_length=2, description="channels; also of the feed-forward networks"
    )
    modes: int = Field(12, ge=1, description="Fourier modes of FNO, as the package counts, and of ViT-NO")
    fano_modes: int = Field(9, ge=1, description="Fourier modes of FANO")
    patches: int = Field(13, ge=1, description="patches along each side")
    smoother_modes: int = Field(64, ge=1, description="Fourier modes of the learned smoother")
    timed_flop: float = Field(
        1e10, ge=0, description="most counted operations of a forward pass that is also timed"
    )
    rounds: int = Field(3, ge=1, description="timings, of which the median counts")

    @property
    def patched_points(self) -> list[int]:
        """The grids that patched operators take."""
        return [n for n in self.points if n % self.patches == 0 and n >= 2 * self.smoother_modes]

    @model_validator(mode="after")
    def _growth_can_be_told(self) -> ArchitectureCostSettings:
        if len(set(self.patched_points)) < 2 or len(set(self.widths)) < 2:
            raise ValueError(
                f"growth needs two widths and two grids for patched operators; of {self.points} points "
                f"{self.patched_points} are multiples of {self.patches} patches and carry "
                f"{self.smoother_modes} modes"
            )
        if min(self.points) < self.modes:
            raise ValueError(f"{self.modes} modes need as many points; got {min(self.points)}")
        return self
