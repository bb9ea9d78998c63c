"""Every architecture: two processes with half a batch each take the step that one takes with all of it."""

import pytest
import torch
import torch.distributed as distributed
from model_variants import SMALL, points
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from models.build import build
from models.registry import ARCHITECTURES
from solvers.grid import Grid
from training.losses import RelativeLoss

RANKS, BATCH = 2, 4
WHOLE = slice(None)


def operator_and_batch(architecture):
    """A small operator in double precision, coordinates, inputs and targets, the same in every process."""
    operator = build(architecture, SMALL[architecture], seed=3).double()
    x = points(architecture, dtype=torch.float64)
    generator = torch.Generator().manual_seed(5)
    u = torch.randn(BATCH, *x.shape, dtype=torch.float64, generator=generator)[..., :1]
    with torch.no_grad():
        shape = operator(u, x).shape
    return operator, x, u, torch.randn(shape, dtype=torch.float64, generator=generator).squeeze(-1)


def weights_after_a_step(architecture, rows, wrap=lambda operator: operator):
    """Loss, clipping and Adam as in training, on these rows of the batch."""
    operator, x, u, target = operator_and_batch(architecture)
    optimizer = torch.optim.Adam(operator.parameters(), lr=1e-2, fused=True)
    wrapped = wrap(operator)  # kept until the backward pass, in which it averages
    prediction = wrapped(u[rows], x).squeeze(-1)
    loss = RelativeLoss(Grid("periodic", 2), 0.0, squared=False)(prediction, target[rows])
    loss.backward()
    nn.utils.clip_grad_norm_(operator.parameters(), 1e-2)
    optimizer.step()
    return operator.state_dict()


def step_in_a_group(rank, folder):
    """What a process does: all architectures, one after another."""
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=RANKS
    )
    half = BATCH // RANKS
    rows = slice(rank * half, (rank + 1) * half)
    states = {name: weights_after_a_step(name, rows, DistributedDataParallel) for name in ARCHITECTURES}
    torch.save(states, f"{folder}/rank{rank}.pt")
    distributed.destroy_process_group()


@pytest.fixture(scope="module")
def of_the_ranks(tmp_path_factory):
    """Weights after the step, by rank and architecture."""
    folder = tmp_path_factory.mktemp("group")
    torch.multiprocessing.spawn(step_in_a_group, (str(folder),), nprocs=RANKS)
    return [torch.load(folder / f"rank{rank}.pt", weights_only=True) for rank in range(RANKS)]


def distance(state, other):
    return max((state[name] - other[name]).abs().max().item() for name in state)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_two_processes_take_the_step_of_one(of_the_ranks, architecture):
    """A step is 0.01 long; in double precision, for Adam's first step is g/|g| where g is itself rounding."""
    whole = weights_after_a_step(architecture, WHOLE)
    for weights in of_the_ranks:
        assert distance(weights[architecture], whole) < 1e-7
    half = weights_after_a_step(architecture, slice(0, BATCH // RANKS))
    assert distance(half, whole) > 1e-3
