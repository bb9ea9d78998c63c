"""Reported numbers of Cao 2021 and their settings by field, from its text and its public code.

Sources: the text, sections 5 and C, Tables 5 to 8; the code (scaomath/galerkin-transformer) with the author's
command lines; and for FNO the author's fork of the code of Li et al. 2021. Each condition names its own.
Several values are listed if the text and its tables, or two versions of the code, disagree, or if the text
does not state the value.
"""

import math
from functools import partial
from pathlib import Path

from resolvent.figures.published.recipe import (
    CARD,
    EVERY_RUN,
    KEY,
    UNUSED,
    AtLeast,
    AtMost,
    Free,
    PublicCode,
    when,
)
from resolvent.figures.published.tables import Example, PaperTable, Source, reported_rows, rounded_to

TABLES = Path(__file__).parent / "tables"
# Sources of the settings. The first version of the paper is of 31 May 2021, as is commit 7e23bec.
C1, C2, C3 = "section C.1", "section C.2", "section C.3"
AUTHORS = partial(PublicCode, "scaomath/galerkin-transformer")
EX1, README, CONFIG, FT, LAYERS, MODEL, UTILS = (
    AUTHORS("f9e7d6a", (file,))
    for file in (
        "examples/ex1_burgers.py", "examples/README.md", "config.yml", "libs/ft.py", "libs/layers.py",
        "libs/model.py", "libs/utils_ft.py",
    )
)  # fmt: skip
COMMAND_LINES, MAY_EX1 = AUTHORS("7e23bec", ("training.md",)), AUTHORS("7e23bec", ("ex1_burgers.py",))
TORCH = AUTHORS("7e23bec", ("requirements.txt",))
JUNE_EX3 = AUTHORS("c0a9acf", ("ex3_darcy_inv.py",))
FORK = PublicCode("scaomath/fourier_neural_operator", "d1bfdb4", ("fourier_1d.py",))
FORK_8192 = PublicCode("scaomath/fourier_neural_operator", "74888e5", ("fourier_1d.py",))
FORK_2D = PublicCode("scaomath/fourier_neural_operator", "74888e5", ("fourier_2d.py",))
NO_FNO2D = (
    "not found: no public file has both networks and schedule",
    FORK_2D,
    README,
)
BURGERS_FILE = "burgers_data_R10.mat (docs/equations/burgers.md, evidence)"
DARCY_FILES = "piececonst_r421_N1024_smooth*.mat (docs/equations/darcy.md)"
CHECKED = Free("the card has the result of checking the files")
IN_THE_FILES = Free("names and positions of the functions in the files")
ANY_TRANSFORMER = ("transformer1d", "transformer2d", "transformer2d_coarse")
ON_THE_SQUARE = ("transformer2d", "transformer2d_coarse")
FORWARD = ("transformer1d", "transformer2d")
FOURIER_SOFTMAX, GALERKIN_LINEAR = ("fourier", "softmax"), ("galerkin", "linear")
REGULAR_LINEAR = {
    "architecture": "transformer1d", "model.attention": GALERKIN_LINEAR, "model.layer_norm": "regular",
}  # fmt: skip
SETTING = (
    EVERY_RUN,
    # The paper reports the best epoch on the test samples (`record_test_error`). `selection` uses as many
    # validation samples as the paper uses test samples to select the epoch. More test samples are accepted,
    # because the interval accounts for both numbers. The betas are those of torch's 1cycle schedule.
    when({}, source=(C1, EX1, UTILS), model={"in_channels": 1, "out_channels": 1},
        training={"epochs": 100, "schedule": "1cycle", "learning_rate": 1e-3, "initial_division": 1e4,
            "plateau_patience": UNUSED, "early_stopping": None, "loss": "norms", "loss_units": "physical",
            "record_test_error": True, "shuffle": True, "gradient_clip_by": "norm", "selection": "best",
            "normalisation": "none",
            "noise_samples": Free("they only define the unit of the noise"),
            "train_samples": 1024, "validation_samples": 100, "test_samples": AtLeast(100)},
        computation={"first_beta_cycles": [0.85, 0.95], "drop_last": True}),
    # The public file behind the numbers: modes 1 to 20 of u0 ~ N(0, 25² (-Δ + 25 I)^-2), ν = 0.1/(2π),
    # observed at t = 1/(2π), every k-th of 8192 values. Section C.2 states t = 1 and no truncation, which is
    # a different operator.
    when({"data.equation": "burgers"}, source=(C2, BURGERS_FILE),
        data={"viscosity": 0.1 / (2 * math.pi), "final_time": 1 / (2 * math.pi),
            "initial_distribution.sigma": 25.0, "initial_distribution.tau": 5.0,
            "initial_distribution.gamma": 2.0, "initial_distribution.zero_mean": True,
            "initial_distribution.num_modes": 20, "initial_distribution.orthonormal": UNUSED,
            "finest": 8192, "restriction": "stride", "method": CARD, "num_modes": CARD, "num_steps": CARD,
            "accuracy": AtMost(1e-5)}),
    # Section C.3: a = 12 or 3 by the sign of a draw from N(0, (-Δ + 9 I)^-2), on 421 x 421 points with
    # h = 1/421: the public file's cell centres, of which it takes every k-th (docs/equations/darcy.md).
    when({"data.equation": ("darcy", "darcy_inverse")}, source=(C1, C3, UTILS),
        data={"distribution.sigma": Free("the sign of the field does not depend on its amplitude"),
            "distribution.tau": 3.0, "distribution.gamma": 2.0, "distribution.zero_mean": True,
            "distribution.orthonormal": UNUSED, "push_forward": "level_set", "above": 12.0, "below": 3.0,
            "finest": 421, "face_mean": "arithmetic", "tolerance": CARD, "accuracy": AtMost(1e-6),
            "coarse": Free("its value at the training resolution is compared as coarse points")},
        training={"normalisation": "pointwise", "batch_size": 4}),
    when({"data.equation": ("darcy", "darcy_inverse")}, source=DARCY_FILES, data={"grid": "cell_centres"}),
    when({"data.equation": "darcy"}, source=FT, data={"pressure": "restricted"}),
    # The public files: warnings of their check are listed as separate differences.
    when({"data.imported": True}, source="the files themselves",
        data={**dict.fromkeys(("imported", "source", "sha256", "accuracy", "tolerance", "about"), CHECKED),
            **dict.fromkeys(("input", "target", "axes", "input_times", "target_times"), IN_THE_FILES),
            "method": UNUSED, "num_modes": UNUSED, "num_steps": UNUSED, "length": 1.0}),
    # The encoder in every example (Table 5, eq. 17).
    when({"architecture": ANY_TRANSFORMER}, source=("Table 5", "eq. 17"),
        model={"attention": KEY, "layer_norm": KEY, "projection_gain": 1e-2, "projection_diagonal": 1e-2,
            "residual_dropout": 0.0, "feedforward_dropout": 0.0, "attention_dropout": 0.0,
            "attention_dropout_in_evaluation": False, "public_code_scaling": False,
            "attention_layer_scale": None,
            "equal_layers": Free("the text does not say how layers are initialised"),
            "contraction": Free("order of the products, which does not change the numbers")}),
    when({"architecture": "transformer1d"}, source=("Table 5", C1, CONFIG),
        model={"layer_norm_epsilon": 1e-5, "width": 96, "num_layers": 4, "num_heads": 1,
            "feedforward_width": 192, "decoder_width": 48, "decoder_layers": 2, "modes": 16,
            "coordinates": "grid", "input_coordinates": False},
        training={"batch_size": 8, "gradient_weight": 0.1, "gradient_coefficient": "one"}),
    when({"architecture": (*ON_THE_SQUARE, "fno2d")}, source="section 4", model={"coordinates": "grid"}),
    when({"architecture": ON_THE_SQUARE}, source=("Table 5", "Table 7", CONFIG),
        model={"layer_norm_epsilon": 1e-7, "num_layers": 6, "num_heads": 4, "downsampling_dropout": 0.05,
            "upsampling_dropout": 0.0, "hidden_dropout": 0.0}),
    when({"architecture": "transformer2d"}, source=("Table 5", C1, CONFIG),
        model={"width": 128, "feedforward_width": 256, "downsampling_activation": "relu",
            "decoder_width": 32, "decoder_layers": 2, "modes": 12, "projection_width": 128},
        training={"gradient_weight": 0.5, "gradient_coefficient": "input", "boundary": "zero"}),
    when({"architecture": "transformer2d_coarse"}, source=("Table 5", "Table 7", CONFIG),
        model={"width": 192, "feedforward_width": 384, "downsampling_activation": "silu",
            "decoder_width": 192, "decoder_layers": 1, "decoder_dropout": 0.05, "hidden_dropout": 0.05,
            "upsampling_dropout": 0.05}),
    when({"architecture": ("fno1d", "fno2d")},
        source=("Table 5", FORK), model={"num_layers": 4, "projection_width": 128}),
    when({"architecture": "fno1d"},
        source=(C1, FORK), model={"width": 64, "modes": 16}, training={"batch_size": 8}),
    when({"architecture": "fno2d"}, source=(C1, FORK_2D), model={"width": 32, "modes": 12}),
    when({"architecture": ON_THE_SQUARE, "model.attention": FOURIER_SOFTMAX}, source=C1,
        training={"learning_rate": 5e-4}),
    when({"data.equation": "burgers", "resolution": 8192},
        source=(C1, README, FORK_8192), training={"batch_size": 4}),
    when({"architecture": "transformer2d", "resolution": 141},
        source=(README, FT), run={"coarse_points": 43},
        model={"downsampling_factor": 0.555}),
    when({"architecture": "transformer2d", "resolution": 211},
        source=(README, FT), run={"coarse_points": 61},
        model={"downsampling_factor": 0.54}),
    when(
        {"architecture": "transformer2d", "resolution": 211, "model.attention": "galerkin"}, source=CONFIG,
        model={"layer_norm_epsilon": (1e-5, 1e-7)},  # the code; the text does not say
    ),
    when({"data.equation": "darcy_inverse"}, source="Table 3", run={"grids": KEY}),
    when({"data.equation": "darcy_inverse", "resolution": 141}, source=README, run={"coarse_points": 36}),
    when({"data.equation": "darcy_inverse", "resolution": 211}, source=README, run={"coarse_points": 71}),
    when({"architecture": "transformer2d_coarse", "resolution": 141},
        source=FT, model={"downsampling_factor": 0.51}),
    when({"architecture": "transformer2d_coarse", "resolution": 211},
        source=FT, model={"downsampling_factor": 0.585}),
)  # fmt: skip

# Dropout in the feed-forward network, from Table 7. Softmax and linear attention are not in it: they have the
# rates of fourier and galerkin.
FEEDFORWARD = (
    when({"architecture": "transformer1d", "model.attention": FOURIER_SOFTMAX}, source="Table 7",
        model={"feedforward_dropout": 0.05}),
    when(REGULAR_LINEAR,
        source=("Table 7", C2), model={"feedforward_dropout": (0.1, 0.05)}),  # Table 7; section C.2
    when({"architecture": "transformer2d", "model.attention": FOURIER_SOFTMAX}, source="Table 7",
        model={"feedforward_dropout": 0.1}),
    when({"architecture": "transformer2d", "model.attention": GALERKIN_LINEAR}, source="Table 7",
        model={"feedforward_dropout": 0.05}),
    when({"architecture": "transformer2d_coarse"}, source="Table 7", model={"feedforward_dropout": 0.05}),
)  # fmt: skip
# Section C.1 and Table 7. In the text, the rates for "attention" apply to the attention matrix. On the square
# the residual branches, as in the public code, are accepted too: that matrix would be points x points.
PAPER = (
    *FEEDFORWARD,
    # `gradient_clip`: "a simple gradient clip of 1".
    when({}, source=C1, training={"peak_fraction": 0.3, "final_division": 1.0, "gradient_clip": (1.0, 0.999)},
        model={"coordinates": Free("the text does not say where the periodic grid ends")}),
    when({"architecture": ANY_TRANSFORMER},
        source=("Figure 8", "eq. 2"), training={"loss": ("norms", "squared_norms")}),  # Figure 8; eq. 2
    when({"architecture": FORWARD}, source=C1, training={"target_gradient": ("grid", "public_code")}),
    when(REGULAR_LINEAR,
        source=("Table 7", "Table 8"), model={"attention_dropout": (0.1, 0.0)}),  # Table 7; Table 8 has both
    when({"architecture": "transformer2d"}, source="Table 7",
        model={"residual_dropout": (0.1, 0.0), "attention_dropout": (0.1, 0.0)}),
    when({"architecture": "transformer2d_coarse"}, source="Table 7",
        model={"residual_dropout": (0.05, 0.0), "attention_dropout": (0.05, 0.0),
            "hidden_dropout": (0.05, 0.0), "upsampling_dropout": (0.05, 0.0)}),
)  # fmt: skip
CODE = (
    *FEEDFORWARD,
    # `peak_fraction` is 0.2 in one dimension since October 2021.
    when({},
        source=(MAY_EX1, EX1, UTILS),
        training={"peak_fraction": (0.3, 0.2), "final_division": 1e4, "gradient_clip": 0.999}),
    # The code calls `F.dropout(p_attn)`, which has rate 0.5 by default and is also active in evaluation. It
    # scales fourier and linear attention. The rate for "attention" applies to both residual branches; it is
    # 0.1 for softmax and linear attention.
    when({"architecture": ANY_TRANSFORMER}, source=(LAYERS, MODEL),
        model={"attention_dropout": 0.5, "attention_dropout_in_evaluation": True, "equal_layers": True}),
    when({"architecture": FORWARD}, source=FT, training={"target_gradient": "public_code"}),
    when({"model.attention": ("galerkin", "softmax")}, source=LAYERS,
        model={"public_code_scaling": Free("it changes only fourier and linear attention")}),
    when({"model.attention": ("fourier", "linear")}, source=LAYERS, model={"public_code_scaling": True}),
    # 1e-3 in the command lines, 1e-2 by default.
    when({"architecture": FORWARD, "model.attention": FOURIER_SOFTMAX}, source=(README, UTILS),
        model={"projection_gain": (1e-3, 1e-2)}),
    # libs/ft.py, `np.linspace(0, 1, n)` for all points
    when({"architecture": (*ANY_TRANSFORMER, "fno2d")}, source=FT, model={"coordinates": "linspace"}),
    # Table 7; Table 8 has both.
    when({"architecture": "transformer1d", "model.attention": "galerkin", "model.layer_norm": "regular"},
        source=("Table 7", "Table 8"),
        model={"residual_dropout": (0.1, 0.0)}),
    # First Table 7, then the command lines of May 2021, which differ from it.
    when({"architecture": "transformer2d"}, source=("Table 7", COMMAND_LINES),
        model={"residual_dropout": (0.1, 0.05), "feedforward_dropout": (0.1, 0.05)}),
    when({"architecture": "transformer2d_coarse", "model.attention": FOURIER_SOFTMAX},
        source=("Table 7", COMMAND_LINES),
        model={"feedforward_dropout": (0.1, 0.05)}),
    when({"architecture": "transformer2d_coarse"},
        source=("Table 7", CONFIG), model={"residual_dropout": 0.05}),
    when({"model.attention": ("softmax", "linear")}, source=MODEL, model={"residual_dropout": 0.1}),
    # 4 in the command lines, 8 by default.
    when({"architecture": "transformer1d", "resolution": 2048},
        source=(COMMAND_LINES, README, UTILS), training={"batch_size": (4, 8)}),
    # 4 as in the text; 2 since June 2021.
    when({"architecture": "transformer2d_coarse", "resolution": 211},
        source=(C1, JUNE_EX3), training={"batch_size": (4, 2)}),
    # The code of Li et al. sums the losses of a batch, with weight decay and without gradient clipping. In
    # one dimension it is the author's fork, of 27 May 2021: 1,024 samples, batches of 8 (4 at 8,192 points).
    when({"architecture": ("fno1d", "fno2d")}, source=(FORK, FORK_8192),
        training={"batch_reduction": "sum", "weight_decay": 1e-4, "gradient_clip": None,
            "peak_fraction": 0.3}),
    # Its complex weights need torch 1.8, the newest version when the paper appeared.
    when({"architecture": ("fno1d", "fno2d")}, source=(TORCH, FORK),
        training={"optimiser": "adam_torch_1_8"}, computation={"optimiser": "AdamOfTorch18"}),
    when({"architecture": "fno1d"}, source=(FORK, FORK_8192), model={"coordinates": "linspace_2pi"}),
    # In two dimensions: fourier_2d.py of the same commits, with the schedule that examples/README.md of
    # galerkin-transformer names; no file with both was found.
    when({"architecture": "fno2d"}, source=NO_FNO2D, training={"batch_size": 20, "train_samples": 1000}),
)  # fmt: skip


def parameters(recorded: dict, table: PaperTable | None = None) -> tuple[int, int] | None:
    """Return the lowest and highest number of parameters that round to the number in Table 5.

    The paper describes the widths only by this number. Returns None if the paper has no such network.
    """
    row = network(recorded)
    if row is None:
        return None
    numbers = row["parameters"].split("-")  # "550k", "2.37m" or a range
    ends = [rounded_to(number[:-1], {"k": 10**3, "m": 10**6}[number[-1]]) for number in numbers]
    return ends[0][0], ends[-1][1]


def network(recorded: dict) -> dict[str, str] | None:
    """Return the row of Table 5 for a run."""
    if recorded.get("attention") == "none":
        return None
    rows = {row["architecture"]: row for row in reported_rows(TABLES / "table5.csv")}
    return rows.get(recorded["architecture"])


SOURCE = Source(
    name="Cao 2021",
    citation="Cao 2021, arXiv:2105.14995",
    metric="relative_l2",
    statistic="mean",
    protocol="The paper's public code reports the best epoch on the test samples; ours is "
    "the epoch selected on the validation samples.",
    counted="parameters",
    parameters=parameters,
)
_REGULAR = {"model.attention": "galerkin", "model.layer_norm": "regular"}
TABLE_2A = PaperTable(
    "Table 2a", TABLES / "table2a.csv", 1e-3,
    # Section C.2. On 2048 points Table 8 has the same number without dropout.
    recipes={"paper": (when(_REGULAR, source=C2, model={"attention_dropout": 0.1}),),
        "code": (when(_REGULAR, source=(C2, LAYERS), model={"residual_dropout": 0.1}),)},
)  # fmt: skip
TABLE_2B = PaperTable("Table 2b", TABLES / "table2b.csv", 1e-2)
TABLE_3 = PaperTable(
    "Table 3", TABLES / "table3.csv", 1e-2, where=(when({}, source="Table 3", training={"noise": KEY}),)
)
TABLE_6 = PaperTable("Table 6", TABLES / "table6.csv", 1.0)
TABLE_8 = PaperTable(
    "Table 8", TABLES / "table8.csv", 1e-3,
    where=(when({}, source="Table 8", model={"projection_gain": KEY, "projection_diagonal": KEY}),
        when({"model.layer_norm": "projection"}, source="Table 8", model={"feedforward_dropout": 0.0})),
    columns={"zeta": {"paper": "attention_dropout", "code": "residual_dropout"}},
)  # fmt: skip
RECIPES = {"paper": PAPER, "code": CODE}
# The final time in the text differs from the final time of the data (docs/equations/burgers.md).
BURGERS_OPERATOR = ("data.viscosity", "data.final_time")
EXAMPLES = tuple(
    Example(title, section, {"data.equation": equation}, tables, SOURCE, SETTING, RECIPES, operator)
    for title, section, equation, tables, operator in (
        ("Burgers' equation", "5.1", "burgers", (TABLE_2A, TABLE_8), BURGERS_OPERATOR),
        ("Darcy flow", "5.2", "darcy", (TABLE_2B,), ()),
        ("Inverse Darcy problem", "5.3", "darcy_inverse", (TABLE_3,), ()),
    )
)
