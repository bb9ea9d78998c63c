"""What all tests have in common."""

import os

# `make test` runs two processes: threads of theirs that wait for one another would take the cores from both.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"


def pytest_collection_modifyitems(items):
    """The pipeline's tests come first: beside all others they take longest."""
    items.sort(key=lambda item: item.path.name != "test_pipeline.py")
