"""Importing a solver has no effect on the process: what is imported beside it computes as before."""

import subprocess
import sys
from pathlib import Path

SOLVERS = Path(__file__).resolve().parents[2] / "solvers"
PROGRAM = """
import importlib, sys
import jax
from jax._src import xla_bridge
for module in sys.argv[1:]:
    importlib.import_module(module)
    assert not jax.config.jax_enable_x64, f"{module} switches JAX to double precision"
    assert not xla_bridge.backends_are_initialized(), f"{module} starts a backend of JAX"
"""
BARE = """
import importlib, sys
for module in sys.argv[1:]:
    importlib.import_module(module)
sys.exit("jax" in sys.modules)
"""


def modules(folder=SOLVERS):
    names = []
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(SOLVERS.parent).with_suffix("").parts
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def test_importing_every_module_neither_switches_precision_nor_starts_a_backend():
    assert len(modules()) > 25
    run = subprocess.run([sys.executable, "-c", PROGRAM, *modules()], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_the_grid_the_fields_and_the_multigrid_solver_do_not_import_jax():
    bare = [
        "resolvent.solvers.common.grid",
        "resolvent.solvers.darcy.five_point",
        *modules(SOLVERS / "random_fields"),
    ]
    assert subprocess.run([sys.executable, "-c", BARE, *bare]).returncode == 0
