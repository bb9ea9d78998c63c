"""Damaged files: one line names the file and a remedy, and the remedy works. Files of tomorrow do no harm."""

import os
import re
import time
from pathlib import Path

import pytest
from small_pipeline import EXPERIMENT, RUN

pytestmark = pytest.mark.faults


def reported_line(project, output):
    """The line that says what is damaged: several jobs, and the front page, may have met the same file."""
    assert "Traceback" not in output
    lines = {line.strip() for line in output.splitlines() if re.search("delete it|regenerate it with", line)}
    assert lines, output[-3000:]
    named = [{word.resolve() for word in files_in(project, line)} for line in lines]
    assert set.intersection(*named), output[-3000:]
    return min(lines)


def files_in(project, line):
    words = [project.folder / word for word in re.findall(r"[^\s:;]+", line)]
    return [word for word in words if word.exists() and word.resolve() != project.folder]


def follow(project, advice, target):
    """Do what a message says: delete the file that it names, run the command with the words that it gives."""
    if "delete it" in advice:
        (named,) = [file for file in files_in(project, advice) if file.is_file()]
        named.unlink()
    project.build(target, *re.search(r"snakemake ?(-R \w+)?", advice)[0].split()[1:])


def truncate(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def empty(path):
    path.write_bytes(b"")


CHUNK, PREVIEW = "{data}.zarr/n64/final_velocity/c/1/0", "{data}.preview.npz"
CASES = {  # what, in which file; the command that reads it: a target, and words where it would not run again
    "a flipped byte in a chunk": (flip, CHUNK, PREVIEW, "-R preview_burgers"),
    "a flipped byte before finalising": (flip, CHUNK, "datasets", "-R finalise_burgers"),
    "a deleted zarr.json": (Path.unlink, "{data}.zarr/zarr.json", PREVIEW, "-R preview_burgers"),
    "a truncated receipt": (truncate, "{data}.shards/1.json", "datasets", ""),
    "a truncated card": (truncate, "{data}.json", PREVIEW, ""),
    "a truncated preview": (truncate, PREVIEW, "all", ""),
    "a truncated checkpoint": (truncate, RUN + "/checkpoint.pt", RUN + "/errors.csv", ""),
    "an empty errors.csv": (empty, RUN + "/errors.csv", EXPERIMENT + "/comparison.csv", ""),
    "truncated predictions": (truncate, RUN + "/predictions.nc", "all", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_damage_is_reported_and_its_remedy_works(project, case, fault):
    damage, *words = CASES[case]
    name, target, force = (word.format(data=project.data) for word in words)
    damage(project.folder / name)
    fault(case)
    advice = reported_line(project, project.build(target, *force.split(), succeeds=False))
    assert name.partition(".zarr")[0] in advice
    follow(project, advice, target)
    project.assert_undisturbed()


@pytest.mark.parametrize(
    ("dated", "gone", "target"), [("data", RUN, ()), (RUN, f"{RUN}/errors.csv", (f"{RUN}/errors.csv",))]
)
def test_what_is_made_from_files_of_tomorrow_is_not_taken_for_outdated(project, dated, gone, target, fault):
    tomorrow = time.time() + 24 * 3600
    for path in (project.folder / dated).rglob("*"):
        if path.is_file():
            os.utime(path, (tomorrow, tomorrow))
    missing = project.folder / gone
    missing.unlink() if missing.is_file() else project.forget(gone)
    fault("a dataset or a checkpoint made by a clock a day ahead")
    project.build(*target)
    project.assert_undisturbed()
    assert project.planned() == {}
