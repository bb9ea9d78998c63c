"""Look into a file of others: `resolvent import --check FILE` says what it has, and what to paste.

What is printed is a configuration as it stands: what was found stands in comments above it. A second file is
the one of the targets, where the first has one array alone; else the one of the test samples.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from resolvent.common.counts import FEW_TEST_SAMPLES, of_few
from resolvent.common.errors import ResolventError, printable
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.arrays import ArraysDataset
from resolvent.datasets.imported.arrays_checks import Checks
from resolvent.datasets.imported.channels import variable_of
from resolvent.datasets.imported.detect import LOOKED_AT, Detected, detect
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.storage.layout import SPLITS

FEWEST = 10  # samples below which a series is cut into windows
LAG = 4  # a window of a series reaches over a part of so many
MODELS = {1: ("fno", "fno1d", 16), 2: ("fno2d", "fno2d", 12)}  # by dimension: name, architecture, modes


@dataclass
class Report:
    """What a check has found.

    variables      a line for each: name, shape, type.
    numbers        what to write where numbers of each sample are to be inputs, too.
    found          how input, target, axes and grid were recognised.
    warnings       what is odd in the samples looked at.
    configuration  of a dataset and an experiment on it; None where there is a problem.
    problem        why nothing can be imported; one line.
    """

    files: list[str]
    variables: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    configuration: dict | None = None
    problem: str | None = None

    def text(self) -> str:
        """Return the report as YAML, with all but the configuration in comments."""
        lines = [*self.files, *(f"  {one}" for one in self.variables), *self.found, *self.numbers]
        lines += [f"warning: {one}" for one in self.warnings]
        comments = "".join(f"# {printable(line)}\n" for line in lines)
        if self.configuration is None:
            return comments
        block = "".join(map(_yaml, self.configuration.items()))
        return f"{comments}\n{block}"


def _yaml(entry: tuple[str, Any]) -> str:
    """Write a key of the configuration: what is innermost on one line."""
    flow = None if isinstance(entry[1], dict) else False
    return yaml.safe_dump(
        dict([entry]), sort_keys=False, allow_unicode=True, width=100, default_flow_style=flow
    )


def check_file(path: Path | str, second: Path | str | None = None) -> Report:
    """Look into a file, or two, and report what a dataset of it would be; nothing is written.

    A file that cannot be imported has a `problem` in the report; no error is raised.
    """
    report = Report([])
    try:
        paths = [str(path)] if second is None else [str(path), str(second)]
        files = [open_source(one) for one in paths]
        for file in files:
            report.files.append(f"{file.path}: {file.version}")
            report.variables += [_line(file, name) for name in file.shapes]
        paired = len(files) == 2 and len(files[0].shapes) == 1
        source: Any = paths[0]
        if len(files) == 2:
            source = dict(zip(("input", "target") if paired else ("train", "test"), paths, strict=True))
        if paired:
            _require_common_axes(*files)
        detected = detect({"input": files[0], "target": files[-1] if paired else files[0]})
        report.found = detected.remarks
        block = _block(source, detected, files[-1] if len(files) == 2 and not paired else None)
        settings = ArraysDataset.model_validate(block)
        settings.series()
        report.warnings = _warnings(settings)
        report.warnings += [f"In {file.name} {note}." for file in files for note in file.notes]
        report.warnings += [words for words in [of_few(settings.samples.test)] if words]
        report.numbers = _numbers(detected, block)
        report.configuration = _configuration(_name(paths[0]), block, settings)
    except (ResolventError, ValueError) as error:
        report.problem = " ".join(_message(error).split())
    return report


def _message(error: Exception) -> str:
    """Return the words of an error; of pydantic the first one's."""
    problems = getattr(error, "errors", None)
    if problems is None:
        return str(error)
    first = problems()[0]
    return str(first.get("ctx", {}).get("error", first["msg"]))


def _line(file: ArraysFile, name: str) -> str:
    kind = file.not_real(name)
    shape = " × ".join(map(str, file.shapes[name])) or "one value"
    words = kind or ("single precision" if file.single(name) else "double precision")
    dims = file.dims(name)
    return f"{name}: {shape}, {words}" + (f" ({', '.join(dims)})" if dims else "")


def _block(source: Any, detected: Detected, test: ArraysFile | None) -> dict:
    """Return the settings of a dataset of what was detected."""
    entries = [*detected.inputs, *detected.targets]
    functions = {detected.function(entry).name: detected.function(entry) for entry in entries}
    first = detected.function(detected.inputs[0])
    axes = {name: list(one.axes) for name, one in functions.items()}
    alike = len({tuple(one) for one in axes.values()}) == 1
    sides = {first.size(axis) for axis in "zyx" if first.size(axis)}
    if len(sides) > 1:
        shape = " × ".join(map(str, first.shape))
        raise DatasetError(
            f"{source}: '{first.name}' has {shape} values, with {', '.join(first.axes)} as axes; "
            f"expected: as many "
            "points along every axis of space"
        )
    points = sides.pop()
    grid = detected.grid
    block: dict[str, Any] = {
        "equation": "arrays",
        "source": source,
        "input": detected.inputs[0],
        "target": detected.targets[0],
        "axes": list(first.axes) if alike else axes,
        "finest": points,
        "grid": grid.kind,
        "length": grid.length,
    }
    if grid.origin:
        block["origin"] = grid.origin
    if detected.coordinates:
        block["coordinates"] = detected.coordinates
    block |= _times(detected)
    block["samples"] = _samples(detected, block, test)
    if detected.split:
        block["groups"] = {"variable": detected.split, **{split: [split] for split in SPLITS}}
    return block


def _numbers(detected: Detected, block: dict) -> list[str]:
    """Say how the numbers of each sample become inputs: two keys in the place of those below."""
    if not detected.numbers:
        return []
    axes = {
        variable_of(entry): list(detected.function(entry).axes)
        for entry in (*detected.inputs, *detected.targets)
    }
    axes |= {variable_of(entry): one for entry, one in detected.numbers.items()}
    keys = {"input": [block["input"], *detected.numbers], "axes": axes}
    lines = yaml.safe_dump(keys, sort_keys=False, allow_unicode=True, width=10**6, default_flow_style=None)
    return [
        f"one number for each sample: {', '.join(detected.numbers)}; for the models to know it, write below",
        *(f"    {line}" for line in lines.splitlines()),
    ]


def _times(detected: Detected) -> dict[str, Any]:
    """Choose times: the first and the last, or windows where there are few series."""
    given, wanted = (detected.function(entries[0]) for entries in (detected.inputs, detected.targets))
    count = min(one.size("time") for one in (given, wanted) if one.size("time")) if wanted.size("time") else 0
    if not count:
        return {"input_times": [0]} if given.size("time") else {}
    if given.size("time") and given.size("sample") < FEWEST and count >= 2 * FEWEST:
        lag = max(1, min(count // (FEWEST * LAG), LAG))
        return {"input_times": [0], "target_times": [lag], "window_every": lag}
    times: dict[str, Any] = {"target_times": [count - 1]}
    return {"input_times": [0], **times} if given.size("time") else times


def _require_common_axes(given: ArraysFile, wanted: ArraysFile) -> None:
    """Raise `DatasetError` where two arrays of one name have different axes, which are stated by name."""
    (name, shape), other = next(iter(given.shapes.items())), wanted.shapes
    if name in other and len(other[name]) != len(shape):
        raise DatasetError(
            f"{given.path} has the shape {shape}, {wanted.path} the shape {other[name]}; expected: the same "
            "axes, or both arrays in one file (np.savez), where each has a name, and axes of its own"
        )


def _samples(detected: Detected, block: dict, test: ArraysFile | None) -> dict[str, int]:
    """Split what there is: a tenth each for validation and test, at least one.

    For intervals to mean something, up to a fifth is for the test until that is `FEW_TEST_SAMPLES`.
    """
    one = detected.function(detected.inputs[0])
    count = one.size("sample") or 1
    per = 1
    if "window_every" in block:
        per = (one.size("time") - block["target_times"][0] - 1) // block["window_every"] + 1
    if count == 1 and per > 1:
        part = max(1, per // 10)
        return {"train": per - 2 * part - 4, "validation": part, "test": part}
    if detected.split:
        return {split: size * per for split, size in detected.split_sizes.items()}
    part = max(1, count // 10)
    if test is not None:
        tested = test.shapes[one.name][one.axes.index("sample")]
        return {"train": (count - part) * per, "validation": part * per, "test": tested * per}
    if count < 3:
        raise DatasetError(
            f"{block['source']}: has {count} samples; expected: at least 3, one for each split"
        )
    tested = max(part, min(FEW_TEST_SAMPLES, count // 5))
    return {"train": (count - part - tested) * per, "validation": part * per, "test": tested * per}


def _warnings(settings: ArraysDataset) -> list[str]:
    """Look at the first samples of every split."""
    task = settings.task()
    checks = Checks(task)
    for split, size in settings.samples.model_dump().items():
        names = [(split, index) for index in range(min(size, LOOKED_AT))]
        if names:
            checks.add(names, task.draw(names))
    return Checks.warnings(checks.findings(), settings)


def _name(path: str) -> str:
    stem = re.sub(r"[^a-z0-9]+", "_", Path(path.rstrip("/")).stem.lower()).strip("_") or "data"
    return f"own_{stem}"[:60]


def _configuration(name: str, block: dict, settings: ArraysDataset) -> dict:
    """Return a configuration with the dataset, and an experiment with a model that fits it."""
    single = settings.series().single()
    block = block | ({"stored_as": "float32"} if single else {})
    if settings.dimension not in MODELS:
        return {"name": name, "build": {"datasets": [name]}, "datasets": {name: block}}
    model, architecture, modes = MODELS[settings.dimension]
    content: dict[str, Any] = {
        "name": name,
        "build": {"experiments": [name]},
        "datasets": {name: block},
    }
    if settings.finest < 2 * modes:
        model = f"{name}_fno"
        fewer = {"modes": settings.finest // 2}
        content["models"] = {model: {"label": "FNO", "architecture": architecture, "settings": fewer}}
    batch = min(8, settings.samples.train)
    content["experiments"] = {
        name: {
            "title": name.replace("_", " "),
            "dataset": name,
            "models": [model],
            "resolutions": [settings.finest],
            "training": {"epochs": 50, "batch_size": batch},
        }
    }
    return content
