"""What all tests have in common."""

import os
from collections import Counter

import pytest

# `make test` runs two processes: threads of theirs that wait for one another would take the cores from both.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"


def pytest_collection_modifyitems(items):
    """The pipeline's tests come first: beside all others they take longest."""
    items.sort(key=lambda item: item.path.name != "test_pipeline.py")


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
