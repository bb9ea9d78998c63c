import cluster
import pytest


@pytest.fixture(scope="session", autouse=True)
def running_cluster():
    """Started for these tests, and stopped also when one of them fails."""
    cluster.start()
    yield
    cluster.stop()
