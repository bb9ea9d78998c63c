from pathlib import Path
import pytest


@pytest.fixture(scope="session")
def study():
    return Path("/work/wt-mv/results/demo")
