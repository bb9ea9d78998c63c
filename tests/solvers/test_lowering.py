"""Every solver in JAX is lowered for CUDA, in double precision and with the lanes of a GPU."""

import pkgutil
import sys

import jax
import numpy as np
import pytest

from resolvent.solvers.common.observation_times import explicit
from resolvent.solvers.controlled_ode import LANES as CONTROLLED_LANES
from resolvent.solvers.darcy import five_point
from resolvent.solvers.darcy.five_point import default_method
from resolvent.solvers.darcy.sine_transforms import LANES as DARCY_LANES
from resolvent.solvers.kolmogorov.flow import LANES as KOLMOGOROV_LANES
from resolvent.solvers.lorenz63 import LANES as LORENZ_LANES
from resolvent.solvers.registry import SOLVERS

TIMES = explicit((0.1, 0.2))


def flow(solver):
    vorticities = np.zeros((2, 13, 7), complex)
    vorticities[:, 1, 1] = 1.0
    return solver(num_modes=6).solve(vorticities, (0.02,))


# How a solver is called, and how many samples it is to compute at a time on a GPU.
CASES = {
    "resolvent.solvers.darcy.five_point:DarcyFivePoint": (
        lambda solver: solver(method=default_method()).solve(np.ones((2, 17, 17))),
        DARCY_LANES["gpu"],
    ),
    "resolvent.solvers.kolmogorov.etdrk4:KolmogorovEtdrk4": (flow, KOLMOGOROV_LANES["gpu"]),
    "resolvent.solvers.kolmogorov.split_step:KolmogorovSplitStep": (flow, KOLMOGOROV_LANES["gpu"]),
    "resolvent.solvers.lorenz63:Lorenz63": (
        lambda solver: solver(step=0.05).solve(np.ones((2, 3)), TIMES),
        LORENZ_LANES,
    ),
    "resolvent.solvers.controlled_ode:ControlledOde": (
        lambda solver: solver(1.0).solve(np.ones((2, 3)), np.ones((2, 3)), TIMES),
        CONTROLLED_LANES,
    ),
}


FOUND = {location: pkgutil.resolve_name(location) for location in CASES}


class Lowered(Exception):
    """Carries what was lowered out of the solver."""


def lowering(function):
    def lowered(*args, **kwargs):
        raise Lowered(jax.export.export(function, platforms=["cuda"])(*args, **kwargs))

    return lowered


@pytest.fixture
def gpu(monkeypatch):
    """Make the solvers believe in a GPU; compiled functions are lowered for it instead of being called."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(five_point, "find_spec", lambda name: name)  # JAX's plugin
    for name, module in list(sys.modules.items()):
        if name.startswith("resolvent.solvers."):
            for attribute, value in list(vars(module).items()):
                if isinstance(value, type(jax.jit(abs))):
                    monkeypatch.setattr(module, attribute, lowering(value))


def test_every_solver_is_lowered():
    in_jax = {name for name in SOLVERS if ".burgers." not in name}
    assert set(CASES) == {*in_jax, "resolvent.solvers.controlled_ode:ControlledOde"}


@pytest.mark.parametrize("location", CASES)
def test_a_solver_lowers_for_cuda(location, gpu):
    solve, lanes = CASES[location]
    with pytest.raises(Lowered) as caught:
        solve(FOUND[location])
    (exported,) = caught.value.args
    assert exported.platforms == ("cuda",)
    assert "stablehlo" in exported.mlir_module()
    # The samples come first, in double precision; so do the results.
    for block in (exported.in_avals[0], exported.out_avals[0]):
        assert block.shape[0] == lanes
        assert block.dtype in (np.float64, np.complex128)
