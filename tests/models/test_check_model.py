"""The check of a model before its training: twelve broken models and more, and none of ours is accused."""

import pytest
import torch
from model_variants import SMALL, points
from torch import nn

from resolvent.models.build import build
from resolvent.models.registry import ARCHITECTURES, missing_packages
from resolvent.training.check_model import findings


class Sound(nn.Module):
    """Two residual blocks around which the models below are broken."""

    def __init__(self, dimension=1, width=8, in_channels=1):
        super().__init__()
        self.lift = nn.Linear(in_channels + dimension, width)
        self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.project = nn.Linear(width, 1)

    def lifted(self, u, x):
        return self.lift(torch.cat([u, x.expand(len(u), *x.shape)], -1))

    def through(self, y):
        for block in self.blocks:
            y = y + torch.relu(block(y))
        return y

    def forward(self, u, x):
        return self.project(self.through(self.lifted(u, x)))


class DropsBlocks(Sound):
    def through(self, y):
        for block in self.blocks:
            block(y)
        return y


class BlockOfNothing(Sound):
    def through(self, y):
        for block in self.blocks:
            y = y + torch.softmax(block(y).sum(-1, keepdim=True), -1)  # one channel: always 1
        return y


class NeverCalls(Sound):
    def through(self, y):
        return y


class Detaches(Sound):
    def lifted(self, u, x):
        return super().lifted(u, x).detach()


class PlainList(Sound):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        layers = [nn.Linear(8, 8) for _ in range(2)]
        del self.blocks
        self.blocks = layers


class PlainTensor(Sound):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.scale = torch.ones(8)

    def through(self, y):
        return super().through(y * self.scale)


class IgnoresInput(Sound):
    def lifted(self, u, x):
        return super().lifted(torch.zeros_like(u), x)


class IgnoresChannel(Sound):
    def lifted(self, u, x):
        return super().lifted(u * torch.tensor([1.0, 0.0]), x)


class MixesSamples(Sound):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.attention = nn.MultiheadAttention(8, 2)  # without batch_first: along the batch

    def through(self, y):
        return super().through(y + self.attention(y, y, y)[0])


class Squeezes(Sound):
    def forward(self, u, x):
        return super().forward(u, x).squeeze().unsqueeze(-1)


class SwapsAxes(Sound):
    def forward(self, u, x):
        return super().forward(u, x).transpose(1, 2)


class IsConstant(Sound):
    def through(self, y):
        return super().through(y).mean(1, keepdim=True).expand_as(y)


class DropsAlways(Sound):
    def through(self, y):
        return super().through(nn.functional.dropout(y, 0.2))


class Remembers(Sound):
    calls = 0

    def through(self, y):
        self.calls += 1
        return super().through(y) * self.calls


class Overflows(Sound):
    def through(self, y):
        return super().through(y).half().mul(1e5).float() if self.half(y) else super().through(y)

    def half(self, y):
        return torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") == torch.float16


class WithoutHalf(Sound):
    def through(self, y):
        return super().through(torch.complex(y, y).abs())


class RootOfZero(Sound):
    def through(self, y):
        return super().through(y) + (y - y).square().sum(-1, keepdim=True).sqrt()


def functions(dimension=1, channels=1, samples=3):
    """Return smooth functions that differ from sample to sample, and their coordinates."""
    axis = torch.arange(12) / 12
    x = torch.stack(torch.meshgrid(*[axis] * dimension, indexing="ij"), -1)
    phases = torch.randn(samples, *[1] * dimension, channels, generator=torch.Generator().manual_seed(0))
    return torch.sin(2 * torch.pi * x.sum(-1, keepdim=True) + 3 * phases), x


BROKEN = {
    DropsBlocks: "removing blocks.0, blocks.1 changes nothing: use its output in forward",
    BlockOfNothing: "removing blocks.0, blocks.1 changes nothing",
    NeverCalls: "forward never calls blocks: call it, or remove it",
    Detaches: "parameters without gradient: lift.bias, lift.weight; use them, without detach()",
    PlainList: "plain list or dictionary holds is neither trained nor saved: blocks; use torch.nn.ModuleList",
    PlainTensor: "plain tensors are neither trained, saved nor moved to a GPU: scale; use torch.nn.Parameter",
    IgnoresInput: "its output does not depend on the input: use `u`",
    MixesSamples: "depends on its batch: the first axis is the batch",
    Squeezes: "it returns (12, 1) for a single sample (1, 12, 1); a batch may have one sample",
    IsConstant: "its output is constant in space",
    DropsAlways: "two calls in evaluation mode differ: let dropout and noise depend on self.training",
    Remembers: "two calls in evaluation mode differ",
    Overflows: "in float16 its output is infinite or NaN; compute this part in float32",
    WithoutHalf: "in bfloat16 a training step fails: RuntimeError: ",
    RootOfZero: "in float32 its gradient is infinite or NaN; mend this",
}


@pytest.mark.filterwarnings("ignore:ComplexHalf support")
@pytest.mark.parametrize("model", BROKEN)
def test_a_broken_model_is_one_line_with_its_remedy(model):
    torch.manual_seed(0)
    (line,) = findings(model(), *functions())
    assert BROKEN[model] in line
    assert "\n" not in line


def test_channels_and_axes_of_a_plane():
    torch.manual_seed(0)
    (ignored,) = findings(IgnoresChannel(in_channels=2), *functions(channels=2))
    assert ignored == "its output does not depend on input channel 1: use all channels of `u`"
    (swapped,) = findings(SwapsAxes(dimension=2), *functions(dimension=2))
    assert (
        swapped
        == "axes of space are swapped: on a rectangle it returns (3, 6, 12, 1) instead of (3, 12, 6, 1)"
    )


@pytest.mark.parametrize(("dimension", "channels"), [(1, 1), (2, 2)])
def test_a_sound_model_has_no_findings_with_blocks_that_begin_as_zero(dimension, channels):
    torch.manual_seed(0)
    operator = Sound(dimension, in_channels=channels)
    for block in operator.blocks:
        nn.init.zeros_(block.weight)
        nn.init.zeros_(block.bias)
    assert findings(operator, *functions(dimension, channels)) == []


def test_functions_that_do_not_differ_accuse_nobody():
    u, x = functions()
    assert findings(Sound(), u[:1].expand(2, -1, -1), x) == []
    assert findings(Sound(), u[:1], x) == []


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_no_architecture_of_ours_is_accused(architecture):
    if missing := missing_packages(architecture):
        pytest.skip(missing)
    x = points(architecture)
    u = torch.randn(3, *x.shape[:-1], 1, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(7)  # not the seed of the check
    before = torch.random.get_rng_state()
    assert findings(build(architecture, SMALL[architecture], seed=0), u, x) == []
    assert torch.equal(before, torch.random.get_rng_state())
