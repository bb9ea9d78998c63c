"""The recipes of Calvello et al. 2024: a row as coded differs from the paper's in what the code does."""

import pytest
from merged_configuration import loaded

from resolvent.planning.configuration.settings import model_settings, training_settings

CONFIGURATION = loaded("calvello2024")
# As in models/*/runner.py, models/*/*_lightning.py, models/transformer_custom.py and paper_run_scripts/ of
# EdoardoCalvello/TransformerNeuralOperators.
ORDER = {"shuffle": False, "selection": "last"}  # DataLoader's default; no checkpoint callback
BY_VALUE = {"gradient_clip": 10.0, "gradient_clip_by": "value"}
ROOTED = {"scaled_scores": True, "equal_layers": True}  # / math.sqrt(d_k); copy.deepcopy(encoder_layer)
ROWS = {
    "tno": (ROOTED | {"attention_dropout": 0.1}, ORDER | BY_VALUE),
    "tno2d": (ROOTED | {"quadrature": "none"}, ORDER | BY_VALUE | {"loss": "norms"}),
    "fno_package": ({}, ORDER | {"loss": "norms"}),
    "vit_no": ({"modes": 9, "equal_layers": True}, ORDER | {"loss": "h1_unit_spacing"}),
    "fano": ({"smoother": "none", "equal_layers": True}, ORDER | {"loss": "h1_unit_spacing"}),
}
CASES = [
    (name, row)
    for name, experiment in CONFIGURATION.experiments.items()
    for row in ROWS
    if row in experiment.models and not name.endswith("_v1")  # what the first version printed
]


@pytest.mark.parametrize(("name", "row"), CASES)
def test_as_coded_a_row_differs_in_what_the_code_does(name, row):
    experiment = CONFIGURATION.experiments[name]
    dataset, resolution = CONFIGURATION.datasets[experiment.dataset], experiment.resolutions[0]
    found = []
    for key, recipe in ((row, "paper"), (f"{row}_public_code", "code")):
        assert key in experiment.models
        model = CONFIGURATION.models[key]
        assert model.recipe == recipe
        training = training_settings(experiment, key, model, resolution)
        found.append((model_settings(model, resolution, dataset).model_dump(), training.model_dump()))
    for paper, code, expected in zip(*found, ROWS[row], strict=True):
        assert {one: value for one, value in code.items() if value != paper[one]} == expected
    (settings, training), _ = found
    assert training["loss"] == ("norms" if row == "tno" else "h1")
    assert settings.get("scaled_scores", False) is False
