"""Stores in an object store, on moto's S3 server: as whole, resumable and honest as those in a folder."""

import shutil
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from dataset_fixtures import CODE, make_dataset, small
from pipeline_project import Project, compile_once
from s3fs import S3FileSystem

from resolvent.datasets.card import finalise
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import load_samples
from resolvent.datasets.storage import object_store
from resolvent.datasets.storage.addresses import checked_address, link, located
from resolvent.datasets.storage.generation import generate_shard
from resolvent.datasets.storage.reading import open_store
from resolvent.datasets.storage.store import create_store
from resolvent.datasets.tasks.registry import build_task

SETTINGS = small("controlled_ode", observations={"dt0.02": {"step": 0.02}})
ADDRESS = "s3://resolvent/some/controlled_ode/0123.zarr"
STORE, CARD = "resolvent/some/controlled_ode/0123.zarr", "resolvent/some/controlled_ode/0123.json"
STATE = "dt0.02/state"
REMEDY = "regenerate it with snakemake -R solve_controlled_ode"
WAY = r"; set credentials by AWS_PROFILE, or AWS_ACCESS_KEY_ID"


@pytest.fixture(scope="module")
def made(server, tmp_path_factory):
    """A dataset in a folder, and the same in the object store; gives both folders, and the objects."""
    folder = tmp_path_factory.mktemp("made")
    make_dataset(folder / "here" / "controlled_ode", SETTINGS)
    make_dataset(folder / "there" / "controlled_ode", SETTINGS, ADDRESS)
    return folder / "here" / "controlled_ode", folder / "there" / "controlled_ode", objects(server)


@pytest.fixture
def dataset(made):
    """The folder of the dataset in the object store; whoever damages it mends it."""
    return made[1]


def parts(dataset: Path) -> tuple[Path, list[Path], Path]:
    """Store, receipts and card."""
    receipts = [dataset / f"controlled_ode.shards/{shard}.json" for shard in (0, 1)]
    return dataset / "controlled_ode.zarr", receipts, dataset / "controlled_ode.json"


@contextmanager
def changed(server, name: str, content: bytes | None):
    """An object with other content, or none, for a while."""
    whole = server.cat(name)
    server.rm_file(name) if content is None else server.pipe_file(name, content)
    yield
    server.pipe_file(name, whole)


def objects(server) -> dict[str, bytes]:
    return server.cat(server.find("resolvent", refresh=True))


def load(folder: Path):
    return load_samples(folder / "controlled_ode.json", "dt0.02", "train", 3)


def test_the_objects_are_the_files_of_a_store_in_a_folder(made):
    here, there, whole = made
    store = here / "controlled_ode.zarr"
    files = {
        f"{STORE}/{path.relative_to(store)}": path.read_bytes() for path in store.rglob("*") if path.is_file()
    }
    assert whole == files | {CARD: (here / "controlled_ode.json").read_bytes()}
    beside = {str(path.relative_to(there)) for path in there.rglob("*") if path.is_file()}
    shards = {f"controlled_ode.shards/{shard}.json" for shard in (0, 1)}
    assert beside == {"controlled_ode.zarr", "controlled_ode.json", *shards}
    assert (there / "controlled_ode.zarr").read_text() == f"{ADDRESS}\n"
    for name in beside - {"controlled_ode.zarr"}:
        assert (there / name).read_bytes() == (here / name).read_bytes()


def test_a_second_writer_lays_out_the_same_and_disturbs_no_shard(made, server, tmp_path):
    address = "s3://resolvent/other/controlled_ode/0123.zarr"
    task, stores = build_task(SETTINGS), [tmp_path / name / "controlled_ode/0123.zarr" for name in "ab"]
    for store in stores:  # two working folders, with no lock in common
        link(store, address)
        create_store(store, task.layout)
    receipts = [tmp_path / "0.json", tmp_path / "1.json"]
    for shard in (0, 1):
        generate_shard(task, stores[shard], shard, receipts[shard], CODE, address)
    finalise(task, stores[0], receipts, stores[0].with_suffix(".json"), CODE)
    assert stores[0].with_suffix(".json").read_bytes() == made[2][CARD]
    there = {name for name in objects(server) if name.startswith("resolvent/other/")}
    assert there == {name.replace("/some/", "/other/") for name in made[2]}
    server.rm("resolvent/other", recursive=True)


def test_a_store_written_again_has_no_card_until_it_is_whole_again(made, dataset, server):
    """What is missing is put again."""
    store, receipts, card = parts(dataset)
    for name in (f"{STORE}/dt0.02/time/zarr.json", f"{STORE}/{STATE}/c/0/0"):
        server.rm_file(name)
    generate_shard(build_task(SETTINGS), store, 0, receipts[0], CODE, ADDRESS)
    assert CARD not in objects(server)
    assert not card.exists()
    finalise(build_task(SETTINGS), store, receipts, card, CODE)
    assert objects(server) == made[2]


def test_the_roots_metadata_are_put_last(server, tmp_path, monkeypatch):
    def broken(*_):
        raise OSError("the connection is gone")

    store, half = tmp_path / "controlled_ode.zarr", "resolvent/half/controlled_ode/0123.zarr"
    link(store, f"s3://{half}")
    system = SimpleNamespace(pipe=server.pipe, pipe_file=broken)
    monkeypatch.setattr(object_store, "_file_system", lambda address: system)
    with pytest.raises(DatasetError, match=rf"cannot reach s3://{half} \(the connection is gone\)"):
        create_store(store, build_task(SETTINGS).layout)
    names = server.find("resolvent/half", refresh=True)
    assert f"{half}/{STATE}/zarr.json" in names
    assert f"{half}/zarr.json" not in names
    server.rm("resolvent/half", recursive=True)


DAMAGES = {
    "a missing chunk": (f"{STATE}/c/0/0", None, f"lacks shard 0 of '{STATE}'; {REMEDY}"),
    "a flipped byte": (f"{STATE}/c/0/0", 200, f"is damaged in '{STATE}' .*; {REMEDY}"),
    "a missing array": (f"{STATE}/zarr.json", None, f"has no readable array '{STATE}' .*; {REMEDY}"),
    "a damaged root": ("zarr.json", 0, f"has no readable zarr.json .*; {REMEDY}"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_reported_with_the_address_and_the_remedy(damage, made, dataset, server):
    name, place, message = DAMAGES[damage]
    content = bytearray(made[2][f"{STORE}/{name}"])
    content[place or 0] ^= 1
    with (
        changed(server, f"{STORE}/{name}", None if place is None else bytes(content)),
        pytest.raises(DatasetError, match=f"^the store {ADDRESS} {message}$"),
    ):
        load(dataset)


def test_finalising_reports_an_object_that_is_not_what_was_written(dataset, server):
    store, receipts, card = parts(dataset)
    with (
        changed(server, f"{STORE}/{STATE}/c/1/0", server.cat(f"{STORE}/{STATE}/c/0/0")),
        pytest.raises(DatasetError, match=f"^the store {ADDRESS} is damaged: shard 1 of '{STATE}' is not"),
    ):
        finalise(build_task(SETTINGS), store, receipts, card, CODE)


@pytest.mark.parametrize("content", [b"", b"https://elsewhere.org/a.zarr\n", b"\xff"])
def test_a_file_without_an_address_leads_nowhere(content, tmp_path):
    store = tmp_path / "burgers" / "0123.zarr"
    link(store, ADDRESS)
    assert located(store) == ADDRESS
    store.write_bytes(content)
    with pytest.raises(
        DatasetError, match=r"/0123\.zarr has no valid address \(.*; regenerate it .* solve_burgers$"
    ):
        open_store(store)


def test_a_missing_bucket_is_reported_to_readers_and_writers(dataset, tmp_path):
    link(tmp_path / "controlled_ode.zarr", "s3://nobodys/controlled_ode/0123.zarr")
    shutil.copy(dataset / "controlled_ode.json", tmp_path)
    message = r"cannot reach s3://nobodys/\S+: s3://nobodys does not exist; create it, or correct data_root"
    with pytest.raises(DatasetError, match=message):
        load(tmp_path)
    with pytest.raises(DatasetError, match=message):
        create_store(tmp_path / "controlled_ode.zarr", build_task(SETTINGS).layout)


def test_missing_credentials_and_a_server_that_does_not_answer_are_reported(dataset, monkeypatch):
    for changes, said in (
        ({"AWS_ACCESS_KEY_ID": ""}, "Unable to locate credentials"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_MAX_ATTEMPTS": "1"}, "Could not connect to .*"),
    ):
        S3FileSystem.clear_instance_cache()
        with monkeypatch.context() as environment:
            for name, value in changes.items():
                environment.setenv(name, value) if value else environment.delenv(name)
            with pytest.raises(DatasetError, match=rf"^cannot reach {ADDRESS} \({said}\){WAY}.*$"):
                load(dataset)
    S3FileSystem.clear_instance_cache()


def test_no_credentials_are_printed(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")

    def refuse(*_):
        raise PermissionError("no\nentry for hunter2 at http://me:hunter3@127.0.0.1/")

    monkeypatch.setattr(object_store, "_file_system", refuse)
    with pytest.raises(DatasetError, match=r"\(no entry for \*\*\* at http://127\.0\.0\.1/\)"):
        object_store.put(ADDRESS, b"")


def test_a_missing_package_is_reported(dataset, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DatasetError, match=r"needs the package s3fs: pip install .*\[cloud\]"):
        load(dataset)


def test_addresses():
    assert checked_address("s3://resolvent/") == "s3://resolvent"
    for refused in (
        "s3://me:word@resolvent",
        "file:///data",
        "gs://resolvent",
        "s3://No",
        "s3:///data",
        "s3://resolvent//a",
        "s3://resolvent/é",
        "s3://resolvent/../a",
    ):
        with pytest.raises(ValueError, match=r"s3://bucket/folder|credentials"):
            checked_address(refused)


def test_a_pipeline_whose_data_root_is_an_address(server, tmp_path, tmp_path_factory):
    compile_once(tmp_path_factory)
    project = Project(tmp_path / "project")
    project.config = {
        "data_root": "s3://resolvent/data/",
        "build": {"experiments": ["burgers"], "datasets": []},
        "datasets": {"burgers": {"samples": {"train": 8, "validation": 2, "test": 2}}},
        "experiments": {
            "burgers": {"models": ["fno"], "shown": "fno", "samples": {"train": 8}, "stress": {"samples": 2}}
        },
    }
    checkpoint = "results/test/burgers/fno/n64/seed1127802/checkpoint.pt"
    project.forked_build(checkpoint)
    (store,) = (project.folder / "data/s3/resolvent/data/burgers").glob("*.zarr")
    assert server.cat(f"s3://resolvent/data/burgers/{store.stem}.json")
    assert server.find(f"s3://resolvent/data/burgers/{store.name}")
    assert project.planned(checkpoint) == {}
