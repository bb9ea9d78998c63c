"""Damaged files: one line that names the file and a remedy, and the remedy works."""

import copy
import re
import shutil
from pathlib import Path

import pytest
from small_pipeline import EXPERIMENT, RUN, SMALL

from resolvent.common.files import read_json, write_json
from resolvent.planning.verify import faults_below

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


def test_a_truncated_state_of_training_is_reported_and_its_remedy_works(project, fault):
    project.forget(RUN)
    project.build(f"{RUN}/checkpoint.pt")
    truncate(project.folder / RUN / "resume.pt")
    fault("a truncated resume.pt")
    advice = reported_line(project, project.build(f"{RUN}/errors.csv", "-R", "train", succeeds=False))
    assert f"{RUN}/resume.pt is damaged" in advice
    follow(project, advice, f"{RUN}/errors.csv")
    project.assert_undisturbed()


def test_a_card_of_another_store_is_reported_and_its_remedy_works(project, fault):
    other, preview = copy.deepcopy(SMALL), project.preview
    other["datasets"]["burgers"]["viscosity"] = 0.2
    project.build("datasets", config=other | {"data_root": "others"})
    (store,) = (project.folder / "others/burgers").glob("*.zarr")
    shutil.copy(store.with_suffix(".json"), project.folder / f"{project.data}.json")
    fault("a card from another store")
    advice = reported_line(project, project.build(preview, succeeds=False))
    assert f"does not match the card {project.data}.json" in advice
    follow(project, advice, preview)
    project.assert_undisturbed()


@pytest.mark.filterwarnings("ignore::resolvent.common.digests.Unverified")
def test_a_run_of_another_model_is_named_and_its_remedy_works(project, fault):
    """`tests/planning/test_verify.py` and `tests/public/test_consent.py` have what else may be altered."""
    for name, change in (
        (f"{RUN}/run.json", {"experiment": "darcy"}),
        (f"{EXPERIMENT}/baselines/cost.json", {"experiment": "darcy"}),
        (f"{RUN}/run.json", {"model": "transformer"}),
    ):
        file = project.folder / name
        whole = file.read_bytes()
        write_json(file, read_json(file, "the record") | change)
        assert any(str(file.parent) in line for line in faults_below([project.folder / "results"]))
        if "experiment" in change:
            file.write_bytes(whole)
    fault("a run of another model, when it is compared")
    said = project.build(f"{EXPERIMENT}/comparison.csv", "-R", "compare", succeeds=False)
    assert "is of the run burgers/transformer/n64/" in said
    assert "delete this folder and run snakemake" in said
    assert "Traceback" not in said
    shutil.rmtree(project.folder / RUN)
    project.assert_undisturbed()
