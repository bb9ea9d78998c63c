"""Forward passes never wait for their device: they run on shapes without numbers, and compile."""

import copy
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from model_variants import NAMES, SMALL, VARIANTS, points

from resolvent.models.build import build
from resolvent.models.layers.quadrature import trapezoid_weights

# The package calls opt_einsum, which reads the number of its thread. Two of its models show it: those left
# out fail alike, after the compiler has traced contractions for half a minute.
NOT_COMPILED = {"neuraloperator1d", "neuraloperator2d"}
LEFT_OUT = {"TFNO", "CODANO"}

HELPERS = Path(__file__).parents[1] / "helpers"
COMPILING = f"""
import torch
from model_variants import NAMES, SMALL, VARIANTS, points
from resolvent.models.build import build

for name, (architecture, settings) in zip(NAMES, VARIANTS):
    if architecture == "transformer2d" and settings["attention"] != "galerkin":
        continue  # the encoder is that of transformer1d
    if settings.get("model") in {LEFT_OUT}:
        continue
    # All layers are alike, but for those of the package and of DeepONet.
    one = "num_layers" in SMALL[architecture] and "model" not in settings and "deeponet" not in architecture
    fewer = {{"num_layers": 1}} if one else {{}}
    operator = build(architecture, {{**SMALL[architecture], **settings, **fewer}}, seed=0).eval()
    x = points(architecture)
    u = torch.randn(2, *x.shape[:-1], 1)
    torch._dynamo.reset()
    try:
        with torch.no_grad():
            v = torch.compile(operator, fullgraph=True, backend="eager")(u, x)
            print(name, "equal" if torch.equal(v, operator(u, x)) else "another result")
    except torch._dynamo.exc.Unsupported:
        print(name, "Unsupported")
"""


@pytest.fixture
def operator(variant):
    architecture, settings = variant
    return build(architecture, {**SMALL[architecture], **settings}, seed=0).eval()


def test_no_constant_is_on_another_device_and_no_value_is_looked_at(variant, operator):
    """A number taken to the CPU, or a tensor left on it, is an error on the device "meta"."""
    x = points(variant[0])
    u = torch.randn(2, *x.shape[:-1], 1)
    elsewhere = copy.deepcopy(operator).to("meta")
    v = elsewhere(u.to("meta").requires_grad_(), x.to("meta"))
    assert v.is_meta
    assert v.shape == operator(u, x).shape
    v.square().sum().backward()
    assert all(parameter.grad.shape == parameter.shape for parameter in elsewhere.parameters())


def test_all_compile_as_one_graph_to_the_same_numbers():
    """Run in a process of its own: the compiler cannot trace the shape checks that tests add to functions."""
    finished = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COMPILING], cwd=HELPERS, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stderr
    expected = [
        f"{name} {'Unsupported' if architecture in NOT_COMPILED else 'equal'}"
        for name, (architecture, settings) in zip(NAMES, VARIANTS, strict=True)
        if architecture != "transformer2d" or settings["attention"] == "galerkin"
        if settings.get("model") not in LEFT_OUT
    ]
    assert finished.stdout.splitlines() == expected


def test_nodes_elsewhere_than_on_the_cpu_are_not_looked_at():
    falling = torch.tensor([[1.0], [0.0]])
    assert trapezoid_weights(falling.to("meta")).shape == (2,)
    with pytest.raises(ValueError, match="nodes that increase"):
        trapezoid_weights(falling)
