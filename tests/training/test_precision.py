"""What the setting `precision` switches, and only in a step; and memory that a process keeps."""

import subprocess
import sys

import pytest
import torch
from training_fixtures import small_trainer

from resolvent.training.devices import choose_device
from resolvent.training.interruption import Interruption


def switches():
    return torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32


@pytest.mark.parametrize(("precision", "expected"), [("tf32", True), ("float32", False)])
def test_products_of_a_step_are_in_the_precision_asked_for(tmp_path, precision, expected):
    """Look at TF32, which torch allows convolutions of itself, in both passes of a step."""
    before, seen = switches(), []
    trainer = small_trainer(tmp_path, precision=precision, epochs=1)
    weight = next(trainer.operator.parameters())
    trainer.operator.register_forward_hook(lambda *_: seen.append(switches()))
    weight.register_hook(lambda gradient: seen.append(switches()))
    trainer._steps(1, Interruption())
    assert set(seen) == {(expected, expected)}
    assert len(seen) == 2 * trainer.steps_per_epoch
    assert switches() == before


def test_outside_of_a_step_convolutions_are_not_rounded_to_tf32():
    """Validation and evaluation are in float32, in each job that may use a GPU."""
    choose_device(gpus=0)
    assert torch.backends.cudnn.conv.fp32_precision != "tf32"
    assert switches() == (False, False)


FAULTS = """
import resource, torch
from resolvent.training.devices import keep_memory
for large, mebibytes, rounds in ((False, 16, 18), (False, 64, 3), (True, 64, 18)):
    keep_memory(large)
    faults = []
    for _ in range(rounds):  # the first ten or so may find no room for it in what was freed before
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        torch.ones(mebibytes * 2**18)
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    print(min(faults) * resource.getpagesize() // 2**20)
"""


@pytest.mark.slow
def test_memory_that_was_freed_is_taken_again_without_the_system():
    """Count faults, in MiB: each page that comes from the system is one. In a process that had freed none."""
    finished = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    small, large, large_kept = map(int, finished.stdout.split())
    assert small < 4
    assert large >= 64
    assert large_kept < 4
