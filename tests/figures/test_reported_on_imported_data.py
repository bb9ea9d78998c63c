"""The paper's number is shown next to a run on the public file if the import finds no difference."""

import pytest
import yaml
from dataset_fixtures import make_dataset
from merged_configuration import ROOT
from public_files import burgers_variables, darcy_variables, write_mat

from resolvent.common.runs import read_run
from resolvent.datasets.loading import read_card
from resolvent.datasets.tasks.registry import settings_of
from resolvent.figures.published.reported_numbers import reported_number

DATASETS = yaml.safe_load((ROOT / "config/public_data.yaml").read_text())["datasets"]
SHIPPED = DATASETS["burgers_public"]
SAMPLES = {"train": 20, "validation": 10, "test": 10}


@pytest.mark.parametrize(
    ("stated", "points", "said", "differing"),
    [
        ({}, 8192, "", ""),
        ({"final_time": 1.0}, 1024, "With other conventions: the public file's: ", "final time 1 (code"),
        (
            {"initial_distribution": {"name": "cao_burgers_printed"}},
            1024,
            "",
            "num modes none (code 20)",
        ),
    ],
    ids=["the file's operator", "the time printed", "the distribution printed"],
)
def test_the_number_stands_beside_a_run_on_the_operator_of_the_file(
    stated, points, said, differing, make_run, tmp_path
):
    """Import 40 samples of the operator of `burgers_data_R10.mat` in single precision, as if it were it."""
    made = burgers_variables(40, points)
    file = write_mat(tmp_path / "file.mat", {name: made[name].astype("float32") for name in ("a", "u")})
    small = {"source": str(file), "finest": points, "resolutions": [512, points], "samples": SAMPLES}
    settings = settings_of(SHIPPED | small | stated).with_contents()
    card = read_card(make_dataset(tmp_path / "made", settings))
    warnings = card["imported"]["warnings"]
    one = read_run(make_run(dataset=card["settings"], data_warnings=warnings))
    found = reported_number(one.record, one.cost)
    if not stated:
        assert (warnings, found.value) == ([], pytest.approx(1.203e-3)), found.reason
        return
    assert [said in words for words in warnings] == [True] * bool(said), warnings
    assert found.shown is None
    assert differing in found.reason


@pytest.mark.parametrize("stated", [{}, {"grid": "nodes"}], ids=["the file's cell centres", "nodes"])
def test_the_number_stands_beside_a_run_on_the_grid_of_the_darcy_file(stated, make_run, tmp_path):
    """Import 2 × 40 samples on 33² cell centres; the run's record has the file's 421, which take a minute."""
    files = [
        str(write_mat(tmp_path / f"{split}.mat", darcy_variables(40, 33, split)))
        for split in ("train", "test")
    ]
    small = {"source": files, "finest": 33, "resolutions": [33], "samples": SAMPLES}
    settings = settings_of(DATASETS["darcy_public"] | small | stated).with_contents()
    card = read_card(make_dataset(tmp_path / "made", settings))
    warnings = card["imported"]["warnings"]
    dataset = card["settings"] | {"finest": 421, "resolutions": [141]}
    paper = {"architecture": "transformer2d", "parameters": 2_220_829, "setting": {"batch_size": 4}}
    paper |= {"resolution": 141, "coarse_points": 43, "dataset": dataset}
    run = make_run("galerkin2d", data_warnings=warnings, **paper)
    one = read_run(run)
    found = reported_number(one.record, one.cost)
    if not stated:
        assert (warnings, found.value) == ([], pytest.approx(0.839e-2)), found.reason
        return
    assert any("With other conventions: cell centres, arithmetic mean: " in words for words in warnings)
    assert found.shown is None
    assert "grid nodes (code cell_centres)" in found.reason
