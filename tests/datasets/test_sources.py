"""Many files, in natural order where it is clear what each is, and servers that do not answer, or refuse."""

import re
import socket
import time
from pathlib import Path

import numpy as np
import pytest
from array_files import SETTINGS, write_hdf5, write_npz, write_zarr
from chosen import chosen
from s3fs import S3FileSystem
from serving import answering, serving
from typer.testing import CliRunner

from resolvent.__main__ import app
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.readers import source
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.imported.sources import FORMS, content_digest, paths_of
from resolvent.datasets.tasks.registry import settings_of

POINTS = 32
X = np.arange(POINTS) / POINTS
SETTINGS = SETTINGS | {"finest": POINTS, "samples": {"train": 22, "validation": 1, "test": 1}}


def part(number: int, count: int = 2) -> dict[str, np.ndarray]:
    phases = np.random.default_rng(number).uniform(0, 6, size=(count, 1))
    return {"a": np.cos(2 * np.pi * X + phases) + number, "u": np.sin(2 * np.pi * X + phases) + number}


def means(source) -> list[int]:
    """Return the number of the file that each sample is from: the mean of its input."""
    task = settings_of(SETTINGS | {"source": source}).with_contents().task()
    drawn = task.draw([(split, row) for split, size in SETTINGS["samples"].items() for row in range(size)])
    return np.rint(drawn[:, 0].mean(axis=-1)).astype(int).tolist()


@pytest.fixture
def twelve(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for number in range(12):
        write_npz(tmp_path / f"data/part{number}.npz", part(number))
    (tmp_path / "data/README.md").write_text("notes")
    (tmp_path / "data/.part3.npz.swp").write_text("other")
    return tmp_path


IN_ORDER = [number for number in range(12) for _ in range(2)]


@pytest.mark.parametrize(
    "source",
    ["data", "data/", "data/*.npz", "data/part?*.npz", [f"data/part{number}.npz" for number in range(12)],
     {"train": ["data/part?.npz", "data/part10.npz"], "test": "data/part11.npz"}],
    ids=str,
)  # fmt: skip
def test_many_files_follow_each_other_in_natural_order(source, twelve):
    if isinstance(source, dict):
        source |= {"validation": ["data/part11.npz"]}
    assert means(source) == IN_ORDER


def test_a_file_that_comes_later_is_another_dataset(twelve):
    first = settings_of(SETTINGS | {"source": "data"}).with_contents()
    assert len(first.sha256) == 12
    write_npz(twelve / "data/part12.npz", part(12))
    assert settings_of(SETTINGS | {"source": "data"}).with_contents().sha256 != first.sha256
    with pytest.raises(DatasetError, match="sha256 has 12 entries for 13 files; it has changed since"):
        first.task().draw([("train", 0)])
    for one in (twelve / "data").glob("*"):
        one.unlink()
    assert settings_of(first.model_dump()) == first  # what a card says needs no file


def test_pairs_of_patterns_belong_together_by_their_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for role, name in (("in", "a"), ("out", "u")):
        (tmp_path / role).mkdir()
        for number in range(12):
            np.save(tmp_path / role / f"{name}_{number}.npy", part(number)[name])
    changes = {"input": "array", "target": "array", "source": {"input": "in/*.npy", "target": "out"}}
    task = settings_of(SETTINGS | changes).with_contents().task()
    drawn = task.draw([("train", row) for row in range(22)])
    np.testing.assert_array_equal(drawn[20], [part(10)["a"][0], part(10)["u"][0]])
    places = {"input": "in/a_{}.npy", "target": "out/u_{}.npy"}
    lists = {role: [place.format(number) for number in range(12)] for role, place in places.items()}
    again = settings_of(SETTINGS | changes | {"source": lists}).with_contents().task()
    np.testing.assert_array_equal(again.draw([("train", row) for row in range(22)]), drawn)
    (tmp_path / "out/u_3.npy").rename(tmp_path / "out/u_30.npy")
    with pytest.raises(DatasetError, match=r"in/a_3\.npy with out/u_4\.npy; expected: the same numbers in"):
        settings_of(SETTINGS | changes).with_contents()
    (tmp_path / "out/u_30.npy").unlink()
    with pytest.raises(DatasetError, match=r"12 input files \(in/\*\.npy\) and 11 target files \(out\)"):
        settings_of(SETTINGS | changes).with_contents()


def files(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("zarr"):
            write_zarr(path, part(0))
        elif name.endswith("h5"):
            write_hdf5(path, part(0))
        else:
            np.save(path, part(0)["a"])


OPEN = {
    "two roles": (["d/a.npy", "d/u.npy"], "d", "d/a.npy, d/u.npy"),
    "a pattern of two roles": (["d/a1.npy", "d/a2.npy", "d/u1.npy", "d/u2.npy"], "d/*.npy",
        "d/a2.npy, d/u2.npy"),
    "splits": (["d/train_0.h5", "d/train_1.h5", "d/val_0.h5"], "d", "d/train_1.h5, d/val_0.h5"),
    "folders": (["d/train/1.h5", "d/test/1.h5"], "d", "d/test, d/train"),
}  # fmt: skip


@pytest.mark.parametrize("case", OPEN)
def test_files_whose_roles_are_open_are_refused_with_what_to_choose(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, source, said = OPEN[case]
    files(tmp_path, *names)
    with pytest.raises(DatasetError) as error:
        paths_of(source)
    line = (
        f"{source} has files of more than one kind, such as {said}; choose their roles in source; accepted: "
    )
    assert str(error.value) == line + FORMS
    assert check_file(source).problem == str(error.value)
    assert paths_of({"input": "d/a*.npy", "target": "d/u*.npy"} if "npy" in said else {"train": names[0]})


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("d/*.npz", r"no file matches d/\*\.npz; paths are relative to the working folder"),
        ("d/empty", r"d/empty is a folder without data files; expected: a file"),
        ("https://a.org/*.h5", r"https://a\.org/\*\.h5 is a pattern at an address; expected: a list of add"),
        ("no.h5", "the file no.h5 does not exist"),
    ],
)
def test_what_names_no_file_is_said(source, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d/empty").mkdir(parents=True)
    assert said.replace("\\", "")[:40] in check_file(source).problem
    with pytest.raises(DatasetError, match=said):
        settings_of(SETTINGS | {"source": source}).with_contents()


def test_a_folder_of_stores_and_a_name_with_brackets_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files(tmp_path, "d/p10.zarr", "d/p9.zarr", "data[1].npy")
    assert paths_of("d") == ["d/p9.zarr", "d/p10.zarr"]
    assert paths_of("data[1].npy") == ["data[1].npy"]
    assert paths_of("d/p9.zarr") == ["d/p9.zarr"]


@pytest.mark.parametrize("given", [["data"], ["data/*.npz"], "all"])
def test_the_check_prints_a_configuration_of_many_files(given, twelve):
    names = [f"data/part{number}.npz" for number in (10, 11, *range(10))] if given == "all" else given
    report = check_file(*names)
    block = chosen(report, axes=["sample", "x"], grid="periodic")
    want = [f"data/part{number}.npz" for number in range(12)] if given == "all" else given[0]
    assert block["source"] == want
    assert sum(block["samples"].values()) == 24
    assert settings_of(block).with_contents().task().draw([("train", 0)]).shape == (1, 2, POINTS)
    (line,) = [one for one in report.files if "and 11 more" in one]
    assert line == "data/part0.npz: NumPy .npz; and 11 more files"
    result = CliRunner().invoke(app, ["inspect", *names])
    assert (result.exit_code, result.stdout) == (0, report.text())
    result = CliRunner().invoke(app, ["import", *names, "-o", "flow.yaml"])
    assert result.stdout == f"{report.to_do('flow.yaml')}\n"
    assert Path("flow.yaml").read_text() == report.text()
    again = CliRunner().invoke(app, ["import", *names, "-o", "flow.yaml"])
    assert "flow.yaml exists already" in str(again.exception)
    nowhere = CliRunner().invoke(app, ["import", *names, "-o", "nowhere/flow.yaml"])
    assert "nowhere/flow.yaml cannot be written (No such file or directory)" in str(nowhere.exception)


def test_what_cannot_be_imported_is_not_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("none.npz", name=np.array("k"))
    result = CliRunner().invoke(app, ["import", "none.npz", "-o", "none.yaml"])
    assert (result.exit_code, Path("none.yaml").exists()) == (1, False)


def test_two_parts_of_one_name_are_no_pair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files(tmp_path, "part0.npy", "part1.npy")
    said = "part0.npy and part1.npy differ only in a number: write 'part*.npy' for parts of one array"
    assert check_file("part0.npy", "part1.npy").problem.startswith(said)


def test_an_error_on_many_files_names_the_first_and_counts_the_others(twelve):
    few = SETTINGS | {"source": "data", "samples": {"train": 40, "validation": 1, "test": 1}}
    said = r"^data/part0\.npz and 11 more files: has 24 samples; samples asks for 42"
    with pytest.raises(DatasetError, match=said):
        settings_of(few).with_contents()


def test_the_card_says_from_which_file_to_which_the_samples_are(twelve):
    task = settings_of(SETTINGS | {"source": "data"}).with_contents().task()
    assert task.series.in_words() == {
        "train": "row 1 of part0.npz to row 2 of part10.npz",
        "validation": "row 1 of part11.npz",
        "test": "row 2 of part11.npz",
    }


@pytest.fixture
def silent():
    """Return the address of a server that accepts connections, and says nothing."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def hold(address: str, cause: str, act=open_source) -> None:
    """Check that `act` gives up in seconds, and says why in one line."""
    start = time.perf_counter()
    with pytest.raises(DatasetError) as error:
        act(address)
    assert time.perf_counter() - start < 12
    line = (
        rf"the address {re.escape(address)} cannot be read \(.*{cause}.*\); expected: a file or a Zarr store"
    )
    assert re.fullmatch(line, str(error.value)), str(error.value)


@pytest.mark.parametrize("act", [open_source, content_digest])
@pytest.mark.parametrize("protocol", ["http", "s3"])
def test_a_silent_server_is_given_up_in_seconds(protocol, act, silent, monkeypatch):
    assert source.PATIENCE == 10
    monkeypatch.setattr(source, "PATIENCE", 0.1)
    address = f"http://{silent}/data.h5"
    if protocol == "s3":
        S3FileSystem.clear_instance_cache()
        names = ("ENDPOINT_URL", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "EC2_METADATA_DISABLED")
        for name, value in zip(names, (f"http://{silent}", "a", "b", "true"), strict=True):
            monkeypatch.setenv(f"AWS_{name}", value)
        address = "s3://bucket/data.h5"
    hold(address, "[Tt]ime", act)


@pytest.mark.parametrize("act", [open_source, content_digest])
@pytest.mark.parametrize(
    ("status", "said"), [(503, "503.*Service Unavailable"), (403, "403.*Forbidden"), (404, "")]
)
def test_what_a_server_answers_is_said(status, said, act):
    with serving(answering(status, [])) as place:
        hold(f"{place}/data.h5", said, act)


def test_no_server_and_no_host_are_said():
    hold("http://127.0.0.1:9/data.h5", "Connect call failed")
    hold("http://no-such-host.invalid/data.h5", "(not known|resolution)")
