import cluster
import pytest
from runs import Study


@pytest.fixture(scope="module", autouse=True)
def running_cluster(request):
    """Start a cluster for the tests of a file, as others break it; stop it also when one of them fails.

    It has as many hosts of their own as the file says by `HOSTS`, or is this machine.
    """
    cluster.start(getattr(request.module, "HOSTS", 0))
    yield
    cluster.stop()


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    return Study(tmp_path_factory.mktemp("study") / "study")
