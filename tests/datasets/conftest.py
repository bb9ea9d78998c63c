"""Small datasets of every equation, made once a session, and one to damage; a server of objects."""

import logging
import shutil
from functools import partial

import pytest
from dataset_fixtures import made_once


@pytest.fixture(scope="session")
def card_of(tmp_path_factory):
    """Return a function that gives the card of a small dataset of an equation, which nobody changes."""
    return partial(made_once, tmp_path_factory)


@pytest.fixture
def made(card_of):
    return card_of("burgers", accuracy=1e-4).parent  # the settings are `small_settings`


@pytest.fixture
def dataset(made, tmp_path):
    return shutil.copytree(made, tmp_path / "burgers")


@pytest.fixture(scope="module")
def server():
    """The environment of a user of a server, with a bucket; gives a file system that looks into it."""
    from moto.backends import get_backend
    from moto.server import ThreadedMotoServer
    from s3fs import S3FileSystem

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv("AWS_PROFILE", raising=False)
        for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
            environment.setenv(name, "/dev/null")
        environment.setenv("AWS_EC2_METADATA_DISABLED", "true")
        environment.setenv("AWS_ENDPOINT_URL", "http://{}:{}".format(*server.get_host_and_port()))
        environment.setenv("AWS_ACCESS_KEY_ID", "a-name")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "a-secret")
        S3FileSystem.clear_instance_cache()
        system = S3FileSystem(use_listings_cache=False)
        system.mkdir("resolvent")
        yield system
    S3FileSystem.clear_instance_cache()
    server.stop()
    get_backend("s3").reset()  # objects belong to the process: the next server would have them
