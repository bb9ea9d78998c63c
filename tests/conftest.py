"""What all tests have in common."""

import gc
import os
import sys
from collections import Counter

import jax
import pytest

from resolvent.planning.job import keep_compiled

gc.set_threshold(100_000)  # what tests import makes many objects and little garbage

# `make test` runs two processes: threads of theirs that wait for one another would take the cores from both.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

# Many containers set it. Each of hundreds of processes would then compile the project afresh.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What JAX compiles in one process of the tests, or in a job that it starts, is there for all others and for
# the next run of the tests, as it is in a working folder. JAX reads the variables when it is imported, which
# the checks of shapes (`--jaxtyping-packages`) have done already, so its settings are changed as well.
keep_compiled()
for name, kind in (
    ("jax_compilation_cache_dir", str),
    ("jax_compilation_cache_max_size", int),
    ("jax_persistent_cache_min_compile_time_secs", float),
):
    jax.config.update(name, kind(os.environ[name.upper()]))


# Files that take longest, in the order in which `make test` starts them: a long one that came last would keep
# one process busy while the other has nothing left.
FIRST = (
    "test_pipeline.py",
    "test_reruns.py",
    "test_outside.py",
    "test_pages.py",  # of the study that the first has built
    "test_golden.py",
    "test_judging.py",
    "test_launch.py",
    "test_wheel.py",
    "test_object_store.py",
    "test_report.py",
    "test_figures.py",
    "test_shown.py",
    "test_devices.py",
    "test_consent.py",
)


def pytest_collection_finish():
    """Do not look for garbage among what the tests have imported: a look takes a second."""
    gc.freeze()


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
