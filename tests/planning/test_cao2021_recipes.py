"""The recipes of Cao 2021: a row as coded differs from the paper's in what the code does, and no more."""

import pytest
from merged_configuration import loaded

from resolvent.planning.configuration.settings import model_settings, training_settings
from resolvent.planning.plan import Plan

CONFIGURATION = loaded("cao2021")
SUFFIX = "_public_code"

# As in examples/README.md, libs/model.py (SimpleTransformerEncoderLayer), libs/layers.py (attention,
# linear_attention), libs/utils_ft.py (run_train) and config.yml of scaomath/galerkin-transformer.
ENCODER = {
    "attention_dropout": 0.5,  # F.dropout(p_attn)
    "attention_dropout_in_evaluation": True,
    "public_code_scaling": True,
    "equal_layers": True,  # copy.deepcopy(encoder_layer)
}
LINE = ENCODER | {"coordinates": "linspace"}
CLIPPED = {"final_division": 1e4, "gradient_clip": 0.999}
ON_A_LINE = CLIPPED | {"target_gradient": "public_code"}
FORCED = {"residual_dropout": 0.1}  # if attention_type in ['linear', 'softmax']: dropout = 0.1
SMALL_GAIN = {"projection_gain": 1e-3}
# fourier_1d.py of scaomath/fourier_neural_operator, commits d1bfdb4 and 74888e5; fourier_2d.py there has
# other samples and batches, and not yet the schedule of galerkin-transformer's examples/README.md.
FORK = {"batch_reduction": "sum", "weight_decay": 1e-4, "gradient_clip": None, "final_division": 1e4}
LI = FORK | {"train_samples": 1000, "batch_size": 20}

BURGERS = {
    "fno": ({"coordinates": "linspace_2pi"}, FORK),
    "galerkin": (LINE, ON_A_LINE),
    "fourier": (LINE | SMALL_GAIN, ON_A_LINE),
    "softmax": (LINE | SMALL_GAIN | FORCED, ON_A_LINE),
    "linear": (LINE | FORCED, ON_A_LINE),
    "galerkin_regular": (LINE | {"residual_dropout": 0.1}, ON_A_LINE),
    "fourier_regular": (LINE | SMALL_GAIN, ON_A_LINE),
    "softmax_regular": (LINE | SMALL_GAIN | FORCED, ON_A_LINE),
    "linear_regular": (LINE | FORCED, ON_A_LINE),
}
ABLATION = {
    "galerkin": (LINE, ON_A_LINE),
    "galerkin_xavier": (LINE, ON_A_LINE),
    "galerkin_small_gain": (LINE, ON_A_LINE),
    **{
        f"galerkin_regular_{start}{dropout}": (
            LINE | ({"residual_dropout": 0.1} if dropout else {}),
            ON_A_LINE,
        )
        for start in ("xavier", "small_gain", "diagonal")
        for dropout in ("", "_dropout")
    },
}  # fmt: skip
# training.md of 30 May 2021 has the command lines of the square; softmax is as fourier, linear as galerkin.
SQUARE = CLIPPED | {"target_gradient": "public_code"}
DARCY = {
    141: {
        "galerkin": ENCODER
        | {"residual_dropout": 0.05, "feedforward_dropout": 0.1},  # defaults of get_args_2d
        "linear": ENCODER | FORCED | {"feedforward_dropout": 0.1},
        "fourier": ENCODER | {"residual_dropout": 0.1},
        "softmax": ENCODER | FORCED,
    },
    211: {
        "galerkin": ENCODER | {"residual_dropout": 0.1},
        "linear": ENCODER | FORCED,
        "fourier": ENCODER | SMALL_GAIN | {"residual_dropout": 0.05},
        "softmax": ENCODER | FORCED | SMALL_GAIN,
    },
}
HIDDEN = {"upsampling_dropout": 0.05, "hidden_dropout": 0.05}  # config.yml
INVERSE = {
    "galerkin": ENCODER | HIDDEN | {"residual_dropout": 0.05},
    "linear": ENCODER | HIDDEN | FORCED,
    "fourier": ENCODER | HIDDEN | {"residual_dropout": 0.05, "feedforward_dropout": 0.1},
    "softmax": ENCODER | HIDDEN | FORCED | {"feedforward_dropout": 0.1},
}


def on_the_square(experiment, resolution):
    if experiment == "darcy":
        yield "fno2d", ({"coordinates": "linspace"}, LI)
        for attention, settings in DARCY[resolution].items():
            for norm in ("", "_regular"):
                yield f"{attention}2d{norm}", (settings | {"coordinates": "linspace"}, SQUARE)
    else:
        yield from ((name, ({"coordinates": "linspace"}, LI)) for name in ("fno2d_fine", "fno2d_coarse"))
        for attention, settings in INVERSE.items():
            for norm in ("", "_regular"):
                yield f"{attention}2d_coarse{norm}", (settings | {"coordinates": "linspace"}, CLIPPED)


EXPERIMENTS = ["burgers", "burgers_ablation", "darcy", "darcy_inverse_clean", "darcy_inverse_noise10"]
ROWS = [
    (experiment, row, resolution, *differences)
    for experiment in EXPERIMENTS
    for resolution in CONFIGURATION.experiments[experiment].resolutions
    for row, differences in (
        {"burgers": BURGERS, "burgers_ablation": ABLATION}[experiment].items()
        if experiment.startswith("burgers")
        else on_the_square(experiment, resolution)
    )
]


def all_of(experiment, key, resolution):
    e, model = CONFIGURATION.experiments[experiment], CONFIGURATION.models[key]
    dataset = CONFIGURATION.datasets[e.dataset]
    settings = model_settings(model, resolution, dataset).model_dump()
    return settings, training_settings(e, key, model, resolution).model_dump()


@pytest.mark.parametrize(
    ("experiment", "row", "resolution", "settings", "training"),
    ROWS,
    ids=["-".join(map(str, row[:3])) for row in ROWS],
)
def test_as_coded_a_row_differs_in_what_the_code_does(experiment, row, resolution, settings, training):
    for paper, code, expected in zip(
        all_of(experiment, row, resolution),
        all_of(experiment, row + SUFFIX, resolution),
        (settings, training),
        strict=True,
    ):
        assert {name: value for name, value in code.items() if value != paper[name]} == expected
    models = CONFIGURATION.models
    assert (models[row].recipe, models[row + SUFFIX].recipe) == ("paper", "code")
    assert models[row + SUFFIX].label == f"{models[row].label}, as coded"


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_row_of_the_paper_has_its_row_as_coded(experiment):
    models = CONFIGURATION.experiments[experiment].models
    others = (SUFFIX, "_torch_1_8")
    rows = [key for key in models if not key.endswith(others) and not key.startswith("no_attention")]
    assert [key for key in models if key.endswith(SUFFIX)] == [key + SUFFIX for key in rows]
    assert {row for name, row, *_ in ROWS if name == experiment} == set(rows)


def test_the_peak_is_where_the_text_and_the_code_of_may_2021_have_it():
    for experiment, row, resolution, *_ in ROWS:
        for key in (row, row + SUFFIX):
            assert all_of(experiment, key, resolution)[1]["peak_fraction"] == 0.3


def test_the_plan_and_the_record_say_recipe_and_samples():
    plan = Plan(CONFIGURATION)
    for experiment, key, n, recipe, count in (
        ("burgers", "fno", 512, "paper", 1024),
        ("burgers", "fno_public_code", 512, "code", 1024),
        ("darcy", "fno2d_public_code", 141, "code", 1000),
    ):
        assert plan.training(experiment, key, n).counts["train"] == count
        described = plan.description(experiment, key, n, 1127802)
        assert (described["recipe"], described["training"]["train_samples"]) == (recipe, count)
        assert described["training"]["noise_samples"] == 1024
    few = CONFIGURATION.experiments["burgers"].model_copy(
        update={"samples": CONFIGURATION.experiments["burgers"].samples.model_copy(update={"train": 256})}
    )
    smaller = CONFIGURATION.model_copy(update={"experiments": CONFIGURATION.experiments | {"burgers": few}})
    assert Plan(smaller).training("burgers", "fno_public_code", 512).counts["train"] == 256
