import cluster
import pytest
from runs import Study


@pytest.fixture(scope="session", autouse=True)
def running_cluster():
    """Started for these tests, and stopped also when one of them fails."""
    cluster.start()
    yield
    cluster.stop()


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """A small study to be copied, and broken."""
    return Study(tmp_path_factory.mktemp("study") / "study")
