"""Stores: whole, resumable, and honest about what is missing or damaged; nothing in them is executed."""

import errno
import json
import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from dataset_fixtures import CODE, make_dataset, small_settings

from resolvent.common.errors import FileError
from resolvent.common.files import (
    FULL_DISK,
    REFUSED,
    read_json,
    readable_disk_errors,
    write_arrays,
    write_atomically,
    write_json,
)
from resolvent.common.locks import sole_writer
from resolvent.common.settings import settings_hash
from resolvent.datasets.card import finalise
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import Split, load_arrays, load_samples
from resolvent.datasets.storage.generation import generate_shard
from resolvent.datasets.storage.layout import Layout, Variable, space_group
from resolvent.datasets.storage.reading import read_array
from resolvent.datasets.storage.store import write_shard
from resolvent.datasets.tasks.registry import build_task
from resolvent.solvers.common.grid import Grid


def finalised(dataset: Path, code: dict = CODE) -> dict:
    """Finalise the small dataset in a folder with its receipts."""
    receipts = [dataset / "burgers.shards" / f"{shard}.json" for shard in range(3)]
    task = build_task(small_settings())
    return finalise(task, dataset / "burgers.zarr", receipts, dataset / "burgers.json", code)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_making_a_dataset_again_gives_the_same_bytes(made, tmp_path):
    make_dataset(tmp_path / "burgers", small_settings())
    assert contents(tmp_path / "burgers") == contents(made)


def test_a_killed_job_resumes_from_its_last_batch_of_the_same_code(made, tmp_path):
    task = build_task(small_settings())
    store, receipt = tmp_path / "burgers.zarr", tmp_path / "burgers.shards" / "0.json"
    computed = []

    class Interrupted:
        layout, batch = task.layout, 4

        def compute_with_errors(self, samples):
            if len(computed) == 2:
                raise KeyboardInterrupt
            computed.append(samples)
            return task.compute_with_errors(samples)

    for code in ({"small": 0}, CODE):
        computed.clear()
        with pytest.raises(KeyboardInterrupt):
            generate_shard(Interrupted(), store, 0, receipt, code)
        assert [batch[0] for batch in computed] == [("train", 0), ("train", 4)]
    assert not receipt.exists()
    computed.clear()
    generate_shard(Interrupted(), store, 0, receipt, CODE)
    assert [batch[0] for batch in computed] == [("train", 8)]  # the third batch only
    assert json.loads(receipt.read_text()) == json.loads((made / "burgers.shards" / "0.json").read_text())
    name = "n64/final_velocity"
    np.testing.assert_array_equal(
        read_array(store, name, range(10)), read_array(made / "burgers.zarr", name, range(10))
    )


def test_writing_a_store_removes_its_card_first(dataset):
    generate_shard(build_task(small_settings()), dataset / "burgers.zarr", 0, dataset / "again.json", CODE)
    with pytest.raises(DatasetError, match=r"no dataset card at .*burgers\.json: the dataset is not fin"):
        load_samples(dataset / "burgers.json", 64, "train", 1)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)


def change(path: Path, **facts) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | facts))


STORE = "burgers.zarr/n64"
DAMAGES = {
    "a missing shard": (
        lambda folder: (folder / f"{STORE}/final_velocity/c/1/0").unlink(),
        "lacks shard 1 of 'n64/final_velocity'; regenerate it with snakemake -R solve_burgers",
    ),
    "a flipped byte": (
        lambda folder: flip(folder / f"{STORE}/initial_velocity/c/0/0"),
        "damaged in 'n64/initial_velocity' .*snakemake -R solve_burgers",
    ),
    "a missing store": (
        lambda folder: shutil.rmtree(folder / "burgers.zarr"),
        r"the store .*burgers\.zarr is missing; snakemake regenerates it, to the same bytes",
    ),
    "a missing group": (
        lambda folder: shutil.rmtree(folder / STORE),
        "has no readable array 'n64/initial_velocity'",
    ),
    "a shape that was shrunk": (
        lambda folder: change(folder / f"{STORE}/final_velocity/zarr.json", shape=[10, 64]),
        "has 10 samples in 'n64/final_velocity'; requested: number",
    ),
    "half a card": (
        lambda folder: (folder / "burgers.json").write_text('{"dataset": '),
        r"dataset card .*burgers\.json is damaged",
    ),
    "another's card": (
        lambda folder: write_json(
            folder / "burgers.json",
            read_json(folder / "burgers.json", "the card") | {"content_hash": "0" * 64},
        ),
        r"burgers\.zarr does not match the card .*: content hash [0-9a-f]{12} against 0{12}; regen",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_noticed_and_named(dataset, damage):
    make, message = DAMAGES[damage]
    make(dataset)
    with pytest.raises((DatasetError, FileError), match=message):
        load_samples(dataset / "burgers.json", 64, "train", 20)


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:20])])
def test_lost_metadata_are_reported_and_laid_out_again(made, dataset, damage):
    store, task = dataset / "burgers.zarr", build_task(small_settings())
    for name in ("n64/zarr.json", "n64/x/c/0"):  # for those who use xarray
        damage(store / name)
    for name in ("n64/final_velocity/zarr.json", "zarr.json"):
        damage(store / name)
        with pytest.raises(DatasetError, match=r"has no readable .*; regenerate it with snakemake -R solve_"):
            load_samples(dataset / "burgers.json", 64, "train", 4)
    for shard in range(3):
        generate_shard(task, store, shard, dataset / f"burgers.shards/{shard}.json", CODE)
    finalised(dataset)
    assert contents(dataset) == contents(made)


def test_a_damaged_batch_is_reported(made, tmp_path):
    task, store = build_task(small_settings()), tmp_path / "burgers" / "burgers.zarr"
    generate_shard(task, store, 0, tmp_path / "0.json", CODE)
    (part,) = (store.with_suffix(".parts") / settings_hash(CODE) / "shard-0000").iterdir()
    whole, reported, random = part.read_bytes(), 0, np.random.default_rng(0)
    for place in random.integers(len(whole), size=8):
        content = bytearray(whole)
        content[place] ^= 1 << random.integers(8)
        part.write_bytes(content)
        try:
            generate_shard(task, store, 0, tmp_path / "again.json", CODE)
        except DatasetError as error:
            reported += f"the batch {part} is damaged" in str(error)
        else:
            assert (tmp_path / "again.json").read_bytes() == (tmp_path / "0.json").read_bytes()
    assert reported > 3


def test_a_damaged_or_altered_receipt_is_reported(dataset):
    receipt = dataset / "burgers.shards/1.json"
    whole = receipt.read_text()
    for content in ("", '{"shard": ', "[]", "null"):
        receipt.write_text(content)
        with pytest.raises(FileError, match=r"shards/1\.json is damaged .*; delete it and run"):
            finalised(dataset)
    receipt.write_text(whole)
    checksums = json.loads(whole)["checksums"]
    checksums["n64/final_velocity"][0] += 1
    change(receipt, checksums=checksums)
    with pytest.raises(FileError, match=r"shards/1\.json was altered: delete it and run"):
        finalised(dataset)


def test_what_killed_jobs_left_half_written_is_removed(made, tmp_path):
    folder = tmp_path / "burgers"
    store, dead = folder / "burgers.zarr", f"{os.uname().nodename}-{2**22 + 1}.partial"  # above every process
    make_dataset(folder, small_settings())
    (folder / f".burgers.zarr.{dead}" / "n64").mkdir(parents=True)
    for left in (
        folder / f".burgers.json.{dead}",
        folder / "burgers.shards" / f".0.json.{dead}",
        store / "zarr.0123456789abcdef.partial",
        store / "n64" / "final_velocity" / "c" / "1" / "0.0123456789abcdef.partial",
    ):
        left.write_text("half")
    make_dataset(folder, small_settings())
    assert contents(folder) == contents(made)
    assert not list(folder.rglob("*.partial"))


def test_what_a_living_process_is_writing_is_left_alone(tmp_path):
    living = tmp_path / f".card.json.{os.uname().nodename}-{os.getppid()}.partial"
    elsewhere = tmp_path / f".card.json.another-host-{2**22 + 1}.partial"
    for file in (living, elsewhere):
        file.write_text("half")
    write_json(tmp_path / "card.json", {})
    assert living.exists()
    assert elsewhere.exists()


def test_what_is_not_there_is_refused(made):
    with pytest.raises(DatasetError, match="7 test samples requested; burgers has 6"):
        load_samples(made / "burgers.json", 64, "test", 7)
    with pytest.raises(DatasetError, match=r"burgers is not stored at 32; it has 64, 128"):
        load_samples(made / "burgers.json", 32, "test", 1)
    with pytest.raises(DatasetError, match=r"burgers has no group 'n32'; it has n64, n128"):
        load_arrays(made / "burgers.json", "n32", "test")


def test_finalising_refuses_data_that_are_not_what_was_written(dataset):
    layout = build_task(small_settings()).layout
    write_shard(dataset / "burgers.zarr", layout, 1, [("n64/final_velocity", np.zeros((10, 64)))])
    with pytest.raises(
        DatasetError, match="damaged: shard 1 of 'n64/final_velocity' is not what was written"
    ):
        finalised(dataset)
    with pytest.raises(DatasetError, match="is not a receipt of shard 0"):
        finalised(dataset, {"small": 2})


def test_a_shard_in_the_place_of_another_is_noticed_by_whoever_reads_it(dataset):
    chunks = dataset / "burgers.zarr/n64/final_velocity/c"
    shutil.copy(chunks / "1/0", chunks / "0/0")
    message = r"damaged: shard 0 of 'n64/final_velocity' is not what was written \(sample 0\)"
    for read in (lambda split: split.all(), lambda split: split.read(np.array([5, 0]))):
        with pytest.raises(DatasetError, match=message.replace("sample 0", "sample [05]")):
            read(Split(dataset / "burgers.json", 64, "train", 6))
    shutil.rmtree(dataset / "burgers.shards")  # a copy without receipts
    Split(dataset / "burgers.json", 64, "train", 6).all()


@pytest.mark.parametrize(
    ("value", "name"), [(np.nan, "n64/initial_velocity"), (np.inf, "n64/final_velocity")]
)
def test_finalising_refuses_numbers_that_are_not_finite(value, name, tmp_path):
    """Every sample is read then: checks of errors solve a few again, perhaps others."""

    def task_of(settings):
        task = build_task(settings)
        solve = task.compute_with_errors

        def spoiled(samples):
            arrays, errors = solve(samples)
            if ("train", 13) in samples:
                arrays[name][samples.index(("train", 13)), 5] = value
            return arrays, errors

        task.compute_with_errors = spoiled
        return task

    with pytest.raises(DatasetError, match=rf"'{name}' .* not finite in train sample 13"):
        make_dataset(tmp_path, small_settings(), kind=task_of)
    assert not (tmp_path / "burgers.json").exists()


def test_batches_of_another_size_are_one_line_with_the_remedy(tmp_path):
    """A job that was killed on a machine with a GPU may go on without one, where batches are smaller."""
    task, given = build_task(small_settings()), (0, tmp_path / "0.json", CODE)
    task.batch, solve = 6, task.compute_with_errors

    def killed(samples):
        if samples[0] == ("train", 6):
            raise KeyboardInterrupt
        return solve(samples)

    task.compute_with_errors = killed
    with pytest.raises(KeyboardInterrupt):
        generate_shard(task, tmp_path / "store.zarr", *given)
    task.batch, task.compute_with_errors = 2, solve
    with pytest.raises(DatasetError, match=r"delete .*store\.parts and run snakemake"):
        generate_shard(task, tmp_path / "store.zarr", *given)


def test_finalising_refuses_data_that_miss_the_stated_accuracy(tmp_path):
    few = {"train": 1, "validation": 1, "test": 1}
    with pytest.raises(DatasetError, match=r"1\.0e-12 \(against \w+ \w+\); solve more finely"):
        make_dataset(tmp_path, small_settings(num_modes=96, num_steps=240, accuracy=1e-12, samples=few))
    assert not (tmp_path / "burgers.json").exists()


def test_shards_do_not_overlap_and_cover_every_sample():
    group = space_group(Grid("periodic", 64), Variable("u", "u"))
    layout = Layout((group,), {"train": 20, "test": 5}, 8)
    covered = [position for shard in range(layout.num_shards) for position in layout.shard_range(shard)]
    assert covered == list(range(25))
    assert [layout.split_of(position) for position in (19, 20)] == [("train", 19), ("test", 0)]
    with pytest.raises(DatasetError, match="there is no shard 4; accepted: 0 to 3"):
        layout.shard_range(4)
    # A chunk is a part of a shard, of at most a megabyte.
    for points, dtype, samples in ((8192, "float64", 12), (8192, "float32", 24), (512**2, "float64", 1)):
        assert Layout((), {"train": 48}, 24, dtype).samples_per_chunk((points,)) == samples
    assert layout.arrays == {"n64/u": (64,)}


def test_two_jobs_cannot_write_the_same_shard(dataset):
    store = dataset / "burgers.zarr"
    lock = dataset / "burgers.parts" / "shard-0001.lock"
    with sole_writer(lock, "this shard"):
        with pytest.raises(
            FileError,
            match=rf"shard 1 of .*burgers\.zarr is being written by another job \(process {os.getpid()} on ",
        ):
            generate_shard(build_task(small_settings()), store, 1, dataset / "again.json", CODE)
        assert (dataset / "burgers.json").exists()
    generate_shard(build_task(small_settings()), store, 1, dataset / "again.json", CODE)
    assert not lock.exists()


def test_finalising_leaves_the_batches_of_a_shard_that_is_written_again(dataset):
    store, task = dataset / "burgers.zarr", build_task(small_settings())
    for shard in (0, 1):
        generate_shard(task, store, shard, dataset / f"burgers.shards/{shard}.json", CODE)
    parts = store.with_suffix(".parts")
    with sole_writer(parts / "shard-0001.lock", "this shard"):
        finalised(dataset)
        assert [folder.name for folder in (parts / settings_hash(CODE)).iterdir()] == ["shard-0001"]
    finalised(dataset)
    assert not parts.exists()


def test_a_disk_that_cannot_be_written_is_one_line_and_leaves_nothing(tmp_path):
    target = tmp_path / "card.json"
    for number, said in {**FULL_DISK, **REFUSED}.items():

        def fail(path, number=number):
            path.write_text("half")
            raise OSError(number, "the system's own words")

        with pytest.raises(FileError, match=rf"cannot write {target}: {said}"):
            write_atomically(target, fail)
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="words"), readable_disk_errors(target):
        raise OSError(errno.EIO, "words")


def test_a_folder_that_even_root_may_not_write_to():
    with pytest.raises(FileError, match=r"cannot write /sys/resolvent/card\.json: .*(permi|read-only)"):
        write_json(Path("/sys/resolvent/card.json"), {})


NAME = "n64/initial_velocity"
PICKLE = {"id": "pickle", "protocol": 5}
# What a Zarr v3 array may say of itself, and what a v2 array may.
V3 = [
    {"data_type": "object"},
    {"data_type": "object", "codecs": [{"name": "numcodecs.pickle"}]},
    {"codecs": [{"name": "numcodecs.pickle", "configuration": {"protocol": 5}}]},
    {"codecs": [{"name": "bytes"}, {"name": "pickle"}]},
    {"data_type": "string", "fill_value": "", "codecs": [{"name": "vlen-utf8"}]},
]
V2 = [
    {"dtype": "|O", "filters": [PICKLE]},
    {"dtype": "<f8", "filters": [PICKLE]},
    {"dtype": "<f8", "compressor": PICKLE},
    {"dtype": "|O", "filters": [{"id": "vlen-utf8"}], "compressor": PICKLE},
]


class Command:
    """A pickle of this makes the folder `mark` when it is loaded."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def refused(dataset: Path) -> None:
    with pytest.raises(DatasetError) as raised:
        load_samples(dataset / "burgers.json", 64, "train", 2)
    assert len(str(raised.value).splitlines()) == 1
    assert not (dataset / "executed").exists()


@pytest.mark.parametrize("facts", V3)
def test_an_array_of_objects_is_refused(facts, dataset):
    array = dataset / "burgers.zarr" / NAME
    stored = json.loads((array / "zarr.json").read_text())
    (array / "zarr.json").write_text(json.dumps(stored | facts))
    for chunk in (array / "c").rglob("*"):
        if chunk.is_file():
            chunk.write_bytes(pickle.dumps(Command(dataset / "executed")))
    refused(dataset)


@pytest.mark.parametrize("facts", V2)
def test_a_store_of_the_older_format_is_refused(facts, dataset):
    """It knows a codec that unpickles, which the present format does not."""
    store = dataset / "burgers.zarr"
    attributes = json.loads((store / "zarr.json").read_text())["attributes"]
    shutil.rmtree(store)
    (store / NAME).mkdir(parents=True)
    for group in (store, store / "n64"):
        (group / ".zgroup").write_text('{"zarr_format": 2}')
    (store / ".zattrs").write_text(json.dumps(attributes))
    shape = {"zarr_format": 2, "shape": [30, 64], "chunks": [30, 64], "order": "C", "fill_value": None}
    (store / NAME / ".zarray").write_text(json.dumps({**shape, "filters": None, "compressor": None, **facts}))
    (store / NAME / "0.0").write_bytes(pickle.dumps(Command(dataset / "executed")))
    refused(dataset)


@pytest.mark.parametrize("name", ["n64", "n64/split", "n64/x"])
def test_what_is_no_array_of_samples_is_not_read(name, made):
    with pytest.raises(DatasetError, match="has no array of samples"):
        read_array(made / "burgers.zarr", name, range(2))


def test_an_array_of_objects_in_an_npz_is_not_loaded(tmp_path):
    write_arrays(tmp_path / "part.npz", {"a": np.array([Command(tmp_path / "executed")], dtype=object)})
    with np.load(tmp_path / "part.npz") as content, pytest.raises(ValueError, match="allow_pickle=False"):
        content["a"]
    assert not (tmp_path / "executed").exists()
