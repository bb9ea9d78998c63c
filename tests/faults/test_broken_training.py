"""Training that is asked to end, runs out of memory, diverges or hangs."""

import csv
import json
import re
import shutil
import signal
import time
from pathlib import Path

import pytest
from small_pipeline import EXPERIMENT, RUN, wait

from resolvent.training import checkpoints

pytestmark = pytest.mark.faults


@pytest.fixture
def untrained(project):
    """The project without its trained model, and ready to break the training of another."""
    project.forget(RUN)
    shutil.copy(Path(__file__).with_name("injected.py"), project.folder / "sitecustomize.py")
    return project


def history(project):
    with (project.folder / RUN / "history.csv").open() as file:
        return [[float(number or "nan") for number in row.values()] for row in csv.DictReader(file)]


@pytest.mark.parametrize("to", ["the job", "Snakemake and the job"])
def test_sigterm_within_an_epoch_costs_no_byte(untrained, to, fault, monkeypatch):
    monkeypatch.setenv("FAULT", "slow")
    resume = untrained.folder / RUN / "resume.pt"
    process = untrained.start_build(f"{RUN}/errors.csv")
    wait(process, resume.exists)
    time.sleep(0.8)  # two of six steps
    asked = untrained.jobs(process, "train")
    for one in [*asked, *([process] if to.startswith("Snakemake") else [])]:
        one.send_signal(signal.SIGTERM)
    fault(f"SIGTERM to {to} within an epoch")
    output, _ = process.communicate()
    assert process.returncode != 0
    reported = re.search(r"train: stopped by SIGTERM in epoch (\d), after (\d) of 6 steps; the state", output)
    assert "Traceback" not in output
    saved = checkpoints.load(resume)["progress"]
    assert (len(saved["history"]) + 1, saved["steps"]) == (int(reported[1]), int(reported[2]))
    assert saved["steps"] > 0
    monkeypatch.delenv("FAULT")
    untrained.build(f"{RUN}/errors.csv")
    untrained.assert_undisturbed()


def test_training_that_runs_out_of_memory_takes_its_batches_in_parts(untrained, fault, monkeypatch):
    undisturbed = untrained.made[f"{RUN}/history.csv"].decode().splitlines()
    monkeypatch.setenv("FAULT", "memory")
    fault("out of memory in a training step")
    output = untrained.build(f"{RUN}/errors.csv")
    assert "out of memory: continuing with 2 samples at once on" in output
    assert json.loads((untrained.folder / RUN / "cost.json").read_text())["micro_batch_size"] == 2
    for row, expected in zip(history(untrained), csv.DictReader(undisturbed), strict=True):
        numbers = [float(number or "nan") for number in expected.values()]
        assert row == pytest.approx(numbers, rel=1e-2, nan_ok=True)


def test_a_loss_that_is_no_number_is_reported_in_the_table(untrained, fault, monkeypatch):
    monkeypatch.setenv("FAULT", "nan")
    fault("NaN loss")
    untrained.build()
    with (untrained.folder / EXPERIMENT / "comparison.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "model"]
    assert {(row["status"], row["value"]) for row in rows} == {("diverged (epoch 3)", "")}
    assert "diverged (epoch 3)" in (untrained.folder / EXPERIMENT / "report.html").read_text()


def test_training_that_hangs_ends_with_its_stacks_and_goes_on(untrained, fault, monkeypatch):
    monkeypatch.setenv("FAULT", "hang")
    monkeypatch.setenv("RESOLVENT_STALL_SECONDS", "25")  # imports on a busy machine take some of it
    fault("a training job that hangs")
    output = untrained.build(f"{RUN}/checkpoint.pt", succeeds=False)
    log = (untrained.folder / f"logs/train/{RUN.removeprefix('results/')}.log").read_text()
    for text in (log, output):
        assert re.search(r"Timeout \(0:00:25\)!\n.*\n.*, line \d+ in gradients", text, re.DOTALL)
    assert len(checkpoints.load(untrained.folder / RUN / "resume.pt")["progress"]["history"]) == 1
    untrained.build(f"{RUN}/errors.csv")
    untrained.assert_undisturbed()
