"""The study whose pages are opened."""

import pytest
from pipeline_project import built_once


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """Return the results of the test configuration: two experiments, one of them with a diverged run."""
    return built_once(tmp_path_factory).folder / "results/test"
