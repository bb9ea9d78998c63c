"""Damaged and malicious checkpoints: one line, nothing executed, no wrong number taken for a right one."""

import os
import pickle
import random

import pytest
import torch
from training_fixtures import IDENTITY, SMALL_FNO, save_checkpoint, small_trainer

from resolvent.common.errors import FileError
from resolvent.models.build import build
from resolvent.training import checkpoints
from resolvent.training.checkpoints import trained_operator
from resolvent.training.errors import TrainingError
from resolvent.training.settings import TrainingSettings

STATE = {
    "identity": "a",
    "operator": {"weight": torch.linspace(0, 1, 60).reshape(20, 3)},
    "optimizer": {
        "state": {0: {"step": torch.tensor(3.0)}},
        "param_groups": [{"lr": 0.1, "betas": (0.9, 0.99)}],
    },
    "progress": {"history": [(1, 0.2, None)], "seconds": 1.5},
}


class Command:
    """A pickle of this runs a command when it is loaded."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.mark.parametrize("by", ["torch", "pickle"])
def test_a_malicious_checkpoint_is_refused_and_not_executed(by, tmp_path):
    mark, trainer = tmp_path / "executed", small_trainer(tmp_path)
    path, content = trainer.resume_path, {"identity": "a", "operator": Command(mark)}
    if by == "torch":
        torch.save(content, path)
    else:
        path.write_bytes(pickle.dumps(content))
    for read in (trainer.fit, lambda: checkpoints.load(path)):
        with pytest.raises(TrainingError, match=r"resume.pt is damaged \(.*\); delete it and run") as raised:
            read()
        assert len(str(raised.value).splitlines()) == 1
    assert not mark.exists()
    torch.load(path, weights_only=False) if by == "torch" else pickle.loads(path.read_bytes())
    assert mark.exists()  # it would have been


@pytest.mark.parametrize("content", [b"", b"hello", b"\x80\x02.", [1, 2], {"identity": "a"}])
def test_another_file_is_no_checkpoint(content, tmp_path):
    path = tmp_path / "checkpoint.pt"
    with pytest.raises(TrainingError, match="is missing; run snakemake"):
        checkpoints.load(path)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        torch.save(content, path)
    with pytest.raises(TrainingError, match="is damaged"):
        checkpoints.load(path)


def same(one, other) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def test_a_flipped_byte_is_reported_or_does_not_matter(tmp_path):
    path, random_byte = tmp_path / "checkpoint.pt", random.Random(0)
    checkpoints.save(STATE, path)
    whole, reported = path.read_bytes(), 0
    for _ in range(300):
        content = bytearray(whole)
        content[random_byte.randrange(len(content))] ^= 1 << random_byte.randrange(8)
        path.write_bytes(content)
        try:
            assert same(checkpoints.load(path), STATE)
        except TrainingError:
            reported += 1
    assert 100 < reported < 300  # the rest is padding, and dates of the archive


def run_folder(folder, **changes):
    state = {"operator": None, "architecture": "fno1d", "settings": {}, "training": {}}
    save_checkpoint(folder, {**state, **changes})
    return folder


def test_the_checkpoint_of_another_run_is_refused(tmp_path):
    assert checkpoints.load_run(run_folder(tmp_path))["seed"] == IDENTITY["seed"]
    for name, value in (("seed", 4), ("config_hash", "d" * 12), ("resolution", "dt0.01")):
        run_folder(tmp_path, **{name: value})
        words = (
            rf"checkpoint\.pt belongs to another run \({name} {value} instead of {IDENTITY[name]}\): delete"
        )
        with pytest.raises(FileError, match=words):
            checkpoints.load_run(tmp_path)
        assert checkpoints.load_run(tmp_path, IDENTITY | {name: value})[name] == value


@pytest.mark.parametrize("key", checkpoints.KEYS)
def test_a_checkpoint_without_a_key_is_refused(key, tmp_path):
    path = run_folder(tmp_path) / "checkpoint.pt"
    state = checkpoints.load(path)
    del state[key]
    checkpoints.save(state, path)
    with pytest.raises(TrainingError, match=rf"checkpoint\.pt (has no '{key}'|is damaged).*; delete it"):
        checkpoints.load_run(tmp_path)


def test_weights_of_another_architecture_are_refused(tmp_path):
    operator = build("fno1d", SMALL_FNO, seed=0)
    state = {"architecture": "fno1d", "settings": SMALL_FNO, "operator": operator.state_dict()}
    state["training"] = TrainingSettings(normalisation="none").model_dump(mode="json")
    assert trained_operator(state) is not None
    others = {"settings": SMALL_FNO | {"width": 6}}, {"operator": {}}, {"training": {"epochs": "no"}}
    for changed in others:
        with pytest.raises(TrainingError, match=r"fno1d with its settings .*; delete it") as raised:
            trained_operator(state | changed)
        assert len(str(raised.value).splitlines()) == 1
