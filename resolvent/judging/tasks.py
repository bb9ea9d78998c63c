"""Named tasks that a paper can cite, files in config/tasks: a dataset, its inputs and outputs, check values.

A version of a task never changes. Labels are recomputed for every evaluation and compared with the marks in
the file: inner products of an array with vectors of random signs. Unlike digests, marks are nearly equal if
only rounding differs, as between processors.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import yaml
from pydantic import AfterValidator, Field, model_validator

from resolvent.common.cards import Receipt
from resolvent.common.errors import FileError, printable
from resolvent.common.files import write_text
from resolvent.common.records import Resolution, read_record
from resolvent.common.settings import Settings, settings_hash
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.storage.layout import group_facts
from resolvent.datasets.tasks.registry import EQUATIONS, AnyDataset, build_task
from resolvent.datasets.tasks.settings import DatasetSettings, SplitSizes
from resolvent.planning.places import HOME

FOLDER = HOME / "config/tasks"
OWN_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*-v[1-9][0-9]*")
LARGEST_FILE = 10**6  # characters
SIGNS = 4  # number of vectors of random signs
SHARDS = 4  # for each core, so that all cores finish at about the same time
VERSIONS: dict = {}  # a task has its own version, in its name

# By array, such as "n512/u": its norm, and its products with vectors of random signs.
Marks = dict[str, Annotated[list[float], Field(min_length=1 + SIGNS, max_length=1 + SIGNS)]]
Line = Annotated[str, Field(max_length=300), AfterValidator(printable)]


class NamedTask(Settings):
    """Content of a file in config/tasks."""

    title: Line = Field(description="one line")
    given: Line = Field(description="what a model is given for a test sample")
    asked: Line = Field(description="what it is asked for")
    metric: Literal["relative_l2", "relative_h1"] = Field("relative_l2", description="orders models")
    tested: list[Resolution] = Field(min_length=1, description="resolutions of the test; the first orders")
    dataset: AnyDataset = Field(description="settings of the dataset, all of them")
    first: Marks = Field(default={}, description="marks of the first test sample")
    test: Marks = Field(default={}, description="marks of all test samples")

    @model_validator(mode="after")
    def _tested_on_grids_of_the_dataset(self) -> NamedTask:
        if other := [n for n in self.tested if n not in self.dataset.resolutions]:
            raise ValueError(f"tested: the dataset has no resolution {other[0]}")
        return self


def names() -> list[str]:
    """Return the names of all tasks."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def short_name(name: str) -> str:
    """Return the name of a task, which may be given as the path of its file."""
    return Path(name).stem if name.endswith(".yaml") else name


def file_of(name: str) -> Path:
    """Return the path of the file of a task."""
    return Path(name) if name.endswith(".yaml") else FOLDER / f"{name}.yaml"


def read_task(name: str) -> NamedTask:
    """Read the task `name`, or the one in the file `name`, "folder/mine-v1.yaml", which may be anyone's.

    Raises `FileError` if it does not exist, is damaged, or is no task.
    """
    own = name.endswith(".yaml")
    if not own and name not in names():
        also = "; or the file of a task, NAME-v1.yaml"
        raise FileError(f"unknown task '{name}'; accepted: {', '.join(names())}{also}")
    path = file_of(name)
    remedy = "get it again from its authors" if own else "reinstall the package"
    if own:
        check_name(path.stem)
    try:
        with path.open(encoding="utf-8") as file:
            content = file.read(LARGEST_FILE)
        keys = plain_yaml(content)
        if own:
            dataset = keys.get("dataset") if isinstance(keys, dict) else None
            check_solvable(dataset if isinstance(dataset, dict) else {}, str(path))
        task = NamedTask.model_validate(keys)
    except OSError as error:
        raise FileError(f"{printable(str(path))} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError, yaml.YAMLError) as error:  # no UTF-8, no YAML, or no task
        reason = " ".join(str(error).split())[:500]
        raise FileError(f"{printable(str(path))} is no task: {remedy} ({printable(reason)})") from None
    if own and not task.test:
        raise FileError(f"{printable(str(path))} has no check values of the labels, 'test': {remedy}")
    return task


def check_name(name: str) -> None:
    """Raise `FileError` if `name` is no name for a task of one's own."""
    if not OWN_NAME.fullmatch(name):
        raise FileError(f"'{printable(name)[:80]}' is no name of a task; expected: like mine-v1")
    if name in names():
        raise FileError(f"{name} is a task of the package: choose another name")


def check_solvable(content: dict, where: str) -> None:
    """Raise `FileError` unless the package alone can solve for the labels of a dataset with these settings.

    It is called before they are validated, which imports the code of an equation of others.
    """
    if str(content.get("equation")) not in EQUATIONS or "source" in content:
        raise FileError(
            f"{printable(where)} has a dataset that the package cannot solve for everywhere; accepted: one "
            f"without 'source', of the equations {', '.join(EQUATIONS)}"
        )


def plain_yaml(text: str) -> Any:
    """Return the content of YAML of others. Raises `yaml.YAMLError`, also for references, `*name`.

    References of references can make a small file a large object.
    """
    if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
        raise yaml.YAMLError("references, *name, are not accepted: repeat the text")
    return yaml.safe_load(text)


def marks_of(arrays: dict[str, np.ndarray]) -> Marks:
    """Return for every array its norm and its inner products with vectors of random signs, over √size.

    The signs come from NumPy's PCG64 with seed 0, one vector after another.
    """
    marks = {}
    for name, values in arrays.items():
        flat, random = values.reshape(-1).astype(np.float64), np.random.default_rng(0)
        scale = np.sqrt(flat.size)
        products = (flat @ (2.0 * random.integers(0, 2, flat.size) - 1) / scale for _ in range(SIGNS))
        marks[name] = [float(np.linalg.norm(flat) / scale), *map(float, products)]
    return marks


def check_marks(task: NamedTask, which: str, computed: Marks, name: str) -> None:
    """Raise `DatasetError` if arrays do not match the task's marks `which`, "first" or "test".

    Marks of two functions at relative distance d differ by about d times the norm. The tolerance is three
    times this, with d the stated accuracy.
    """
    published: Marks = getattr(task, which)
    if not computed.keys() <= published.keys():
        raise DatasetError(f"{name}: computed {', '.join(computed)}; the task has {', '.join(published)}")
    for array, marks in computed.items():
        norm = published[array][0]
        off = max(abs(a - b) for a, b in zip(marks, published[array], strict=True)) / (norm or math.nan)
        if not off <= 3 * task.dataset.accuracy + 1e-12:
            raise DatasetError(
                f"{name}: '{array}' is not the task's: its check values differ by {off:.1e} of "
                f"the norm, with labels accurate to {task.dataset.accuracy:g}. Install the version of the "
                "package that published this version of the task"
            )


def made(settings: DatasetSettings, place: Path, name: str, *, cores: int = 1, **sizes: int) -> Path:
    """Make the samples of a dataset under `place`/`name`, in `cores` processes, and return their card.

    sizes  of the splits "train", "validation" and "test"; sample k of a split does not depend on the sizes.
    Existing shards are reused.
    """
    from resolvent.datasets.making import make_dataset

    settings = settings.model_copy(update={"samples": SplitSizes(**sizes)})
    base = place / name / settings_hash(settings.identity(VERSIONS))
    card = base.with_suffix(".json")
    return card if card.exists() else make_dataset(settings, base, VERSIONS, cores)


def solved(name: str, place: Path, cores: int = 1, **sizes: int) -> tuple[Path, dict]:
    """Solve for samples of the task `name` under `place`; return their store, and the facts to read it.

    The first test sample is solved before all others and held to the task's marks, in place of an error
    budget: a solver that computes otherwise on this machine gives nothing. Existing shards are reused.

    sizes  of the splits "train", "validation" and "test".
    """
    from resolvent.datasets.card import verified_digest
    from resolvent.datasets.making import make_shards

    task = read_task(name)
    solver = build_task(task.dataset)
    first = solver.compute([("test", 0)])
    arrays = {array: values.astype(solver.layout.dtype) for array, values in first.items()}
    check_marks(task, "first", marks_of(arrays), name)
    batches = math.ceil(sum(sizes.values()) / solver.batch / SHARDS / cores)
    shards = {"samples": SplitSizes(**sizes), "samples_per_shard": solver.batch * batches}
    settings = task.dataset.model_copy(update=shards)
    base = place / settings_hash(settings.identity(VERSIONS))
    receipts = make_shards(settings, base, VERSIONS, cores)
    store, solver = base.with_suffix(".zarr"), build_task(settings)
    verified_digest(solver, store, {path: read_record(path, Receipt) for path in receipts}, VERSIONS)
    return store, {
        "dataset": short_name(name),
        "inputs": list(solver.inputs),
        "targets": list(solver.targets),
        "groups": {group.name: group_facts(group) for group in solver.layout.groups},
        "samples": sizes,
        "settings": settings.model_dump(mode="json"),
    }


def labels_of(name: str, place: Path, cores: int = 1) -> Path:
    """Make the test samples of a task, check them against its marks, and return their card.

    One training and one validation sample are also made, because a store has all splits.
    """
    task = read_task(name)
    card, arrays = test_of(task, name, place, cores)
    check_marks(task, "test", marks_of(arrays), name)
    return card


def test_of(task: NamedTask, name: str, place: Path, cores: int) -> tuple[Path, dict[str, np.ndarray]]:
    """Make the test samples of a task; return their card, and all arrays by name."""
    from resolvent.datasets.loading import load_arrays, read_card

    sizes = {"train": 1, "validation": 1, "test": task.dataset.samples.test}
    card = made(task.dataset, place, short_name(name), cores=cores, **sizes)
    arrays: dict[str, np.ndarray] = {}
    for group in read_card(card)["groups"]:
        stored = load_arrays(card, group, "test")
        arrays |= {f"{group}/{variable}": values for variable, values in stored.items()}
    return card, arrays


def new_task(name: str, dataset: DatasetSettings, folder: Path, place: Path, cores: int = 1) -> Path:
    """Make a task of a dataset, with the check values of its labels; return its file, `folder`/NAME.yaml.

    place  folder where the test samples are made and kept.
    Raises `FileError` if the name is taken or no name, or the dataset is not solved by the package.
    """
    from resolvent.datasets.tasks.registry import build_task

    check_name(name)
    check_solvable(dataset.model_dump(), name)
    path = folder / f"{name}.yaml"
    if path.exists():
        raise FileError(f"{path} exists, and a task never changes: choose another name or version")
    given, asked = dataset.quantities
    equation = build_task(dataset).description()["equation"]["in_words"]
    task = NamedTask(
        title=equation[0].upper() + equation[1:],
        given=given,
        asked=asked,
        metric="relative_l2",
        tested=list(dataset.resolutions),
        dataset=dataset,
    )
    _, arrays = test_of(task, name, place, cores)
    first = marks_of({array: values[:1] for array, values in arrays.items()})
    task = task.model_copy(update={"first": first, "test": marks_of(arrays)})
    content = yaml.safe_dump(task.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    write_text(path, content)
    return path
