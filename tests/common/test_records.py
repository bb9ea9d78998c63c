"""Records are read back as written; what is not one, or of another run, is refused in one line."""

import json
from dataclasses import replace

import pytest
from run_files import COST

from resolvent.common.errors import FileError
from resolvent.common.records import (
    BaselineCost,
    BaselinesRecord,
    CostRecord,
    check_file,
    file_digests,
    read_record,
    write_record,
)
from resolvent.common.runs import read_run

COST = replace(COST, resolution="dt0.01", seed=1)


@pytest.fixture
def path(tmp_path):
    write_record(tmp_path / "cost.json", COST)
    return tmp_path / "cost.json"


def changed(path, **changes):
    content = json.loads(path.read_text()) | {"sha256": "absent"} | changes
    path.write_text(json.dumps({name: value for name, value in content.items() if value != "absent"}))


def test_a_record_is_read_as_it_was_written_and_no_other(path):
    written = json.loads(path.read_text())
    assert read_record(path, CostRecord) == COST
    path.write_text(json.dumps(written, sort_keys=True))  # laid out in another way
    assert read_record(path, CostRecord) == COST
    changed(path, train_seconds=1)  # JSON does not distinguish 1 from 1.0
    assert read_record(path, CostRecord) == COST
    changed(path, energy_joules=12.5)  # as version 1.0 wrote it
    assert read_record(path, CostRecord) == COST
    path.write_text(json.dumps(written | {"train_seconds": 1.5}))
    with pytest.raises(FileError, match=r"cost\.json was altered: delete it and run snakemake"):
        read_record(path, CostRecord)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"device": "absent"}, "'device': Field required"),
        ({"epochs": "two"}, "'epochs': Input should be a valid integer"),
        ({"epochs": 2.5}, "'epochs': Input should be a valid integer"),
        ({"seed": True}, "'seed': Input should be a valid integer"),
        ({"diverged_epoch": "4"}, "'diverged_epoch': Input should be a valid integer"),
        ({"colour": "red"}, "'colour': Unexpected keyword argument"),
    ],
)
def test_a_record_with_other_keys_or_types_is_one_line(path, changes, reason):
    changed(path, **changes)
    with pytest.raises(FileError) as raised:
        read_record(path, CostRecord)
    (line,) = str(raised.value).splitlines()
    assert line.startswith(str(path))
    assert reason in line
    assert line.endswith(": delete it and run snakemake")


def test_what_is_no_record_is_one_line(path):
    for content in (b"{", b"[1]", b"\xff", b""):
        path.write_bytes(content)
        with pytest.raises(FileError, match=r"cost\.json is damaged .*; delete it and run snakemake"):
            read_record(path, CostRecord)
    path.unlink()
    with pytest.raises(FileError, match=r"cost\.json is missing: make it with `snakemake"):
        read_record(path, CostRecord)


def test_a_file_is_vouched_for_as_it_was(tmp_path):
    file = tmp_path / "errors.csv"
    file.write_text("sample,relative_l2\n0,0.001\n")
    costs = {"64": {"identity": BaselineCost(label="Identity", seconds_per_sample=1e-3, parameters=0)}}
    record = BaselinesRecord(
        experiment="burgers",
        dataset_hash="d",
        costs=costs,
        metrics={},
        files=file_digests(tmp_path, ("errors.csv",)),
    )
    write_record(tmp_path / "cost.json", record)
    record = read_record(tmp_path / "cost.json", BaselinesRecord)
    assert check_file(file, record) == file
    assert record.cost_of(64, "identity", tmp_path / "cost.json") == costs["64"]["identity"]
    with pytest.raises(FileError, match=r"cost\.json: 'costs\.128\.identity' is missing"):
        record.cost_of(128, "identity", tmp_path / "cost.json")
    file.write_text("sample,relative_l2\n0,0.002\n")
    with pytest.raises(
        FileError, match=r"errors\.csv was altered or belongs to another run: delete it and run"
    ):
        check_file(file, record)
    file.write_text("")
    with pytest.raises(FileError, match=r"errors\.csv is empty"):
        check_file(file, record)


def test_the_cost_of_another_run_is_refused(path, tmp_path, monkeypatch):
    from resolvent.common import runs

    def of_run(found, kind):
        return read_record(found, CostRecord) if kind is CostRecord else replace(COST, seed=2)

    monkeypatch.setattr(runs, "read_record", of_run)
    with pytest.raises(FileError, match=r"cost\.json belongs to another run \(seed 1 instead of 2\)"):
        read_run(tmp_path)
