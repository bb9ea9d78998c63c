"""`resolvent verify`: what the pipeline makes has no fault, and a damaged copy has a line for each."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import zarr
from dataset_fixtures import made_once, make_dataset, small_settings
from training_fixtures import COUNTS, finished_run

from resolvent.common.digests import write_digest
from resolvent.common.files import OWN_DIGEST, read_json, write_arrays, write_json
from resolvent.common.runs import save_table
from resolvent.evaluation.baselines import write_baselines
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.experiment.error_table import write_error_tables
from resolvent.figures.front.page import write_front_page
from resolvent.figures.front.study import PlannedExperiment, PlannedRow, Study
from resolvent.planning.verify import faults_below, verify
from resolvent.public.runs import load_run

CARD = "data/burgers/burgers.json"
STORE = "data/burgers/burgers.zarr"
EXPERIMENT = "results/demo/small"
RUN = f"{EXPERIMENT}/tiny/n64/seed3"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    settings = small_settings(resolutions=[64, 128], samples={"train": 16, "validation": 4, "test": 6})
    card = make_dataset(folder / "data/burgers", settings)
    finished_run(card, folder / RUN)
    counts = {"train": COUNTS["train"], "test": COUNTS["test"]}
    baselines = folder / EXPERIMENT / "baselines"
    write_baselines(
        card, baselines, experiment="small", resolutions=[64], counts=counts, noise=0.0, realisations=1
    )
    comparison = folder / EXPERIMENT / "comparison.csv"
    write_comparison([folder / RUN], [baselines], comparison)
    tables = [f"table.{kind}" for kind in ("csv", "tex", "html")]
    write_error_tables(comparison, [comparison.with_name(name) for name in [*tables, "metrics.tex"]])
    row = PlannedRow("tiny", "Tiny", None, 64, 0.0, {"3": "small/tiny/n64/seed3"})
    planned = PlannedExperiment("Small", "burgers", "small/report.html", 64, [], [row])
    study = Study(name="demo", experiments={"small": planned})
    write_json(folder / "results/demo/study.json", asdict(study))
    write_front_page(folder / "results/demo")
    (folder / EXPERIMENT / "report.html").write_text("<html><body>the best: 1.00</body></html>")
    (folder / EXPERIMENT / "curve.svg").write_text("<svg><path d='M0 1'/></svg>")
    write_arrays(folder / "data/burgers/burgers.preview.npz", {"u": np.zeros(3)})
    write_digest(folder / "data/burgers/burgers.preview.npz")
    return folder


@pytest.fixture
def copy(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "copy")


def contents(folder) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def faults(folder) -> list[str]:
    return list(faults_below([folder / "data", folder / "results"]))


def test_what_the_pipeline_makes_is_as_specified(finished):
    assert faults(finished) == []


@pytest.mark.parametrize("equation", ["darcy", "darcy_inverse", "lorenz63", "controlled_ode", "kolmogorov"])
def test_a_dataset_of_every_equation_is_as_specified(equation, tmp_path_factory):
    assert list(faults_below([made_once(tmp_path_factory, equation).parent])) == []


def edit(path, **changes):
    content = json.loads(path.read_text()) | changes
    content.pop(OWN_DIGEST, None)
    path.write_text(json.dumps(content))


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def of_card(**changes):
    def damage(folder):
        edit(folder / CARD, **changes)
        root = zarr.open_group(folder / STORE, mode="r+")
        root.attrs.put(json.loads((folder / CARD).read_text()))

    return damage


def without_split(folder):
    card = read_json(folder / CARD, "the card")
    del card["samples"]
    write_json(folder / CARD, card)


def one_number(folder):
    array = zarr.open_group(folder / STORE, mode="r+")["n64/final_velocity"]
    values = array[:]
    values[3, 5] += 1e-12
    array[:] = values


def swapped_splits(folder):
    array = zarr.open_group(folder / STORE, mode="r+")["n64/split"]
    array[:] = array[:][::-1]


def moved_points(folder):
    array = zarr.open_group(folder / STORE, mode="r+")["n128/x"]
    array[:] = np.linspace(0, 1, 128)


def other_units(folder):
    zarr.open_group(folder / STORE, mode="r+")["n128/final_velocity"].attrs["units"] = "m/s"


def other_dimensions(folder):
    path = folder / STORE / "n128/final_velocity/zarr.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"dimension_names": ["sample", "time"]}))


def whole_numbers(folder):
    path = folder / STORE / "n128/final_velocity/zarr.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"data_type": "int64", "fill_value": 0}))


def altered_table(folder):
    path = folder / EXPERIMENT / "comparison.csv"
    table = pd.read_csv(path)
    chosen = (table.kind == "model") & (table.statistic == "worst") & (table.metric == "relative_l2")
    table.loc[chosen & (table.test_resolution == 64), "value"] *= 2
    save_table(table, path)


def fewer_columns(folder):
    path = folder / EXPERIMENT / "models.csv"
    save_table(pd.read_csv(path).drop(columns="parameters"), path)


def other_rows(folder):
    from run_files import replace_errors

    replace_errors(folder / RUN, pd.read_csv(folder / RUN / "errors.csv").iloc[1:])


def moved_run(folder):
    (folder / RUN).rename(folder / RUN.replace("seed3", "seed4"))


def of_other_data(folder):
    edit(folder / RUN / "run.json", dataset="burgers", dataset_hash="0" * 64)


def other_number(path):
    text = path.read_text()
    place = max(text.rfind(digit) for digit in "123456789")
    path.write_text(text[:place] + ("1" if text[place] != "1" else "2") + text[place + 1 :])


def of_json_without_digest(name):
    return lambda folder: edit(folder / name)


BUDGET = {"against_refined_run": {"samples": 26, "of": 26, "median_relative_l2": 1, "largest_relative_l2": 2}}
DAMAGES = {
    "a number of the store": (one_number, "is not what was written (sample 3)"),
    "the order of the splits": (swapped_splits, "'split' is not 16 train, 4 validation, 6 test"),
    "coordinates": (moved_points, "the coordinates 'x' differ from the grid on the card"),
    "units": (other_units, "'final_velocity' has units 'm/s', the card says '1'"),
    "dimensions": (other_dimensions, "'final_velocity' has the dimensions"),
    "the type of numbers": (whole_numbers, "'final_velocity' is int64, the card says: "),
    "a shard": (lambda f: shutil.rmtree(f / STORE / "n64/final_velocity/c"), "lacks shard 0"),
    "an array": (lambda f: shutil.rmtree(f / STORE / "n64/final_velocity"), "'final_velocity' is missing"),
    "a group": (lambda f: shutil.rmtree(f / STORE / "n64"), "the group is missing"),
    "metadata": (lambda f: (f / STORE / "zarr.json").write_text("null"), "burgers.zarr"),
    "a card cut off": (lambda f: cut(f / CARD), "is damaged"),
    "no card": (lambda f: (f / CARD).unlink(), "is missing: the dataset is not finished"),
    "a key of the card": (without_split, "the key 'samples' is missing"),
    "the type of a key": (of_card(seed="7"), "'seed' is '7', not of the type int"),
    "a card that is not the store's": (lambda f: edit(f / CARD, seed=8), "attributes differ from the card"),
    "the accuracy missed": (of_card(error_budget=BUDGET), "the largest error 2 is above the stated"),
    "nothing checked": (of_card(error_budget={}), "nothing was checked"),
    "other settings": (of_card(identity={}), "'settings_hash' is"),
    "a receipt": (
        lambda f: edit(f / "data/burgers/burgers.shards/0.json", code_versions={"burgers": 2}),
        "is of another version than the card",
    ),
    "errors.csv": (lambda f: cut(f / RUN / "errors.csv"), "errors.csv was altered or belongs to another run"),
    "predictions.nc": (lambda f: (f / RUN / "predictions.nc").unlink(), "predictions.nc is missing"),
    "a sample's error": (other_rows, "must have one row for each test sample"),
    "a key of run.json": (lambda f: edit(f / RUN / "run.json", colour=1), "'colour': Unexpected keyword"),
    "a type in cost.json": (
        lambda f: edit(f / RUN / "cost.json", steps=1.5),
        "'steps': Input should be a val",
    ),
    "a run of another folder": (moved_run, "is of the run small/tiny/n64/seed3, not of small/tiny/n64/seed4"),
    "a run of other data": (of_other_data, "other data than the dataset 'burgers'"),
    "a statistic": (altered_table, "the worst of relative_l2 is"),
    "comparison.csv": (
        lambda f: cut(f / EXPERIMENT / "comparison.csv"),
        "comparison.csv was altered: delete",
    ),
    "a digest": (
        lambda f: (f / EXPERIMENT / "models.csv.sha256").write_text("0  models.csv"),
        "models.csv was altered: delete",
    ),
    "another checkpoint": (
        lambda f: (f / RUN / "checkpoint.pt").write_bytes(b"x"),
        "checkpoint.pt was altered or belongs to another run",
    ),
    "the facts of the models": (fewer_columns, "models.csv has no column parameters"),
    "the baselines": (
        lambda f: cut(f / EXPERIMENT / "baselines/errors.csv"),
        "errors.csv was altered or belongs to another run",
    ),
    "a page": (
        lambda f: (f / "results/demo/cao2021.html").write_text("<!doctype html><html><body>"),
        "cao2021.html: is truncated",
    ),
    "a figure": (lambda f: (f / "results/demo/one.svg").write_text("<svg"), "is not an SVG"),
    "a number of the leaderboard": (
        lambda f: other_number(f / "results/demo/leaderboard.csv"),
        "leaderboard.csv: does not match",
    ),
    **{
        f"a number of {name}": (
            lambda f, name=name: other_number(f / EXPERIMENT / name),
            f"{name}: does not match",
        )
        for name in ("table.csv", "table.tex", "metrics.tex")
    },
    **{
        f"no digest in {name}": (of_json_without_digest(name), "its digest is missing")
        for name in (
            f"{RUN}/run.json",
            f"{RUN}/cost.json",
            f"{EXPERIMENT}/baselines/cost.json",
            "results/demo/study.json",
            CARD,
            "data/burgers/burgers.shards/0.json",
        )
    },
    **{
        f"no digest of {name}": (
            lambda f, name=name: (f / f"{name}.sha256").unlink(),
            f"{name.rpartition('/')[2]}: its digest is missing",
        )
        for name in (
            f"{EXPERIMENT}/comparison.csv",
            f"{EXPERIMENT}/models.csv",
            f"{EXPERIMENT}/table.html",
            "data/burgers/burgers.preview.npz",
        )
    },
    "what a killed job left": (lambda f: (f / RUN / ".run.json.host-1.partial").touch(), "partial file of"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::resolvent.common.digests.Unverified")
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_copy_has_a_line_that_names_the_fault(name, finished, copy):
    damage, words = DAMAGES[name]
    damage(copy)
    of_data = contents(copy / "results") == contents(finished / "results")
    found = list(faults_below([copy / "data"])) if of_data else faults(copy)
    assert found
    assert any(words in line for line in found), found
    assert all("\n" not in line and str(copy) in line for line in found), found


def test_the_command_ends_with_a_line_for_each_fault(copy, capsys):
    assert verify([copy]) == 0
    assert capsys.readouterr().err.startswith(f"{copy}: as specified, except the files not")
    cut(copy / RUN / "errors.csv")
    assert verify([copy / "results", copy / CARD]) == 1
    lines = capsys.readouterr().out.splitlines()
    printed = [line for line in lines if not line.startswith("not verified: ")]
    assert printed
    assert all("errors.csv" in line for line in printed), printed


def test_a_path_that_is_not_there_is_a_fault(tmp_path):
    assert list(faults_below([tmp_path / "nothing"])) == [f"{tmp_path / 'nothing'}: is missing"]


def printed_of(folder, capsys):
    status = verify([folder])
    return status, capsys.readouterr().out.splitlines()


def test_a_folder_without_files_is_a_fault(tmp_path):
    (tmp_path / "empty/inner").mkdir(parents=True)
    assert list(faults_below([tmp_path / "empty"])) == [f"{tmp_path}/empty: has no files"]


def test_linked_folders_are_verified_once(copy, tmp_path):
    (copy / "data/burgers").rename(tmp_path / "scratch")
    (copy / "data/burgers").symlink_to(tmp_path / "scratch")
    (tmp_path / "scratch/again").symlink_to(copy / "data")
    assert list(faults_below([copy / "data", copy / "results"])) == []
    shutil.rmtree(tmp_path / "scratch/burgers.zarr/n64/final_velocity/c")
    assert any("lacks shard 0" in fault for fault in faults_below([copy / "data"]))


def test_a_file_that_cannot_be_read_is_a_fault(copy, monkeypatch):
    def failing(path):
        raise OSError(5, "Input/output error")

    (copy / "results/demo/SHA256SUMS").write_bytes(b"\xff\xfe\n")
    monkeypatch.setattr(Path, "read_bytes", failing)
    faults = list(faults_below([copy / "results"]))
    assert f"{copy}/{EXPERIMENT}/curve.svg: cannot be read: Input/output error" in faults
    assert any("SHA256SUMS lists it" in fault for fault in faults)


def test_what_nothing_vouches_for_is_listed(copy, capsys):
    """An altered page or figure looks like the right one, and is not called verified."""
    for name in ("report.html", "curve.svg"):
        other_number(copy / EXPERIMENT / name)
    status, lines = printed_of(copy, capsys)
    assert status == 0
    assert all(line.startswith("not verified: ") for line in lines), lines
    for name in ("report.html", "curve.svg", "index.html"):
        assert any(name in line for line in lines), lines
    held = ("errors.csv", ".tex", "table.csv", "table.html", "leaderboard.csv", "comparison.csv", "json")
    assert not [line for line in lines if any(name in line for name in held)], lines


def test_what_sums_vouch_for_is_verified(tmp_path, capsys):
    from resolvent.common.digests import file_digest

    (tmp_path / "page.html").write_text("<html></html>")
    (tmp_path / "SHA256SUMS").write_text(f"{file_digest(tmp_path / 'page.html')}  page.html\n")
    assert printed_of(tmp_path, capsys) == (0, [])
    (tmp_path / "page.html").write_text("<html> </html>")
    status, lines = printed_of(tmp_path, capsys)
    assert status == 1
    assert "its SHA-256 differs from SHA256SUMS" in lines[0]


def test_a_table_without_the_comparison_is_not_verified(copy, capsys):
    for name in ("comparison.csv", "comparison.csv.sha256"):
        (copy / EXPERIMENT / name).unlink()
    _, lines = printed_of(copy / EXPERIMENT, capsys)
    assert any(line.startswith("not verified: ") and "table.csv" in line for line in lines), lines


def test_the_weights_of_an_exported_run_are_held_to_its_record(copy, capsys):
    run = load_run(copy / RUN, data=copy / "data").export(copy / "given")
    assert printed_of(run, capsys)[0] == 0
    edit(run / "run.json", architecture="deeponet1d")
    write_json(run / "run.json", json.loads((run / "run.json").read_text()))
    status, lines = printed_of(run, capsys)
    assert status == 1
    assert "model.safetensors belongs to another run (architecture fno1d instead of deeponet1d)" in lines[0]


def test_rows_whose_runs_are_not_there_are_not_verified(copy, capsys):
    shutil.rmtree(copy / EXPERIMENT / "tiny")
    (copy / "results/demo/leaderboard.csv").unlink()
    _, lines = printed_of(copy / "results", capsys)
    (line,) = (one for one in lines if "comparison.csv: " in one)
    assert line.startswith("not verified: ")
    assert "comparison.csv: the runs of tiny, n64 are missing" in line
