"""Forward passes never wait for their device: they run on shapes without numbers, and compile."""

import copy
import json
import os
from pathlib import Path

import pytest
import torch
from model_variants import NAMES, SMALL, VARIANTS, points
from planning_forks import run_code
from torch.utils._python_dispatch import TorchDispatchMode

from resolvent.models.build import build
from resolvent.models.layers.continuum_attention import product_trapezoid_weights, trapezoid_weights

# A variant of each architecture, and one with each attention of the encoder that several have in common.
# Those of the package neuraloperator that are left out compile, too, in half a minute.
LEFT_OUT = {"TFNO", "UNO", "CODANO"}
COMPILED = {
    (architecture, settings.get("attention") if architecture == "transformer1d" else None): (
        name, architecture, settings
    )
    for name, (architecture, settings) in reversed(list(zip(NAMES, VARIANTS, strict=True)))
    if settings.get("model") not in LEFT_OUT
}  # fmt: skip
# Of each way to mix points one: the compiler takes a second for each. The others are `slow`.
QUICK = ("fno1d", "transformer2d_coarse", "universal_approximator2d", "afno", "deeponet2d", "unet3d")
HELPERS = Path(__file__).parents[1] / "helpers"
COMPILING = """
import gc, json, sys, warnings
gc.set_threshold(100_000)  # the compiler makes many objects and little garbage
warnings.simplefilter("ignore")
import torch
from model_variants import SMALL, points
from resolvent.models.build import build

for name, architecture, settings in json.loads(sys.argv[1]):
    # All layers are alike, but for those of the package and of DeepONet.
    one = "num_layers" in SMALL[architecture] and "model" not in settings and "deeponet" not in architecture
    fewer = {"num_layers": 1} if one else {}
    operator = build(architecture, {**SMALL[architecture], **settings, **fewer}, seed=0).eval()
    x = points(architecture)
    u = torch.randn(2, *x.shape[:-1], 1)
    torch._dynamo.reset()
    with torch.no_grad():
        v = torch.compile(operator, fullgraph=True, backend="eager")(u, x)
        print(name, "equal" if torch.equal(v, operator(u, x)) else "another result")
"""


# CODANO takes five seconds.
ON_META = [
    pytest.param(variant, id=name, marks=[pytest.mark.slow] * (variant[1].get("model") == "CODANO"))
    for name, variant in zip(NAMES, VARIANTS, strict=True)
]


@pytest.mark.parametrize("variant", ON_META)
def test_no_constant_is_on_another_device_and_no_value_is_looked_at(variant):
    """A number taken to the CPU, or a tensor left on it, is an error on the device "meta"."""
    architecture, settings = variant
    operator = build(architecture, {**SMALL[architecture], **settings}, seed=0).eval()
    x = points(architecture)
    u = torch.randn(2, *x.shape[:-1], 1)
    elsewhere = copy.deepcopy(operator).to("meta")
    v = elsewhere(u.to("meta").requires_grad_(), x.to("meta"))
    assert v.is_meta
    assert v.shape == operator(u, x).shape
    v.square().sum().backward()
    assert all(parameter.grad.shape == parameter.shape for parameter in elsewhere.parameters())


@pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_all_compile_as_one_graph_to_the_same_numbers(quick):
    """Run in a process of its own: the compiler cannot trace the shape checks that tests add to functions."""
    chosen = [one for one in COMPILED.values() if (one[1] in QUICK) == quick]
    assert len(chosen) >= len(QUICK)
    environment = os.environ | {"PYTHONPATH": str(HELPERS.parents[1])}
    status, output = run_code(HELPERS, COMPILING, json.dumps(chosen), environment=environment)
    assert status == 0, output
    assert output.splitlines() == [f"{name} equal" for name, *_ in chosen]


class Looks(TorchDispatchMode):
    """Count how often a number of a tensor is asked for."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += function is torch.ops.aten._local_scalar_dense.default
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("weights", [trapezoid_weights, product_trapezoid_weights])
def test_a_grid_is_looked_at_once(weights):
    axis = torch.linspace(0, 1, 4)
    one = weights is trapezoid_weights
    x = axis[:, None] if one else torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=-1)
    with Looks() as first:
        weights(x)
    with Looks() as second:
        weights(x)
        weights(x.to("meta"))
    assert first.count > 0
    assert second.count == 0
    x.copy_(x.flip(0))  # a grid that was changed is looked at again
    for _ in range(2):
        with pytest.raises(ValueError, match="nodes that increase"):
            weights(x)
