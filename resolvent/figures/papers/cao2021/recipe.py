"""The settings of Cao 2021, field by field: what its text says, and what its public code does.

Sources: the text, sections 5 and C, Tables 5 to 8; the code (scaomath/galerkin-transformer) with the
author's command lines, and for FNO the code of Li et al. 2021, with which the paper trained it. Where several
values are named, the text and its tables, or two states of the code, disagree, or the text leaves it open.
"""

import math

from resolvent.figures.published.recipe import CARD, EVERY_RUN, KEY, UNUSED, AtLeast, AtMost, Condition, Free

# What holds for every run of the paper.
RUN: Condition = (
    {},
    {
        "model.in_channels": 1,
        "model.out_channels": 1,
        "training.epochs": 100,
        "training.schedule": "1cycle",
        "training.learning_rate": 1e-3,
        "training.initial_division": 1e4,
        "training.plateau_patience": UNUSED,
        "training.early_stopping": None,
        "training.loss": "norms",
        "training.loss_units": "physical",
        "training.record_test_error": True,  # the paper reports the best epoch on the test samples
        "training.shuffle": True,
        "training.gradient_clip_by": "norm",
        "training.selection": "best",  # on validation samples; the paper's on its test samples
        "training.normalisation": "none",
        "training.noise_samples": Free("the unit of the noise, from the training samples"),
        "training.train_samples": 1024,
        "training.validation_samples": 100,  # as many test samples choose the epoch of the paper's protocol
        "training.test_samples": AtLeast(100),  # ours are free; the interval knows both numbers
        "computation.first_beta_cycles": [0.85, 0.95],  # torch's 1cycle, which the public code calls
        "computation.drop_last": True,
    },
)

# The public file behind the numbers: modes 1 to 20 of u0 ~ N(0, 25² (-Δ + 25 I)^-2), ν = 0.1/(2π), observed
# at t = 1/(2π), every k-th of 8192 values. Section C.2 prints t = 1 and no cut, which is another operator.
BURGERS: Condition = (
    {"data.equation": "burgers"},
    {
        "data.viscosity": 0.1 / (2 * math.pi),
        "data.final_time": 1 / (2 * math.pi),
        "data.initial_distribution.sigma": 25.0,
        "data.initial_distribution.tau": 5.0,
        "data.initial_distribution.gamma": 2.0,
        "data.initial_distribution.zero_mean": True,
        "data.initial_distribution.num_modes": 20,
        "data.initial_distribution.orthonormal": UNUSED,
        "data.finest": 8192,
        "data.restriction": "stride",
        "data.method": CARD,
        "data.num_modes": CARD,
        "data.num_steps": CARD,
        "data.accuracy": AtMost(1e-5),
    },
)
# Section C.3: a = 12 or 3 by the sign of a draw from N(0, (-Δ + 9 I)^-2), on 421 x 421 nodes.
DARCY: Condition = (
    {"data.equation": ("darcy", "darcy_inverse")},
    {
        "data.distribution.sigma": Free("the sign of the field does not depend on its amplitude"),
        "data.distribution.tau": 3.0,
        "data.distribution.gamma": 2.0,
        "data.distribution.zero_mean": True,
        "data.distribution.orthonormal": UNUSED,
        "data.push_forward": "level_set",
        "data.above": 12.0,
        "data.below": 3.0,
        "data.finest": 421,
        "data.face_mean": "arithmetic",
        "data.tolerance": AtMost(1e-6),
        "data.accuracy": AtMost(1e-6),
        "data.coarse": Free("the one of the training resolution is compared as coarse points"),
        "training.normalisation": "pointwise",
        "training.batch_size": 4,
    },
)

FORWARD: Condition = ({"data.equation": "darcy"}, {"data.grid": "nodes", "data.pressure": "restricted"})

# The public files themselves: what their check remarks on is a difference of its own.
IMPORTED: Condition = (
    {"data.imported": True},
    dict.fromkeys(
        ("data.imported", "data.source", "data.sha256", "data.accuracy", "data.tolerance"),
        Free("the card has what a check of the files found"),
    )
    | dict.fromkeys(
        ("data.input", "data.target", "data.axes", "data.input_times", "data.target_times"),
        Free("where the functions are in the files"),
    )
    | {"data.method": UNUSED, "data.num_modes": UNUSED, "data.num_steps": UNUSED, "data.length": 1.0},
)

# The encoder in every example (Table 5, eq. 17).
ENCODER: Condition = (
    {"architecture": ("transformer1d", "transformer2d", "transformer2d_coarse")},
    {
        "model.attention": KEY,
        "model.layer_norm": KEY,
        "model.projection_gain": 1e-2,
        "model.projection_diagonal": 1e-2,
        "model.residual_dropout": 0.0,
        "model.feedforward_dropout": 0.0,
        "model.attention_dropout": 0.0,
        "model.attention_dropout_in_evaluation": False,
        "model.public_code_scaling": False,
        "model.attention_layer_scale": None,
        "model.equal_layers": Free("the text does not say how the layers start"),
        "model.contraction": Free("the order of the products; the numbers are the same"),
    },
)
TRANSFORMER_1D: Condition = (
    {"architecture": "transformer1d"},
    {
        "model.layer_norm_epsilon": 1e-5,
        "model.width": 96,
        "model.num_layers": 4,
        "model.num_heads": 1,
        "model.feedforward_width": 192,
        "model.decoder_width": 48,
        "model.decoder_layers": 2,
        "model.modes": 16,
        "model.coordinates": "grid",
        "model.input_coordinates": False,
        "training.batch_size": 8,
        "training.gradient_weight": 0.1,
        "training.gradient_coefficient": "one",
    },
)
COARSE: Condition = (
    {"architecture": ("transformer2d", "transformer2d_coarse")},
    {
        "model.layer_norm_epsilon": 1e-7,
        "model.num_layers": 6,
        "model.num_heads": 4,
        "model.downsampling_dropout": 0.05,
        "model.upsampling_dropout": 0.0,
        "model.hidden_dropout": 0.0,
    },
)
TRANSFORMER_2D: Condition = (
    {"architecture": "transformer2d"},
    {
        "model.width": 128,
        "model.feedforward_width": 256,
        "model.downsampling_activation": "relu",
        "model.decoder_width": 32,
        "model.decoder_layers": 2,
        "model.modes": 12,
        "model.projection_width": 128,
        "training.gradient_weight": 0.5,
        "training.gradient_coefficient": "input",
        "training.boundary": "zero",
    },
)
TRANSFORMER_2D_COARSE: Condition = (
    {"architecture": "transformer2d_coarse"},
    {
        "model.width": 192,
        "model.feedforward_width": 384,
        "model.downsampling_activation": "silu",
        "model.decoder_width": 192,
        "model.decoder_layers": 1,
        "model.decoder_dropout": 0.05,
        "model.hidden_dropout": 0.05,
        "model.upsampling_dropout": 0.05,
    },
)
FNO: tuple[Condition, ...] = (
    (
        {"architecture": ("fno1d", "fno2d")},
        {"model.num_layers": 4, "model.projection_width": 128},
    ),
    ({"architecture": "fno1d"}, {"model.width": 64, "model.modes": 16, "training.batch_size": 8}),
    ({"architecture": "fno2d"}, {"model.width": 32, "model.modes": 12}),
)
HALF_RATE: Condition = (
    {
        "architecture": ("transformer2d", "transformer2d_coarse"),
        "model.attention": ("fourier", "softmax"),
    },
    {"training.learning_rate": 5e-4},
)
GRIDS: tuple[Condition, ...] = (
    ({"data.equation": "burgers", "resolution": 8192}, {"training.batch_size": 4}),
    (
        {"architecture": "transformer2d", "resolution": 141},
        {"coarse_points": 43, "model.downsampling_factor": 0.555},
    ),
    (
        {"architecture": "transformer2d", "resolution": 211},
        {"coarse_points": 61, "model.downsampling_factor": 0.54},
    ),
    (
        {"architecture": "transformer2d", "resolution": 211, "model.attention": "galerkin"},
        {"model.layer_norm_epsilon": (1e-5, 1e-7)},  # the code; the text does not say
    ),
    ({"data.equation": "darcy_inverse"}, {"grids": KEY}),
    ({"data.equation": "darcy_inverse", "resolution": 141}, {"coarse_points": 36}),
    ({"data.equation": "darcy_inverse", "resolution": 211}, {"coarse_points": 71}),
    (
        {"architecture": "transformer2d_coarse", "resolution": 141},
        {"model.downsampling_factor": 0.51},
    ),
    (
        {"architecture": "transformer2d_coarse", "resolution": 211},
        {"model.downsampling_factor": 0.585},
    ),
)
SETTING: tuple[Condition, ...] = (
    EVERY_RUN, RUN, BURGERS, DARCY, FORWARD, IMPORTED, ENCODER, TRANSFORMER_1D, COARSE, TRANSFORMER_2D,
    TRANSFORMER_2D_COARSE, *FNO, HALF_RATE, *GRIDS,
)  # fmt: skip

# Dropout in the feed-forward network: Table 7; softmax and linear, not in it, as fourier and galerkin.
FEEDFORWARD: tuple[Condition, ...] = (
    (
        {"architecture": "transformer1d", "model.attention": ("fourier", "softmax")},
        {"model.feedforward_dropout": 0.05},
    ),
    (
        {
            "architecture": "transformer1d",
            "model.attention": ("galerkin", "linear"),
            "model.layer_norm": "regular",
        },
        {"model.feedforward_dropout": (0.1, 0.05)},  # Table 7; section C.2
    ),
    (
        {"architecture": "transformer2d", "model.attention": ("fourier", "softmax")},
        {"model.feedforward_dropout": 0.1},
    ),
    (
        {"architecture": "transformer2d", "model.attention": ("galerkin", "linear")},
        {"model.feedforward_dropout": 0.05},
    ),
    ({"architecture": "transformer2d_coarse"}, {"model.feedforward_dropout": 0.05}),
)
# Section C.1, and Table 7, whose rates for "attention" are of the attention matrix in the text; on the square
# the public code's place, the residual branches, is accepted too, for that matrix would be points x points.
PAPER: tuple[Condition, ...] = (
    *FEEDFORWARD,
    (
        {},
        {
            "training.peak_fraction": 0.3,
            "training.final_division": 1.0,
            "training.gradient_clip": (1.0, 0.999),  # "a simple gradient clip of 1"
            "model.coordinates": Free("the text does not say where the periodic grid ends"),
        },
    ),
    (
        {"architecture": ("transformer1d", "transformer2d", "transformer2d_coarse")},
        {"training.loss": ("norms", "squared_norms")},  # Figure 8; eq. 2
    ),
    (
        {"architecture": ("transformer1d", "transformer2d")},
        {"training.target_gradient": ("grid", "public_code")},
    ),
    (
        {
            "architecture": "transformer1d",
            "model.attention": ("galerkin", "linear"),
            "model.layer_norm": "regular",
        },
        {"model.attention_dropout": (0.1, 0.0)},  # Table 7; Table 8 has both
    ),
    (
        {"architecture": "transformer2d"},
        {"model.residual_dropout": (0.1, 0.0), "model.attention_dropout": (0.1, 0.0)},
    ),
    (
        {"architecture": "transformer2d_coarse"},
        {
            "model.residual_dropout": (0.05, 0.0),
            "model.attention_dropout": (0.05, 0.0),
            "model.hidden_dropout": (0.05, 0.0),
            "model.upsampling_dropout": (0.05, 0.0),
        },
    ),
)

CODE: tuple[Condition, ...] = (
    *FEEDFORWARD,
    (
        {},
        {
            "training.peak_fraction": (0.3, 0.2),  # one dimension: 0.2 since October 2021
            "training.final_division": 1e4,
            "training.gradient_clip": 0.999,
        },
    ),
    # `F.dropout(p_attn)`, a function called with its default rate 0.5, in evaluation too; the scaling of
    # fourier and linear; the rate for "attention" on both residual branches, 0.1 for softmax, linear.
    (
        {"architecture": ("transformer1d", "transformer2d", "transformer2d_coarse")},
        {
            "model.attention_dropout": 0.5,
            "model.attention_dropout_in_evaluation": True,
            "model.equal_layers": True,
        },
    ),
    ({"architecture": ("transformer1d", "transformer2d")}, {"training.target_gradient": "public_code"}),
    (
        {"model.attention": ("galerkin", "softmax")},
        {"model.public_code_scaling": Free("it changes fourier and linear attention only")},
    ),
    ({"model.attention": ("fourier", "linear")}, {"model.public_code_scaling": True}),
    (
        {"architecture": ("transformer1d", "transformer2d"), "model.attention": ("fourier", "softmax")},
        {"model.projection_gain": (1e-3, 1e-2)},  # the command lines; the default
    ),
    ({"architecture": ("transformer1d", "fno1d")}, {"model.coordinates": "linspace"}),
    (
        {
            "architecture": "transformer1d",
            "model.attention": "galerkin",
            "model.layer_norm": "regular",
        },
        {"model.residual_dropout": (0.1, 0.0)},  # Table 7; Table 8 has both
    ),
    # Table 7; the command lines of May 2021, which differ from it
    (
        {"architecture": "transformer2d"},
        {"model.residual_dropout": (0.1, 0.05), "model.feedforward_dropout": (0.1, 0.05)},
    ),
    (
        {"architecture": "transformer2d_coarse", "model.attention": ("fourier", "softmax")},
        {"model.feedforward_dropout": (0.1, 0.05)},
    ),
    ({"architecture": "transformer2d_coarse"}, {"model.residual_dropout": 0.05}),
    ({"model.attention": ("softmax", "linear")}, {"model.residual_dropout": 0.1}),
    (
        {"architecture": "transformer2d_coarse", "resolution": 211},
        {"training.batch_size": (4, 2)},  # as in the text; 2 since June 2021
    ),
    # Of Li et al.: batches of 20, whose losses are summed, 1,000 samples, weight decay, no clipping.
    (
        {"architecture": ("fno1d", "fno2d")},
        {
            "training.batch_size": 20,
            "training.batch_reduction": "sum",
            "training.train_samples": 1000,
            "training.weight_decay": 1e-4,
            "training.gradient_clip": None,
            "training.peak_fraction": 0.3,
        },
    ),
)
