"""Damaged and malicious checkpoints: one line, nothing executed, no wrong number taken for a right one."""

import os
import pickle
import random

import pytest
import torch
from training_fixtures import small_trainer

from resolvent.training import checkpoints
from resolvent.training.errors import TrainingError

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


def plain_pickle(content, path):
    path.write_bytes(pickle.dumps(content))


@pytest.fixture
def mark(tmp_path):
    return tmp_path / "executed"


@pytest.mark.parametrize(
    ("write", "read"),
    [
        (torch.save, lambda path: torch.load(path, weights_only=False)),
        (plain_pickle, lambda path: pickle.loads(path.read_bytes())),
    ],
)
@pytest.mark.parametrize("name", ["checkpoint.pt", "resume.pt"])
def test_a_malicious_checkpoint_is_refused_and_not_executed(write, read, name, tmp_path, mark):
    path = tmp_path / name
    write({"identity": "a", "operator": Command(mark)}, path)
    with pytest.raises(
        TrainingError, match=rf"the checkpoint .*{name} is damaged \(.*\); delete it and run"
    ) as raised:
        checkpoints.load(path)
    assert len(str(raised.value).splitlines()) == 1
    assert not mark.exists()
    read(path)
    assert mark.exists()  # it would have been


def test_a_run_does_not_resume_from_a_malicious_file(tmp_path, mark):
    trainer = small_trainer(tmp_path)
    torch.save({"identity": "a", "operator": Command(mark)}, trainer.resume_path)
    with pytest.raises(TrainingError, match="it holds more than numbers and text, and is not executed"):
        trainer.fit()
    assert not mark.exists()


@pytest.mark.parametrize("content", [b"", b"hello", b"\x80\x02.", [1, 2], {"identity": "a"}])
def test_another_file_is_no_checkpoint(content, tmp_path):
    path = tmp_path / "checkpoint.pt"
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
