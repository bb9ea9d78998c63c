"""Torch's Adam, sums of gradients and counts do the same where its compiler cannot be imported."""

import sys

import torch
from torch import distributed, nn

from resolvent.training.eager import Adam, SummedGradients
from resolvent.training.operations import counted


def trained(kind):
    layer = nn.Linear(3, 2)
    layer.load_state_dict({"weight": torch.arange(6.0).view(2, 3), "bias": torch.ones(2)})
    optimizer = kind(layer.parameters(), lr=0.1, weight_decay=0.01, fused=True)
    for _ in range(3):
        optimizer.zero_grad(set_to_none=True)
        layer(torch.ones(4, 3)).square().sum().backward()
        optimizer.step()
    other = kind(layer.parameters(), lr=0.5, fused=True)
    other.load_state_dict(optimizer.state_dict())
    assert other.param_groups[0]["lr"] == 0.1
    return layer.weight.detach()


def test_nothing_imports_the_compiler_and_the_steps_are_torchs_own(monkeypatch):
    expected = trained(torch.optim.Adam)
    monkeypatch.setitem(sys.modules, "torch._dynamo", None)  # an import of it fails
    assert torch.equal(trained(Adam), expected)
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    layer = nn.Linear(3, 2)
    SummedGradients(layer)(torch.ones(4, 3)).sum().backward()
    distributed.destroy_process_group()
    assert torch.equal(layer.weight.grad, torch.full((2, 3), 4.0))
    assert counted(lambda: torch.ones(4, 3) @ torch.ones(3, 2)) == 2 * 4 * 3 * 2
