import cluster
import pytest
from runs import Study


@pytest.fixture(scope="module", autouse=True)
def running_cluster():
    """Started for the tests of a file, as others break it, and stopped also when one of them fails."""
    cluster.start()
    yield
    cluster.stop()


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """A small study to be copied, and broken."""
    return Study(tmp_path_factory.mktemp("study") / "study")
