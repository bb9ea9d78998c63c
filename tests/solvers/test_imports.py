"""Importing a solver has no effect on the process: what is imported beside it computes as before."""

import subprocess
import sys
from pathlib import Path

SOLVERS = Path(__file__).resolve().parents[2] / "solvers"
PROGRAM = """
import importlib, sys
bare, others = sys.argv[1].split(), sys.argv[2].split()
for module in bare:
    importlib.import_module(module)
assert "jax" not in sys.modules, f"one of {bare} imports JAX"
import jax
from jax._src import xla_bridge
for module in others:
    importlib.import_module(module)
    assert not jax.config.jax_enable_x64, f"{module} switches JAX to double precision"
    assert not xla_bridge.backends_are_initialized(), f"{module} starts a backend of JAX"
"""


def modules(folder=SOLVERS):
    names = []
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(SOLVERS.parent).with_suffix("").parts
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def test_importing_neither_switches_precision_nor_starts_a_backend_and_some_do_without_jax():
    bare = ["resolvent.solvers.common.grid", "resolvent.solvers.darcy.five_point"]
    bare += modules(SOLVERS / "random_fields")
    assert len(modules()) > 25
    words = [sys.executable, "-c", PROGRAM, " ".join(bare), " ".join(modules())]
    run = subprocess.run(words, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
