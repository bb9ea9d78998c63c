"""Export a task for people who train elsewhere: training samples, test inputs and instructions."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import version
from itertools import product
from pathlib import Path

import numpy as np
import xarray
import yaml

from resolvent.common.errors import FileError
from resolvent.common.files import (
    everything_below,
    partial_path,
    remove,
    write_arrays,
    write_atomically,
    write_text,
)
from resolvent.common.norms import square_norm
from resolvent.datasets.loading import Split, places_of, stacked
from resolvent.datasets.storage.layout import coordinates_of, group_name
from resolvent.datasets.storage.reading import read_array
from resolvent.datasets.tasks.registry import build_task
from resolvent.judging.answers import travelling
from resolvent.judging.beyond import FRESH, fresh_samples
from resolvent.judging.tasks import NamedTask, check_marks, file_of, marks_of, read_task, short_name, solved

ENDINGS = {"npz": ".npz", "netcdf": ".nc", "zarr": ".zarr", "huggingface": ".npz"}
MADE = ".made"  # stores of an export, while it is not finished: the next call resumes it
ROUNDING = 2.0**-17  # largest step of the targets, in units of a sample's root mean square


def give(name: str, folder: Path, form: str = "npz", cores: int = 1) -> list[Path]:
    """Write the task `name` into a new `folder` in a format of `ENDINGS`, and return the files.

    Each split and resolution has a file such as `train_n512.npz`, with `inputs`, `targets`, both in single
    precision, and coordinates; test files, such as `test_n512.npz`, have no targets. Raises `FileError` if
    the name or format is unknown or the folder has other files, and `DatasetError` if the samples do not
    match the task.
    """
    task = read_task(name)
    if form not in ENDINGS:
        raise FileError(f"unknown format '{form}'; accepted: {', '.join(ENDINGS)}")
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder} is a file: choose another folder")
    if folder.exists() and any(folder.iterdir()) and not (folder / MADE).exists():
        raise FileError(f"{folder} exists and is not empty: choose another folder, or delete it")
    solver, sizes = build_task(task.dataset), task.dataset.samples.model_dump()
    if solver.drawn_inputs(solver.draw([("test", 0)])) is not None:
        sizes["test"] = 0  # solved only if the inputs are a part of the solution
    store, card = solved(name, folder / MADE, cores, **sizes)
    jobs: dict[Path, Future] = {}
    with ThreadPoolExecutor(cores) as pool:  # compression does not hold Python's lock
        for stem, source, inputs, targets in _contents(name, task, store, card):
            path = folder / f"{stem}{ENDINGS[form]}"
            jobs[path] = pool.submit(_write, path, source, inputs, targets)
        for job in jobs.values():
            job.result()
    own = name.endswith(".yaml")
    file = folder / (Path(name).name if own else "task.yaml")
    shutil.copy(file_of(name), file)
    channels = (len(card["targets"]),) if len(card["targets"]) > 1 else ()
    shapes = {}
    for resolution in task.tested:
        source = Split(store, resolution, "train", 1, card=card)
        shape = task.dataset.samples.test, *channels, *source.target_grid.shape
        shapes[f"predictions/{source.group}{ENDINGS[form]}"] = shape
    instructions = _readme(short_name(name), file.name if own else name, task, list(jobs), form, shapes)
    write_text(folder / "README.md", instructions)
    remove(folder / MADE)
    return [*jobs, file, folder / "README.md"]


def give_fresh(name: str, folder: Path, digest: str, form: str = "npz") -> list[Path]:
    """Write inputs of new test samples of a task, whose seed is made from a SHA-256; return the files.

    Raises `FileError` if the name or format is unknown or a file exists, `EvaluationError` if `digest` is no
    SHA-256.
    """
    task = read_task(name)
    if form not in ENDINGS:
        raise FileError(f"unknown format '{form}'; accepted: {', '.join(ENDINGS)}")
    resolution = task.tested[0]
    source = fresh_samples(task.dataset, resolution, digest)
    path = folder / f"{FRESH}{group_name(resolution)}{ENDINGS[form]}"
    if path.exists():
        raise FileError(f"{path} exists: choose another folder")
    _write(path, source, source.unlabelled().inputs, None)
    return [path]


def _contents(
    name: str, task: NamedTask, store: Path, card: dict
) -> Iterator[tuple[str, Split, np.ndarray, np.ndarray | None]]:
    """Yield the stem of each file, its grids, inputs and targets; those of the test are None.

    Test inputs are drawn now, or read from the store, and held to the task's marks.
    """
    resolutions = dict.fromkeys([*task.tested, *task.dataset.resolutions])
    for split, resolution in product(("train", "validation"), resolutions):
        source = Split(store, resolution, split, card["samples"][split], card=card)
        samples = source.all()
        yield f"{split}_{source.group}", source, samples.inputs, rounded(samples.targets)
    solver, places = build_task(task.dataset), places_of(card, "test")
    if places:
        tests = {array: read_array(store, array, places) for array in solver.layout.arrays}
    else:
        tests = solver.inputs_of([("test", index) for index in range(task.dataset.samples.test)])
    check_marks(task, "test", marks_of(tests), name)
    for resolution in resolutions:
        source = Split(store, resolution, "train", 1, card=card)
        functions = {variable: tests[f"{source.group}/{variable}"] for variable in card["inputs"]}
        yield f"test_{source.group}", source, stacked(functions, source.grid), None


def rounded(targets: np.ndarray) -> np.ndarray:
    """Round functions (samples, ...) to multiples of a power of two, at most ROUNDING times their own size.

    The size is the root mean square of a sample. Files are then a sixth smaller.
    """
    size = np.sqrt(square_norm(targets) / targets[0].size)
    step = np.exp2(np.floor(np.log2(ROUNDING * size))).reshape(-1, *[1] * (targets.ndim - 1))
    return np.round(targets / step) * step


def _write(path: Path, source: Split, inputs: np.ndarray, targets: np.ndarray | None) -> None:
    """Write functions on the grids of `source` to a file, or folder, in the format of its ending."""
    kept, coordinates = {"inputs": inputs.astype(np.float32)}, coordinates_of(source.grid)
    grids = {"inputs": coordinates}
    if targets is not None:
        kept["targets"] = targets.astype(np.float32)
    if source.target_grid != source.grid:
        grids["targets"] = coordinates_of(source.target_grid, "_target")
    every = {name: values for axes in grids.values() for name, values in axes.items()}
    if path.suffix == ".npz":
        return write_arrays(path, kept | every, compressed=True)
    data = xarray.Dataset(coords=every)
    for name, values in kept.items():
        space = tuple(grids.get(name, coordinates))
        channels = (f"{name}_channel",) if values.ndim > 1 + len(space) else ()
        data[name] = (("sample", *channels, *space), values)
    if path.suffix == ".nc":
        packed = {name: {"zlib": True, "shuffle": True, "complevel": 1} for name in kept}
        write_atomically(
            path, lambda temporary: data.to_netcdf(temporary, engine="h5netcdf", encoding=packed)
        )
    else:
        place = partial_path(path)
        data.to_zarr(place, zarr_format=3, consolidated=False)
        remove(path)  # of an interrupted export
        place.rename(path)


def _readme(
    name: str,
    asked_for: str,
    task: NamedTask,
    files: list[Path],
    form: str,
    shapes: dict[str, tuple[int, ...]],
) -> str:
    front = {"pretty_name": name, "license": "mit", "tags": ["operator-learning", "pde"]}
    head = f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n\n" if form == "huggingface" else ""
    asked = "\n".join(f"    {file}  {shape}" for file, shape in shapes.items())
    sizes = {path: sum(each.stat().st_size for each in (path, *everything_below(path))) for path in files}
    listed = "\n".join(f"- `{path.name}`, {size / 1e6:.1f} MB" for path, size in sizes.items())
    in_a_browser = ""
    if name in travelling():
        in_a_browser = f"""
In three minutes, without an installation: the documentation of Resolvent has a page for this task,
`tasks/{name}.html`, which `resolvent tasks --site pages` writes too. Drop your files there.
"""
    return f"""{head}# {name}

{task.title}.

Given: {task.given}. Asked: {task.asked}.

{listed}

`inputs` and `targets` have the shape (samples, ...space), or (samples, channels, ...space) for several
functions, in physical units, as float32 numbers; in two dimensions, space is (y, x). Parameters of a
sample that are single numbers are stored as constant functions, after all other functions. Test files have no
targets. So that files are smaller, `targets` are rounded to multiples of a power of two that is at most
{ROUNDING:.1e} of a sample's root mean square: an error of 1e-6 to 2e-6. The labels of the test are not
rounded.

## Evaluate your predictions

Train any model on `train_*` and `validation_*`. For each test grid, save an array of predictions with this
shape, in the order of the inputs, with the channels and axes of the targets in `train_*`:

{asked}

Put one array into each file; it may have any name. Only the first file is required.

Then install Resolvent, in a clone of its repository, and evaluate them:

    pip install -c constraints.txt .
    resolvent evaluate predictions --task {asked_for}

This prints the errors with their intervals, and writes a page. Models are ranked by the error on
{group_name(task.tested[0])}. The file of the task, `*.yaml`, contains all settings.
{in_a_browser}
## Version, licence, citation

{name} never changes: its labels are accurate to {task.dataset.accuracy:g} and held to the check values in
the file of the task. Written by Resolvent {version("resolvent")}; these files are under the MIT licence. Cite
the task by its name, Resolvent (CITATION.cff in its repository), and the paper that the first line names.
"""
