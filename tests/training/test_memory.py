"""The memory of a step, predicted on shapes alone, against torch's allocator; operations, by hand."""

import pytest
import torch
from model_variants import OF_EACH_FAMILY, SMALL
from torch import nn
from torch._C._profiler import _EventType
from torch.profiler import ProfilerActivity, profile

from benchmarks.steps.memory import step_memory
from resolvent.models.build import build
from resolvent.models.registry import settings_class
from resolvent.training.operations import counted, forward_operations

BATCH = 4
POINTS = {1: 256, 2: 24, 3: 16}


def settings_of(architecture):
    return SMALL[architecture] | ({"points": POINTS[2]} if architecture == "afno" else {})


def allocated(step):
    """Return the most bytes that torch's allocator gave out in a step, beyond those before it."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        step()
    waiting, changes = list(profiler.profiler.kineto_results.experimental_event_tree()), []
    while waiting:
        event = waiting.pop()
        waiting += event.children
        if event.tag == _EventType.Allocation:
            changes.append((event.start_time_ns, event.extra_fields.alloc_size))
    now = peak = 0
    for _, change in sorted(changes, key=lambda pair: pair[0]):
        now += change
        peak = max(peak, now)
    return peak


def measured(architecture):
    """Return the peak of the second step of a training, weights and Adam's averages included."""
    torch.set_num_threads(1)
    operator = build(architecture, settings_of(architecture), seed=0).train()
    parameters = list(operator.parameters())
    optimizer = torch.optim.Adam(parameters, fused=True)
    dimension = settings_class(architecture).dimension
    axis = torch.linspace(0, 1, POINTS[dimension])
    x = torch.stack(torch.meshgrid(*[axis] * dimension, indexing="ij"), dim=-1)
    u = torch.randn(BATCH, *x.shape[:-1], 1)

    def step():
        optimizer.zero_grad(set_to_none=True)
        operator(u, x).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()

    step()
    optimizer.zero_grad(set_to_none=True)
    held = 3 * sum(one.numel() * one.element_size() for one in parameters)  # weights and averages
    return held + sum(one.numel() * one.element_size() for one in operator.buffers()) + allocated(step)


@pytest.mark.parametrize("architecture", OF_EACH_FAMILY)
def test_the_peak_of_a_step_is_predicted(architecture):
    points = POINTS[settings_class(architecture).dimension]
    predicted = step_memory(architecture, settings_of(architecture), points, BATCH, "float32")
    assert predicted.peak == pytest.approx(measured(architecture), rel=0.2)
    assert 0 < predicted.weights < predicted.peak


def test_checkpointing_and_a_smaller_batch_take_less():
    settings = SMALL["vit_no"] | {"num_layers": 6}
    (whole, half, recomputed) = (
        step_memory("vit_no", settings | more, 48, batch, "float32")
        for batch, more in ((4, {}), (2, {}), (4, {"checkpointing": True}))
    )
    assert half.peak < 0.7 * whole.peak
    assert recomputed.peak < 0.5 * whole.peak


def test_a_complex_product_counts_as_one():
    a, b = torch.ones(3, 4, dtype=torch.complex64), torch.ones(4, 5, dtype=torch.complex64)
    assert counted(lambda: a @ b) == 2 * 3 * 4 * 5


def test_operations_of_attention_between_all_points():
    """Four d x d maps, QKᵀ and AV of N² d each, and the two of the feed-forward, in every layer."""
    points, d, hidden, layers = 6 * 6, 8, 12, 2
    operator = build(
        "tno2d", {"width": d, "num_layers": layers, "num_heads": 2, "feedforward_width": hidden}, seed=0
    )
    x = torch.stack(torch.meshgrid(torch.arange(6.0), torch.arange(6.0), indexing="ij"), dim=-1)
    layer = 2 * points * (4 * d * d + 2 * d * hidden) + 4 * points**2 * d
    expected = 2 * points * (3 * d + d) + layers * layer
    assert forward_operations(operator, torch.ones(1, 6, 6, 1), x) == expected


class Elsewhere(nn.Module):
    """An operator that takes a product more on its device than on a CPU."""

    def __init__(self):
        super().__init__()
        self.products = 2

    def cpu(self):
        self.products = 1
        return self

    def forward(self, u, x):
        return sum(u @ u for _ in range(self.products))


def test_operations_are_those_on_a_cpu():
    assert forward_operations(Elsewhere(), torch.ones(3, 3), torch.ones(3)) == 2 * 3**3
