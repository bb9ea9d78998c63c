"""The settings of Calvello et al. 2024, field by field: sections 6.1 and 6.2, Table 4 and the public code.

Where several values are named, the text and its tables or the public scripts disagree, and none of them is
known to have made the numbers.
"""

from resolvent.figures.published.recipe import CARD, EVERY_RUN, KEY, UNUSED, AtMost, Condition, Free

JOURNAL, FIRST = "journal", "arXiv v1"
DISTRIBUTION = {JOURNAL: {"sigma": 12.0, "tau": 6.0}, FIRST: {"sigma": 48.0, "tau": 12.0}}  # σ²(-Δ + τ²)^-2
NOT_SAID = Free("the paper does not say")
EQUAL = Free("the text does not say how the layers start; in the public code as copies of one")

RUN: Condition = (
    {},
    {
        "data.accuracy": AtMost(1e-4),
        "training.schedule": "plateau",
        "training.plateau_patience": 2,
        "training.early_stopping": 20,
        "training.peak_fraction": UNUSED,
        "training.initial_division": UNUSED,
        "training.final_division": UNUSED,
        "training.gradient_clip": None,
        "training.loss_units": "standardised",
        "training.normalisation": "scalar",
        "training.record_test_error": Free("the number is not of the best epoch on the test samples"),
        "training.shuffle": Free("the text does not say; the public code does not"),
        "training.selection": Free("the text does not say; the public code tests the last weights"),
        "training.gradient_clip_by": UNUSED,
        "training.noise_samples": UNUSED,
        "computation.first_beta_cycles": None,
        "computation.drop_last": Free("the training samples divide into batches"),
    },
)

# Section 6.1 and Figure 7: trajectories on [0, 2] at steps of 0.01; batches and epochs of the public code.
TRAJECTORIES: Condition = (
    {"data.equation": ("lorenz63", "controlled_ode")},
    {
        "data.final_time": 2.0,
        "data.observations": Free("other times are stored beside"),
        "data.observations.dt0.01.kind": "uniform",
        "data.observations.dt0.01.step": 0.01,
        "training.loss": ("norms", "h1", "h1_unit_spacing"),
        "training.gradient_clip": (None, 10.0),  # the text has none; the public code
        "training.epochs": 100,
        "training.batch_size": 64,
        "training.learning_rate": 1e-3,
        "training.train_samples": 8000,
        "training.validation_samples": NOT_SAID,
        "training.test_samples": 1000,
    },
)
LORENZ: Condition = (
    {"data.equation": "lorenz63"},
    {
        "data.targets": KEY,
        "data.sigma": 10.0,
        "data.rho": 28.0,
        "data.beta": 8 / 3,
        "data.step": CARD,
        "model.in_channels": 3,
        "model.initial_channels": 2,
        "model.initial_values": "first_token",
        "model.out_channels": 2,
    },
)
LORENZ_Y: Condition = (
    {"data.equation": "lorenz63", "data.targets": "y"},
    {"model.in_channels": 1, "model.initial_channels": 0, "model.out_channels": 1},
)
CONTROLLED: Condition = (
    {"data.equation": "controlled_ode"},
    {
        "data.initial_value": 1.0,
        "data.num_terms": 10,
        "data.control_decay": ("inverse", "none"),  # the public code; as printed
        "model.in_channels": 1,
        "model.initial_channels": 0,
        "model.out_channels": 1,
    },
)
# Section 6.2: every operator is trained with the relative H1 loss; ours by name, or the public code's sum.
# The code trains its pointwise networks with L2.
SQUARE: Condition = (
    {"data.equation": ("darcy", "kolmogorov")},
    {
        "model.in_channels": 1,
        "model.out_channels": 1,
        "training.loss": ("h1", "h1_unit_spacing"),
        "training.epochs": 80,
        "training.train_samples": 3600,
        "training.validation_samples": 200,
        "training.test_samples": 200,
    },
)
DARCY: Condition = (
    {"data.equation": "darcy"},
    {
        "data.distribution": KEY,
        "data.distribution.gamma": 2.0,
        "data.distribution.zero_mean": True,
        "data.distribution.orthonormal": UNUSED,
        "data.push_forward": KEY,
        "data.above": UNUSED,
        "data.below": UNUSED,
        "data.finest": NOT_SAID,
        "data.grid": "nodes",
        "data.pressure": NOT_SAID,
        "data.face_mean": NOT_SAID,
        "data.tolerance": AtMost(1e-6),
        "training.learning_rate": 1e-3,
    },
)
LEVEL_SET: Condition = ({"data.push_forward": "level_set"}, {"data.above": 12.0, "data.below": 3.0})
# The rule of Li et al.'s public random fields. The generator behind the numbers is not public.
KOLMOGOROV: Condition = (
    {"data.equation": "kolmogorov"},
    {
        "data.viscosity": 1 / 70,
        "data.forcing_wavenumber": 4,
        "data.spin_up_time": 11.0,
        "data.lead_time": 0.1,
        "data.frames": CARD,
        "data.initial_distribution.sigma": 7**1.5,
        "data.initial_distribution.tau": 7.0,
        "data.initial_distribution.gamma": 2.5,
        "data.initial_distribution.zero_mean": True,
        "data.initial_distribution.orthonormal": False,
        "data.method": CARD,
        "data.num_modes": CARD,
        "data.step": CARD,
        "training.learning_rate": 1e-3,
        "training.train_samples": 9000,
        "training.validation_samples": 500,
        "training.test_samples": 500,
    },
)

# Sections 6.2.2 and 6.2.3, and Table 4 for layers and the width of the feed-forward network. The paper counts
# modes as the package does (12 are -6..5) for FNO, and both signs beside for its own operators.
TRANSFORMERS: Condition = (
    {"architecture": ("tno1d", "tno2d")},
    {
        "model.width": 128,
        "model.num_layers": 6,
        "model.num_heads": 8,
        "model.feedforward_width": 128,
        "model.quadrature": KEY,
        "model.scaled_scores": Free("on in the public code, off in the text"),
        "model.equal_layers": EQUAL,
        "model.layer_norm_epsilon": 1e-5,
        "model.residual_dropout": 1e-4,
        "model.attention_dropout": (0.0, 0.1),  # the text; the public code, whatever is configured
        "model.checkpointing": Free("the numbers are the same"),
    },
)
TNO_2D: Condition = (
    {"architecture": "tno2d"},
    {
        "model.quadrature": Free("the public code has none, the text the trapezoidal rule"),
        "training.loss": ("h1", "h1_unit_spacing", "norms"),
        "training.gradient_clip": (None, 10.0),  # the text has none; the public code
        "training.batch_size": 2,
        "training.learning_rate": 1e-3,
    },
)
PATCHED: Condition = (
    {"architecture": ("vit_no", "fano")},
    {
        "model.patches": 13,
        "model.equal_layers": EQUAL,
        "model.width": 128,
        "model.num_layers": 6,
        "model.num_heads": 8,
        "model.feedforward_width": 128,
        "model.periodic_extension": False,
        "model.dropout": 1e-4,
        "model.smoother": "learned",
        "model.smoother_modes": 64,
        "model.smoother_epsilon": UNUSED,
        "model.smoother_exponent": UNUSED,
        "model.smoother_boundary": UNUSED,
        "model.checkpointing": Free("the numbers are the same"),
        "training.batch_size": 1,
        "training.learning_rate": 1e-3,
    },
)
FNO: Condition = (
    {"architecture": "neuraloperator2d"},
    {
        "model.model": "FNO",
        "model.width": 128,
        "model.modes": 12,
        "model.num_layers": 4,
        "model.options": {},
        "training.loss": ("h1", "h1_unit_spacing", "norms"),
        "training.batch_size": 8,
        "training.learning_rate": 1e-4,
    },
)
AFNO: Condition = (
    {"architecture": "afno"},
    {
        "model.points": Free("those of the grid"),
        "model.width": 128,
        "model.num_layers": 4,
        "model.num_blocks": (8, 16),  # Table 5; Table 4
        "model.feedforward_width": 512,
        "training.batch_size": 1,
        "training.learning_rate": 1e-2,
    },
)
GALERKIN: Condition = (
    {"architecture": "galerkin_encoder2d"},
    {
        "model.attention": KEY,
        "model.layer_norm": NOT_SAID,
        "model.layer_norm_epsilon": NOT_SAID,
        "model.width": 128,
        "model.num_layers": 6,
        "model.num_heads": 4,
        "model.feedforward_width": 128,
        "model.projection_gain": NOT_SAID,
        "model.projection_diagonal": NOT_SAID,
        "model.residual_dropout": NOT_SAID,
        "model.feedforward_dropout": NOT_SAID,
        "model.attention_dropout": NOT_SAID,
        "model.attention_dropout_in_evaluation": NOT_SAID,
        "model.public_code_scaling": True,
        "model.equal_layers": NOT_SAID,
        "model.attention_layer_scale": None,
        "model.contraction": Free("the numbers are the same"),
        "training.batch_size": 2,
        "training.learning_rate": 1e-2,
    },
)
NETWORKS: tuple[Condition, ...] = (
    TRANSFORMERS,
    TNO_2D,
    PATCHED,
    ({"architecture": "vit_no"}, {"model.modes": 12}),
    ({"architecture": "fano"}, {"model.modes": 9}),
    FNO,
    AFNO,
    GALERKIN,
)
FLOW: tuple[Condition, ...] = (
    ({"data.equation": "darcy", "resolution": 64}, {"training.epochs": 100}),
    (
        {"data.push_forward": "lognormal", "resolution": 416, "architecture": "afno"},
        {"training.learning_rate": 1e-3},
    ),
    ({"data.equation": "kolmogorov", "architecture": ("vit_no", "fano")}, {"training.batch_size": 2}),
    (
        {"data.equation": "kolmogorov", "architecture": "neuraloperator2d"},
        {"training.batch_size": 4, "training.learning_rate": 1e-3},
    ),
    ({"data.equation": "kolmogorov", "architecture": "afno"}, {"training.learning_rate": 1e-3}),
)
SETTING: tuple[Condition, ...] = (
    EVERY_RUN, RUN, TRAJECTORIES, LORENZ, LORENZ_Y, CONTROLLED, SQUARE, DARCY, LEVEL_SET, KOLMOGOROV,
    *NETWORKS, *FLOW,
)  # fmt: skip


def of_version(version: str, points: int) -> tuple[Condition, ...]:
    """Return what the tables of a version have: the grid, and the distribution of coefficients."""
    distribution = {f"data.distribution.{name}": value for name, value in DISTRIBUTION[version].items()}
    return ({}, {"resolution": points}), ({"data.equation": "darcy"}, distribution)
