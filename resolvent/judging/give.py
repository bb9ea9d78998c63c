"""Export a task for people who train elsewhere: training samples, test inputs and instructions."""

from __future__ import annotations

import shutil
from importlib.metadata import version
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
from resolvent.datasets.loading import Samples, Split
from resolvent.datasets.storage.layout import coordinates_of, group_name
from resolvent.judging.answers import travelling
from resolvent.judging.tasks import FOLDER, NamedTask, labels_of, made, read_task

ENDINGS = {"npz": ".npz", "netcdf": ".nc", "zarr": ".zarr", "huggingface": ".npz"}
MADE = ".made"  # stores of an export, while it is not finished: the next call resumes it
SIZE = 256  # samples written at a time


def give(name: str, folder: Path, form: str = "npz", cores: int = 1) -> list[Path]:
    """Write the task `name` into a new `folder` in a format of `ENDINGS`, and return the files.

    Each split and resolution has a file such as `train_n512.npz`, with `inputs`, `targets`, both in single
    precision, and coordinates;
    test files, such as `test_n512.npz`, have no targets. Raises `FileError` if the name or format is unknown
    or the folder has other files, and `DatasetError` if the samples do not match the task.
    """
    task = read_task(name)
    if form not in ENDINGS:
        raise FileError(f"unknown format '{form}'; accepted: {', '.join(ENDINGS)}")
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder} is a file: choose another folder")
    if folder.exists() and any(folder.iterdir()) and not (folder / MADE).exists():
        raise FileError(f"{folder} exists and is not empty: choose another folder, or delete it")
    sizes = task.dataset.samples.model_dump() | {"test": 0}
    card = made(task.dataset, folder / MADE, name, cores=cores, **sizes)
    tested = labels_of(name, folder / MADE, cores)
    written, asked = [], {}
    for resolution in dict.fromkeys([*task.tested, *task.dataset.resolutions]):
        for split, count in task.dataset.samples.model_dump().items():
            samples = Split(tested if split == "test" else card, resolution, split, count).all()
            path = folder / f"{split}_{group_name(resolution)}{ENDINGS[form]}"
            _write(path, samples, with_targets=split != "test")
            if split == "test" and resolution in task.tested:
                asked[f"predictions/{group_name(resolution)}{ENDINGS[form]}"] = samples.targets.shape
            written.append(path)
    shutil.copy(FOLDER / f"{name}.yaml", folder / "task.yaml")
    write_text(folder / "README.md", _readme(name, task, written, form, asked))
    remove(folder / MADE)
    return [*written, folder / "task.yaml", folder / "README.md"]


def _write(path: Path, samples: Samples, *, with_targets: bool) -> None:
    kept, coordinates = {"inputs": samples.inputs.astype(np.float32)}, coordinates_of(samples.grid)
    grids = {"inputs": coordinates}
    if with_targets:
        kept["targets"] = samples.targets.astype(np.float32)
    if samples.target_grid != samples.grid:
        grids["targets"] = coordinates_of(samples.target_grid, "_target")
    every = {name: values for axes in grids.values() for name, values in axes.items()}
    if path.suffix == ".npz":
        return write_arrays(path, kept | every, compressed=True)
    data = xarray.Dataset(coords=every)
    for name, values in kept.items():
        space = tuple(grids.get(name, coordinates))
        channels = (f"{name}_channel",) if values.ndim > 1 + len(space) else ()
        data[name] = (("sample", *channels, *space), values)
    if path.suffix == ".nc":
        write_atomically(path, lambda temporary: data.to_netcdf(temporary, engine="h5netcdf"))
    else:
        place = partial_path(path)
        data.to_zarr(place, zarr_format=3, consolidated=False)
        remove(path)  # of an interrupted export
        place.rename(path)


def _readme(
    name: str,
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
targets.

## Evaluate your predictions

Train any model on `train_*` and `validation_*`. For each test grid, save an array of predictions with this
shape, in the order of the inputs, with the channels and axes of the targets in `train_*`:

{asked}

Put one array into each file; it may have any name. Only the first file is required.

Then install Resolvent, in a clone of its repository, and evaluate them:

    pip install -c constraints.txt .
    resolvent evaluate predictions --task {name}

This prints the errors with their intervals, and writes a page. Models are ranked by the error on
{group_name(task.tested[0])}. `task.yaml` contains all settings.
{in_a_browser}
## Version, licence, citation

{name} never changes: its labels are accurate to {task.dataset.accuracy:g} and held to the check values in
`task.yaml`. Written by Resolvent {version("resolvent")}; these files are under the MIT licence. Cite
the task by its name, Resolvent (CITATION.cff in its repository), and the paper that the first line names.
"""
