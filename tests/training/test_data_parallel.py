"""Every architecture: two processes that divide a batch take the step that one takes with all of it."""

import pytest
import torch
from model_variants import SMALL, points
from torch import nn

from resolvent.models.build import build
from resolvent.models.registry import ARCHITECTURES
from resolvent.solvers.common.grid import Grid
from resolvent.training.distributed.gradients import SharedOperator
from resolvent.training.distributed.group import ALONE
from resolvent.training.distributed.launch import launch
from resolvent.training.losses import RelativeLoss

RANKS, BATCH = 2, 5


def operator_and_batch(architecture):
    """A small operator in double precision, coordinates, inputs and targets, the same in every process."""
    operator = build(architecture, SMALL[architecture], seed=3).double()
    x = points(architecture, dtype=torch.float64)
    generator = torch.Generator().manual_seed(5)
    u = torch.randn(BATCH, *x.shape, dtype=torch.float64, generator=generator)[..., :1]
    with torch.no_grad():
        shape = operator(u, x).shape
    return operator, x, u, torch.randn(shape, dtype=torch.float64, generator=generator).squeeze(-1)


def weights_after_a_step(architecture, group, batch=BATCH):
    """Loss, clipping and Adam as in training, on these many samples."""
    operator, x, u, target = operator_and_batch(architecture)
    shared = SharedOperator(operator, group)
    optimizer = torch.optim.Adam(operator.parameters(), lr=1e-2, fused=True)
    rows = group.share(torch.arange(batch))
    relative = RelativeLoss(Grid("periodic", 2), 0.0, squared=False)
    with shared.passes(last=True):
        loss = relative(shared(u[rows], x).squeeze(-1), target[rows])
        (len(rows) / batch * loss).backward()
    assert not shared.make_up()
    nn.utils.clip_grad_norm_(operator.parameters(), 1e-2)
    optimizer.step()
    return operator.state_dict()


def step_in_a_group(group, folder):
    """What a process does: all architectures, one after another."""
    torch.set_num_threads(1)
    states = {name: weights_after_a_step(name, group) for name in ARCHITECTURES}
    torch.save(states, f"{folder}/rank{group.rank}.pt")


@pytest.fixture(scope="module")
def of_the_ranks(tmp_path_factory):
    """Weights after the step, by rank and architecture."""
    folder = tmp_path_factory.mktemp("group")
    launch("test_data_parallel:step_in_a_group", RANKS, [], {"folder": str(folder)})
    return [torch.load(folder / f"rank{rank}.pt", weights_only=True) for rank in range(RANKS)]


def distance(state, other):
    return max((state[name] - other[name]).abs().max().item() for name in state)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_two_processes_take_the_step_of_one(of_the_ranks, architecture):
    """A step is 0.01 long; in double precision, for Adam's first step is g/|g| where g is itself rounding."""
    whole = weights_after_a_step(architecture, ALONE)
    for weights in of_the_ranks:
        assert distance(weights[architecture], whole) < 1e-7
    part = weights_after_a_step(architecture, ALONE, batch=3)
    assert distance(part, whole) > 1e-3
