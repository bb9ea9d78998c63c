"""Cached tensors of layers: whatever asks first, later calls get plain tensors with the same values."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

# Each case has sizes of its own, so that every cache is empty when `FIRST` calls the layer.
PROGRAM = """
import json, warnings
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from resolvent.models.layers.resampling import by_matrices, hat_functions
from resolvent.models.layers.spectral_convolution import SpectralConvolution, truncated_fourier_matrices

warnings.simplefilter("ignore")


class Convolution(SpectralConvolution):
    shape, cached = (1, 2), truncated_fourier_matrices

    def __init__(self):
        super().__init__(in_channels=2, out_channels=2, modes=3, initialisation="li")


class Resampling(torch.nn.Module):
    cached = hat_functions

    def forward(self, u):
        return by_matrices(u, (3, 3))


def in_inference_mode(layer, u):
    with torch.inference_mode():
        layer(u)


def in_autocast(layer, u):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        layer(u)


def with_fake_tensors(layer, u):
    with FakeTensorMode(allow_non_fake_inputs=True):
        layer(u)


FIRST = {
    "torch.export": lambda layer, u: torch.export.export(layer, (u,)),
    "torch.compile": lambda layer, u: torch.compile(layer, backend="aot_eager")(u),
    "torch.jit.trace": lambda layer, u: torch.jit.trace(layer, (u,)),
    "make_fx": lambda layer, u: make_fx(layer, tracing_mode="fake", _allow_non_fake_inputs=True)(u),
    "fake tensors": with_fake_tensors,
    "functionalize": lambda layer, u: torch.func.functionalize(layer)(u),
    "inference mode": in_inference_mode,
    "autocast": in_autocast,
    "another device": lambda layer, u: layer.to("meta")(u.to("meta")),
    "another precision": lambda layer, u: layer.double()(u.double()),
}


def fault_of(kind, n, u, first):
    first(kind(), u)
    kind()(u.clone().requires_grad_()).sum().backward()  # not possible with tensors of inference mode
    sizes = n, 3, torch.device("cpu"), torch.float32
    tensors = [kind.cached(*sizes), kind.cached.__wrapped__(*sizes)]
    cached, made = ([pair] if torch.is_tensor(pair) else pair for pair in tensors)
    for tensor, expected in zip(cached, made, strict=True):
        if type(tensor) is not torch.Tensor or (tensor.device, tensor.dtype) != (sizes[2], sizes[3]):
            return f"the cache has a {type(tensor).__name__} on {tensor.device} of {tensor.dtype}"
        if not torch.equal(tensor, expected):
            return "the cached tensor has other values"
    return ""


faults = {}
for number, (name, first) in enumerate(FIRST.items()):
    n = 16 + 2 * number
    for kind, u in ((Convolution, torch.rand(1, n, 2)), (Resampling, torch.rand(1, 2, n, n))):
        try:
            faults[f"{kind.__name__}, {name}"] = fault_of(kind, n, u, first)
        except Exception as error:
            faults[f"{kind.__name__}, {name}"] = f"{type(error).__name__}: {str(error)[:300]}"
print(json.dumps(faults))
"""
CASES = [
    f"{layer}, {name}"
    for layer in ("Convolution", "Resampling")
    for name in re.findall(r'^    "(.+)": ', PROGRAM, flags=re.MULTILINE)
]


@pytest.fixture(scope="module")
def faults():
    """Return the fault of each case, empty if there is none; all run in one new process."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("case", CASES)
def test_a_cache_is_right_whoever_fills_it(case, faults):
    assert faults[case] == ""


def test_every_cache_of_tensors_is_one_of_these():
    files = (Path(__file__).parents[3] / "models").rglob("*.py")
    cache = re.compile(r"@(lru_)?cached?\b|lru_cache")
    names = {path.name for path in files if cache.search(path.read_text("utf-8"))}
    assert names == {"common.py", "resampling.py", "spectral_convolution.py"}
