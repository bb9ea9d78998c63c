"""Servers that do not answer, or refuse: said in seconds, and as what it is."""

import socket
import time

import pytest
from s3fs import S3FileSystem
from serving import answering, serving

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.readers import source
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.imported.sources import content_digest


@pytest.fixture
def silent():
    """Return the address of a server that accepts connections, and says nothing."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def refusal(address, act=open_source) -> str:
    start = time.perf_counter()
    with pytest.raises(DatasetError) as error:
        act(address)
    assert time.perf_counter() - start < 12
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("act", [open_source, content_digest])
@pytest.mark.parametrize("protocol", ["http", "s3"])
def test_a_silent_server_is_given_up_in_seconds(protocol, act, silent, monkeypatch):
    monkeypatch.setattr(source, "PATIENCE", 1)
    address = f"http://{silent}/data.h5"
    if protocol == "s3":
        S3FileSystem.clear_instance_cache()
        names = ("ENDPOINT_URL", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "EC2_METADATA_DISABLED")
        for name, value in zip(names, (f"http://{silent}", "a", "b", "true"), strict=True):
            monkeypatch.setenv(f"AWS_{name}", value)
        address = "s3://bucket/data.h5"
    said = refusal(address, act)
    assert (
        said == f"the address {address} cannot be read (the server does not answer within 1 s); expected: a "
        "file or a Zarr store"
    )


@pytest.mark.parametrize("act", [open_source, content_digest])
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, "the server answers 500 Internal Server Error"),
        (503, "the server answers 503 Service Unavailable"),
        (403, "the server answers 403 Forbidden"),
        (404, "there is nothing there"),
    ],
)
def test_what_a_server_answers_is_said(status, said, act):
    with serving(answering(status, [])) as place:
        assert f"the address {place}/data.h5 cannot be read ({said})" in refusal(f"{place}/data.h5", act)


def test_no_server_and_no_host_are_said_and_others_have_ten_seconds():
    assert "(the connection is refused)" in refusal("http://127.0.0.1:9/data.h5")
    said = refusal("http://no-such-host.invalid/data.h5")
    assert "(there is no host no-such-host.invalid, or no network)" in said
    assert "(the connection is refused)" in check_file("http://127.0.0.1:9/data.h5").problem
    assert source.PATIENCE == 10
