"""What all tests have in common."""

import gc
import importlib.metadata
import os
import shutil
import tempfile
from collections import Counter
from functools import cache

import pytest

from resolvent.planning.job import keep_compiled

# `make test` runs two processes: threads of theirs that wait for one another would take the cores from both.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

# What JAX compiles in one process of the tests, or in a job that it starts, is there for all others, in
# a folder of this run of the tests, which the first of its processes makes and removes.
COMPILED = "JAX_COMPILATION_CACHE_DIR"
MADE = None if COMPILED in os.environ else tempfile.mkdtemp(prefix="resolvent-compiled-")
os.environ.setdefault(COMPILED, MADE or "")
keep_compiled()

# Each training asks, for half a second, what packages are installed; during the tests they stay the same.
importlib.metadata.packages_distributions = cache(importlib.metadata.packages_distributions)


def pytest_unconfigure():
    """Remove what was compiled."""
    if MADE:
        shutil.rmtree(MADE, ignore_errors=True)


# Files that take longest, in the order in which `make test` starts them: a long one that came last would keep
# one process busy while the other has nothing left.
FIRST = (
    "test_pipeline.py",
    "test_object_store.py",
    "test_outside.py",
    "test_public_data.py",
    "test_pages.py",  # of the study that the first has built
    "test_tutorials.py",
    "test_launch.py",
    "test_accuracy.py",
    "test_site.py",
    "test_reruns.py",
    "test_darcy.py",
    "test_without_waiting.py",
    "test_devices.py",
    "test_figures.py",
    "test_judging.py",
    "test_every_task.py",
    "test_shown.py",
    "test_run_on_the_square.py",
    "test_architectures.py",
    "test_lorenz63.py",
    "test_unlike_axes.py",
    "test_verify.py",
    "test_report.py",
    "test_fit.py",
)


def pytest_collection_finish():
    """Look for garbage less often, and not among what the tests have imported: a look takes a second."""
    gc.freeze()
    gc.set_threshold(100_000)


def pytest_collection_modifyitems(items):
    """Let the longest come first."""
    rank = {name: number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: rank.get(item.path.name, len(FIRST)))


@pytest.fixture
def fault(record_property):
    """Call it with the kind of a fault that was injected; it is survived if the test passes."""
    return lambda kind: record_property("fault", kind)


def pytest_terminal_summary(terminalreporter):
    injected, survived = Counter(), Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            kinds = [value for name, value in report.user_properties if name == "fault"]
            injected.update(kinds)
            survived.update(kinds if outcome == "passed" else [])
    if injected:
        terminalreporter.section("faults survived / injected")
        for kind, count in sorted(injected.items()):
            terminalreporter.write_line(f"{survived[kind]:4} / {count:<4} {kind}")
        terminalreporter.write_line(
            f"{survived.total():4} / {injected.total():<4} faults survived / injected"
        )
