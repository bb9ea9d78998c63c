"""The memory of a training step, predicted on shapes alone, against what torch's allocator gave out."""

import pytest
import torch
from model_variants import SMALL
from torch._C._profiler import _EventType
from torch.profiler import ProfilerActivity, profile

from resolvent.models.build import build
from resolvent.models.registry import ARCHITECTURES, settings_class
from resolvent.training.memory import step_memory

BATCH = 4
POINTS = {1: 256, 2: 24}


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


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_peak_of_a_step_is_predicted(architecture):
    points = POINTS[settings_class(architecture).dimension]
    predicted = step_memory(architecture, settings_of(architecture), points, BATCH, "float32")
    assert predicted.peak == pytest.approx(measured(architecture), rel=0.2)
    assert 0 < predicted.kept < predicted.peak


def test_checkpointing_and_a_smaller_batch_take_less():
    settings = SMALL["vit_no"] | {"num_layers": 6}
    (whole, half, recomputed) = (
        step_memory("vit_no", settings | more, 48, batch, "float32")
        for batch, more in ((4, {}), (2, {}), (4, {"checkpointing": True}))
    )
    assert half.kept == pytest.approx(whole.kept / 2, rel=0.05)
    assert recomputed.peak < 0.5 * whole.peak
