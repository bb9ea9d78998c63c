"""Runs that others give away: their numbers are measured again on test samples made again."""

import json
import shutil
from types import SimpleNamespace

import pandas as pd
import pytest
from rich.console import Console

from resolvent.common.errors import FileError
from resolvent.common.files import read_json, write_json
from resolvent.common.records import file_digests
from resolvent.judging.tasks import listed
from resolvent.public import model_card, verification
from resolvent.public.describe import describe_compared, describe_verification
from resolvent.public.runs import load_run
from resolvent.public.verification import VERIFIED, compare, verify_run
from resolvent.training.errors import TrainingError


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return where test samples are made, once for all tests."""
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def submission(study, tmp_path):
    return load_run(study / "results/tiny/burgers/fno/n64/seed3", data=study / "data").export(
        tmp_path / "submission"
    )


def test_the_numbers_of_a_run_are_found_again_without_its_data(submission, made):
    report = verify_run(submission, by="A. Reader", work=made)
    assert report["holds"]
    assert report == read_json(submission / VERIFIED, "the report")
    recorded = pd.read_csv(submission / "errors.csv").groupby("resolution")["relative_l2"].mean()
    measured = {
        row["resolution"]: row["measured"] for row in report["rows"] if row["metric"] == "relative_l2"
    }
    assert measured == pytest.approx(recorded.to_dict(), rel=1e-5)
    card = json.loads(next(made.glob("*/*.json")).read_text())
    assert card["samples"] == {"train": 1, "validation": 1, "test": 6}
    table = compare([submission, made])
    assert table["resolution"].tolist() == [64, 128]
    assert set(table["verified_by"]) == {"A. Reader"}
    console = Console(record=True, width=200)
    describe_verification(report, console)
    describe_compared(table, console)
    said = console.export_text()
    assert "All numbers agree." in said
    assert f"burgers, test set {report['test_set']}" in said
    assert "A. Reader" in said


def test_a_run_with_the_test_samples_of_a_task_stands_beside_its_judgements(
    submission, made, tmp_path, monkeypatch
):
    verify_run(submission, work=made)
    settings = json.loads((submission / "dataset.json").read_text())["settings"]
    task = {"title": "t", "given": "g", "asked": "a", "tested": [128], "dataset": settings}
    rows = [{"who": "theirs", "grid": "n128", "metric": "relative_l2", "mean": 1e-9, "samples": 6}]
    record = {"task": "tiny-v1", "label": "theirs", "kind": "predictions", "rows": rows}
    judged = tmp_path / "judged"
    judged.mkdir()
    (judged / "judged.json").write_text(json.dumps(record | {"date": "2026-01-01", "versions": {}}))
    monkeypatch.setattr("resolvent.judging.tasks.FOLDER", tmp_path)
    for count, beside in ((6, ["predictions", "verified"]), (7, ["predictions"])):
        settings["samples"]["test"] = count
        (tmp_path / "tiny-v1.yaml").write_text(json.dumps(task))
        table = compare([submission, judged], listed(verification.test_set))
        of_task = table[table["dataset"] == "tiny-v1"]
        assert of_task["kind"].tolist() == beside  # the lowest error first
        assert set(of_task["resolution"]) == {"n128"}
        assert len(table) == 3


def test_a_run_on_another_target_or_with_noise_is_not_listed_under_a_task(submission, made, monkeypatch):
    record = read_json(submission / "run.json", "the record")
    write_json(submission / "run.json", record | {"grids": "fine"})
    report = verify_run(submission, work=made)
    of_task = {"dataset": "tiny-v1", "test_set": "of the task", "resolution": "n64"}
    table = compare([submission], {(report["test_set"], 6, 64): of_task})
    assert set(table["dataset"]) == {"burgers"}
    assert set(table["test_set"]) == {f"{report['test_set']}, fine targets"}

    write_json(submission / "run.json", record)
    report = verify_run(submission, work=made)
    first = report["rows"][0]
    write_json(submission / VERIFIED, report | {"rows": [first, first | {"noise": 0.1}]})
    monkeypatch.setattr(verification, "_unchanged", lambda folder, report: load_run(folder))
    table = compare([submission], {(report["test_set"], 6, 64): of_task}).set_index("noise")
    assert table["dataset"].to_dict() == {0.0: "tiny-v1", 0.1: "burgers"}


def test_realisations_of_noise_are_not_further_samples():
    errors = pd.DataFrame(
        {
            "resolution": 64,
            "noise": 0.1,
            "realisation": [0, 0, 1, 1],
            "sample": [0, 1, 0, 1],
            "relative_l2": [0.1, 0.2, 0.3, 0.6],
        }
    )
    facts = {"label": "error", "description": "the error"}
    run = SimpleNamespace(errors=errors, record=SimpleNamespace(metrics={"relative_l2": facts}))
    (row,) = verification._rows(run, errors, 0.0)
    assert (row["samples"], row["measured"]) == (2, pytest.approx(0.3))
    assert "| error | 64 | 0.1 | 2 | 0.3 | 0.3 | 0.4 |" in model_card._errors(run)


def test_better_numbers_than_the_weights_have_do_not_hold(submission, made):
    errors = pd.read_csv(submission / "errors.csv")
    errors["relative_l2"] *= 0.98
    errors.to_csv(submission / "errors.csv", index=False)
    with pytest.raises(FileError, match=r"errors\.csv"):  # the record has its digest
        verify_run(submission, work=made)
    record = json.loads((submission / "run.json").read_text())
    record.pop("sha256", None)
    record["files"] |= file_digests(submission, ("errors.csv",))
    (submission / "run.json").write_text(json.dumps(record))
    report = verify_run(submission, work=made)
    assert {row["metric"] for row in report["rows"] if not row["holds"]} == {"relative_l2"}
    assert not report["holds"]
    assert compare([submission]).empty


def test_a_verified_run_that_was_changed_afterwards_is_not_listed(submission, made):
    verify_run(submission, work=made)
    assert len(compare([submission])) == 2
    content = (submission / "model.safetensors").read_bytes()
    (submission / "model.safetensors").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert compare([submission]).empty
    with pytest.raises(TrainingError, match="damaged"):
        verify_run(submission, work=made)


def test_a_verified_run_that_lost_a_file_is_not_listed(submission, made, tmp_path):
    report = verify_run(submission, work=made)
    for name in report["files"]:
        shutil.copytree(submission, less := tmp_path / f"less-{name}")
        (less / name).unlink()
        assert compare([less]).empty
    # Which files have to be there is not what the report of others says.
    write_json(submission / VERIFIED, report | {"files": {}})
    assert compare([submission]).empty


def test_errors_of_other_conditions_than_the_record_names_are_refused(submission, made):
    errors = pd.read_csv(submission / "errors.csv")
    for changed in (errors[errors["resolution"] == 64], pd.concat([errors, errors.assign(resolution=32)])):
        changed.to_csv(submission / "errors.csv", index=False)
        record = read_json(submission / "run.json", "the record")
        record["files"] |= file_digests(submission, ("errors.csv",))
        write_json(submission / "run.json", record)
        with pytest.raises(FileError, match=r"errors\.csv has other resolutions or levels of noise"):
            verify_run(submission, work=made)


def test_a_folder_that_is_no_exported_run_is_refused(submission, tmp_path):
    shutil.copytree(submission, tmp_path / "less")
    (tmp_path / "less/dataset.json").unlink()
    with pytest.raises(FileError, match=r"less has no dataset\.json: it is not an exported run"):
        verify_run(tmp_path / "less")
