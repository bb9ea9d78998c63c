"""Exported runs are evaluated like other models: on a task, or on their own test samples, made again."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
import yaml
from dataset_fixtures import computed_arrays
from training_fixtures import RUN

from resolvent.__main__ import main
from resolvent.common.errors import EvaluationError, FileError
from resolvent.common.files import read_json, write_json
from resolvent.common.records import file_digests
from resolvent.common.runs import read_run
from resolvent.datasets.tasks.registry import settings_of
from resolvent.evaluation.evaluate import evaluate_run
from resolvent.judging import tasks
from resolvent.judging.board import read_board, table_of
from resolvent.judging.judge import judge
from resolvent.judging.report import in_words
from resolvent.public.runs import load_run
from resolvent.training.errors import TrainingError


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr("resolvent.evaluation.inference.SHORTEST", 1e-3)  # times may be inexact


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return where test samples are made, once for all tests."""
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def given(study, tmp_path):
    return load_run(study / RUN, data=study / "data").export(tmp_path / "given")


def with_errors(folder, errors):
    """Replace the recorded errors, as authors could."""
    errors.to_csv(folder / "errors.csv", index=False)
    record = read_json(folder / "run.json", "the record")
    record["files"] |= file_digests(folder, ("errors.csv",))
    write_json(folder / "run.json", record)


def test_the_errors_of_a_run_are_found_again_without_its_data(given, made, tmp_path, monkeypatch, capsys):
    words = ["resolvent", "evaluate", str(given), "--out", str(tmp_path / "out"), "--data", str(made)]
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.count(": confirmed\n") == 4  # two metrics on two grids
    record = read_json(tmp_path / "out/evaluation.json", "")
    recorded = pd.read_csv(given / "errors.csv").groupby("resolution")["relative_l2"].mean()
    measured = {row["grid"]: row["measured"] for row in record["recorded"] if row["metric"] == "relative_l2"}
    assert measured == pytest.approx({f"n{n}": mean for n, mean in recorded.items()}, rel=1e-5)
    (card,) = made.glob("evaluated/burgers/*.json")
    assert json.loads(card.read_text())["samples"] == {"train": 1, "validation": 1, "test": 6}
    assert record["classical"]
    assert record["seconds_per_sample"]["n64"] > 0
    (test,) = read_board([tmp_path / "out"])
    assert set(test.entries[0].rows) == {"n128", "n64"}
    assert test.name == record["task"]
    assert record["task"].startswith("burgers, test set ")
    assert "run, recorded errors confirmed" in [cell.text for cell in table_of(test, {}).rows[0]]
    assert "Recorded errors" in (tmp_path / "out/index.html").read_text()


def test_a_run_is_judged_on_a_task_beside_other_models(given, made, tmp_path, monkeypatch):
    settings = json.loads((given / "dataset.json").read_text())["settings"]
    task = {"title": "t", "given": "g", "asked": "a", "tested": [128], "dataset": settings}
    test = [("test", index) for index in range(settings["samples"]["test"])]
    arrays = computed_arrays(settings_of(settings), test)
    monkeypatch.setattr(tasks, "FOLDER", tmp_path)
    (tmp_path / "tiny-v1.yaml").write_text(yaml.safe_dump(task | {"test": tasks.marks_of(arrays)}))
    record = judge(str(given), "tiny-v1", tmp_path / "run", data=made)
    assert (record["kind"], record["recorded"], record["remarks"]) == ("run", [], [])
    expected = pd.read_csv(given / "errors.csv").groupby("resolution")["relative_l2"].mean()[128]
    assert record["rows"][0]["mean"] == pytest.approx(expected, rel=1e-5)
    np.savez(tmp_path / "theirs.npz", n128=1.1 * arrays["n128/final_velocity"])
    judge(str(tmp_path / "theirs.npz"), "tiny-v1", tmp_path / "theirs", data=made)
    (test,) = read_board([tmp_path / "run", tmp_path / "theirs"])
    assert test.name == "tiny-v1"
    assert {entry.record["kind"] for entry in test.entries} == {"run", "predictions"}
    assert test.entries[0].first["mean"] < test.entries[1].first["mean"]


def test_better_errors_than_the_weights_have_are_not_confirmed(given, made, tmp_path, monkeypatch):
    errors = pd.read_csv(given / "errors.csv")
    errors["relative_l2"] *= 0.98
    errors.to_csv(given / "errors.csv", index=False)
    with pytest.raises(FileError, match=r"errors\.csv"):  # the record has its digest
        judge(str(given), None, tmp_path / "out", data=made)
    with_errors(given, errors)
    words = ["resolvent", "evaluate", str(given), "--out", str(tmp_path / "out"), "--data", str(made)]
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    record = read_json(tmp_path / "out/evaluation.json", "")
    assert {row["metric"] for row in record["recorded"] if not row["confirmed"]} == {"relative_l2"}
    (test,) = read_board([tmp_path / "out"])
    assert "run, recorded errors not confirmed" in [cell.text for cell in table_of(test, {}).rows[0]]


def test_every_level_of_noise_and_realisation_is_measured_again(study, made, tmp_path):
    """Noise is in units of the training samples, so these are made again too."""
    card = study / "data/burgers/burgers.json"
    folder = shutil.copytree(study / RUN, tmp_path / RUN)
    testing = {"test_noise": [0.0, 0.1], "noise_realisations": 2}
    evaluate_run(card, folder, vars(read_run(folder).record) | testing, threads=1, gpus=0)
    given = load_run(folder, data=study / "data").export(tmp_path / "given")
    record = judge(str(given), None, tmp_path / "out", data=made)
    assert all(row["confirmed"] for row in record["recorded"])
    noisy = [row for row in record["rows"] if row["grid"] == "n64, noise 0.1"]
    assert {row["samples"] for row in noisy} == {6}  # realisations are not further samples
    assert len({row["who"] for row in noisy}) == 1  # classical solvers have no noise
    assert len(pd.read_csv(tmp_path / "out/errors.csv").query("grid == 'n64, noise 0.1'")) == 12


def test_errors_under_other_conditions_than_the_record_names_are_refused(given, made, tmp_path):
    errors = pd.read_csv(given / "errors.csv")
    for changed in (errors[errors["resolution"] == 64], pd.concat([errors, errors.assign(resolution=32)])):
        with_errors(given, changed)
        with pytest.raises(FileError, match=r"errors\.csv has other resolutions or levels of noise"):
            judge(str(given), None, tmp_path / "out", data=made)


def test_metrics_of_the_authors_are_not_measured_again(given, made, tmp_path):
    record = read_json(given / "run.json", "the record")
    own = {"label": "theirs", "description": "their error"}
    write_json(given / "run.json", record | {"metrics": record["metrics"] | {"theirs": own}})
    with_errors(given, pd.read_csv(given / "errors.csv").assign(theirs=0.5))
    judgement = judge(str(given), None, tmp_path / "out", data=made)
    assert "n64, theirs: recorded 0.500, not measured again, because the authors" in "\n".join(
        in_words(judgement)
    )


def test_damaged_weights_missing_files_and_a_missing_task_are_one_line(given, tmp_path):
    with pytest.raises(EvaluationError, match="needs a --task: only an exported run has test samples of its"):
        judge("predictions.npz", None, tmp_path / "out")
    content = (given / "model.safetensors").read_bytes()
    (given / "model.safetensors").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(TrainingError, match="damaged"):
        judge(str(given), None, tmp_path / "out")
    (given / "dataset.json").unlink()
    with pytest.raises(FileError, match=r"given has no dataset\.json: it is not an exported run"):
        judge(str(given), None, tmp_path / "out")
