"""Look into a file of others: `resolvent import --check FILE` says what it has, and what to paste.

What is printed is a configuration as it stands: what was found stands in comments above it, and what is
guessed says so on its line. Where a person has to say what is what, a block to fill in is printed instead. A
second file is the one of the targets, where the first has one array alone; else the one of the test samples.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import Any

import yaml
from pydantic import ValidationError

from resolvent.common.counts import FEW_TEST_SAMPLES, of_few
from resolvent.common.errors import ResolventError, Words, printable
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.arrays import ArraysDataset
from resolvent.datasets.imported.arrays_checks import findings_of, unscaled, warnings_of
from resolvent.datasets.imported.channels import AXES, variable_of
from resolvent.datasets.imported.detect import LOOKED_AT, Detected, Undecided, detect
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.imported.sources import in_natural_order, parts_of_one, paths_of, without_numbers
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
    guessed        why keys of the configuration that are guesses are as they are.
    to_fill        a block in YAML that a person completes, where there is no configuration.
    problem        why nothing can be imported; one line.
    """

    files: list[str]
    variables: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    configuration: dict | None = None
    guessed: dict[str, Words] = field(default_factory=dict)
    to_fill: str = ""
    problem: str | None = None

    def text(self) -> str:
        """Return the report as YAML, with all but the configuration in comments."""
        lines = [*self.files, *(f"  {one}" for one in self.variables), *self.found, *self.numbers]
        lines += [f"warning: {one}" for one in self.warnings]
        comments = "".join(f"# {printable(line)}\n" for line in lines)
        if self.configuration is None:
            return comments + ("\n" + self.to_fill if self.to_fill else "")
        return f"{comments}\n{_marked(_yaml(self.configuration), self.guessed)}"


def _marked(block: str, guessed: dict[str, Words]) -> str:
    """Say on the line of each key of a dataset, or of its experiment, why it is as it is."""
    for key, why in guessed.items():
        mark = f"  # {printable(why)}" if key == "training" else f"  # guess: {printable(why)}"
        at = re.search(rf"(?m)^ {{4}}(# )?{key}:.*$", block)
        if at is not None:
            block = block[: at.end()] + mark + block[at.end() :]
    return block


def _yaml(content: dict) -> str:
    """Write keys of the configuration: what is innermost on one line."""
    how: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 10**6}
    return "".join(
        yaml.safe_dump({key: one}, **how, default_flow_style=None if isinstance(one, dict | list) else False)
        for key, one in content.items()
    )


def check_file(*given: Path | str) -> Report:
    """Look into a file, a folder, a pattern, or several, and report what a dataset of it would be.

    A file that cannot be imported has a `problem` in the report; no error is raised.
    """
    report, paths = Report([]), [str(one) for one in given]
    try:
        # Two paths are two sources, more of them are one.
        source: Any = paths[0] if len(paths) == 1 else in_natural_order(paths)
        opened = [
            [open_source(one) for one in paths_of(part)] for part in (paths if len(paths) == 2 else [source])
        ]
        for part in opened:
            more = f"; and {len(part) - 1} more files" if len(part) > 1 else ""
            report.files.append(f"{part[0].path}: {part[0].version}{more}")
            report.variables += [_line(part[0], name) for name in part[0].shapes]
        _look_into(report, source, opened, paths)
    except ValidationError as error:
        first = error.errors()[0]
        report.problem = " ".join(str(first.get("ctx", {}).get("error", first["msg"])).split())
    except (ResolventError, ValueError) as error:
        report.problem = " ".join(str(error).split())
    return report


def _look_into(report: Report, source: Any, opened: list[list[ArraysFile]], paths: list[str]) -> None:
    """Complete a report; raises where nothing can be imported, with `to_fill` where a person can."""
    files = [part[0] for part in opened]
    paired = len(files) == 2 and len(files[0].variables) == 1
    if len(files) == 2:
        source = dict(zip(("input", "target") if paired else ("train", "test"), paths, strict=True))
    if paired and parts_of_one(paths):
        raise DatasetError(
            f"{' and '.join(paths)} differ in a number alone: parts of one array are given as "
            f"'{without_numbers(paths[0])}'; of a pair write source: {{input: {paths[0]}, target: "
            f"{paths[1]}}}"
        )
    if paired:
        (only, shape), other = next(iter(files[0].shapes.items())), files[1].shapes
        if only in other and len(other[only]) != len(shape):
            raise DatasetError(
                f"{files[0].path} has the shape {shape}, {files[1].path} the shape {other[only]}; expected: "
                "the same axes, or both arrays in one file (np.savez), where each has a name, and axes of "
                "its own"
            )
    roles = {"input": files[0], "target": files[-1] if paired else files[0]}
    test = opened[-1] if len(files) == 2 and not paired else []
    stem = re.sub(r"[^a-z0-9]+", "_", Path(paths[0].rstrip("/")).stem.lower()).strip("_") or "data"
    name = f"own_{stem}"[:60]
    try:
        detected = detect(roles)
    except Undecided as error:
        for file in files if not error.choices else []:
            file.require_real()  # says more, where there is a variable in another form
        blocks = []
        for stated in error.choices:
            with suppress(DatasetError):
                found = detect(roles, **stated)
                blocks.append((_block(source, found, opened[0], test), found.guessed))
        report.to_fill = _to_fill(name, source, files, blocks)
        raise
    report.found, report.guessed = detected.remarks, detected.guessed
    block = _block(source, detected, opened[0], test)
    settings = ArraysDataset.model_validate(block)
    task = settings.task()
    sizes = {split: min(size, LOOKED_AT) for split, size in settings.samples.model_dump().items() if size}
    parts = ([(split, index) for index in range(size)] for split, size in sizes.items())
    batches = ((names, task.draw(names)) for names in parts)
    findings = findings_of(task.channels, settings.dimension, batches)
    report.warnings = warnings_of(findings, settings.grid)
    report.warnings += [*task.notes(), *filter(None, [of_few(settings.samples.test)])]
    report.numbers = _numbers(detected)
    block |= {"stored_as": "float32"} if task.series.single() else {}
    report.configuration = _configuration(name, block, settings)
    if (far := unscaled(findings["mean_and_standard_deviation"])) and "experiments" in report.configuration:
        report.configuration["experiments"][name]["training"]["normalisation"] = "scalar"
        report.guessed["training"] = far[0].partition(":")[0]


def _to_fill(name: str, source: Any, files: list[ArraysFile], blocks: list[tuple[dict, dict]]) -> str:
    """Return a configuration for a person to complete: settings to choose from, or keys to fill in.

    blocks  settings of a dataset with what is guessed among them.
    """
    top = _yaml({"name": name, "build": {"datasets": [name]}})
    if blocks:
        first, guessed = blocks[0]
        common = {key: one for key, one in first.items() if all(b.get(key) == one for b, _ in blocks)}
        text = _marked(_yaml({"datasets": {name: common}}), guessed)
        for number, (block, guessed) in enumerate(blocks):
            rest = {key: one for key, one in block.items() if key not in common}
            text_of_rest = indent(_yaml(rest), "    ")
            text += "    # or:\n" if number else "    # either, without the '#':\n"
            text += "".join(f"    # {line[4:]}\n" for line in _marked(text_of_rest, guessed).splitlines())
        return top + text
    lines = [_line(file, one) for file in files for one, shape in file.shapes.items() if len(shape) > 1]
    files_named = yaml.safe_dump({"source": source}, sort_keys=False, allow_unicode=True, width=10**6)
    return (
        f"{top}datasets:\n  {name}:\n    equation: arrays\n{indent(files_named, '    ')}"
        f"    input:  # of {'; '.join(lines[:8])}; name[0] on an axis of channels\n"
        "    target:\n"
        f"    axes:  # [...] in the file's order, of {', '.join(AXES)}; if orders differ {{name: [...], …}}\n"
        "    finest:  # points along each axis of space\n"
        "    grid:  # periodic, nodes or cell_centres\n"
        "    length: 1.0\n"
        "    samples: {train: , validation: , test: }\n"
    )


def _line(file: ArraysFile, name: str) -> str:
    one = file.variables[name]
    shape = " × ".join(map(str, one.shape)) or "one value"
    words = one.kind or ("single precision" if one.single else "double precision")
    dims = one.dims()
    return f"{name}: {shape}, {words}" + (f" ({', '.join(dims)})" if dims else "")


def _block(source: Any, detected: Detected, files: list[ArraysFile], test: list[ArraysFile]) -> dict:
    """Return the settings of a dataset of what was detected."""
    entries = [*detected.inputs, *detected.targets]
    axes = {variable_of(entry): list(detected.function(entry).axes) for entry in entries}
    first, grid = detected.function(detected.inputs[0]), detected.grid
    block: dict[str, Any] = {
        "equation": "arrays",
        "source": source,
        "input": detected.inputs[0] if len(detected.inputs) == 1 else detected.inputs,
        "target": detected.targets[0] if len(detected.targets) == 1 else detected.targets,
        "axes": list(first.axes) if len(set(map(tuple, axes.values()))) == 1 else axes,
        "finest": first.size("x"),
        "grid": grid.kind,
        "length": grid.length,
    }
    if grid.origin:
        block["origin"] = grid.origin
    if detected.coordinates:
        block["coordinates"] = detected.coordinates
    # The first time and the last, or windows where there are few series.
    given, wanted = first.size("time"), detected.function(detected.targets[0]).size("time")
    count = min(given or wanted, wanted)
    block |= {"input_times": [0]} if given else {}
    if given and first.size("sample") < FEWEST and count >= 2 * FEWEST:
        lag = max(1, min(count // (FEWEST * LAG), LAG))
        block |= {"target_times": [lag], "window_every": lag}
    elif count:
        block["target_times"] = [count - 1]
    block["samples"] = _samples(detected, block, files, test)
    if detected.split:
        block["groups"] = {"variable": detected.split, **{split: [split] for split in SPLITS}}
    return block


def _numbers(detected: Detected) -> list[str]:
    """Say how the numbers of each sample become inputs: two keys in the place of those below."""
    if not detected.numbers:
        return []
    entries = (*detected.inputs, *detected.targets)
    axes = {variable_of(entry): list(detected.function(entry).axes) for entry in entries}
    axes |= {variable_of(entry): one for entry, one in detected.numbers.items()}
    keys = {"input": [*detected.inputs, *detected.numbers], "axes": axes}
    return [
        f"one number for each sample: {', '.join(detected.numbers)}; for the models to know it, write below",
        *(f"    {line}" for line in _yaml(keys).splitlines()),
    ]


def _samples(
    detected: Detected, block: dict, files: list[ArraysFile], test: list[ArraysFile]
) -> dict[str, int]:
    """Split what there is: a tenth each for validation and test, up to a fifth of few for the test."""
    one, per = detected.function(detected.inputs[0]), 1

    def rows(files: list[ArraysFile]) -> int:
        if not one.size("sample"):
            return 1
        return sum(file.shape(one.name)[one.axes.index("sample")] for file in files)

    count = rows(files)
    if "window_every" in block:
        per = (one.size("time") - block["target_times"][0] - 1) // block["window_every"] + 1
    if count == 1 and per > 1:
        part = max(1, per // 10)
        return {"train": per - 2 * part - 4, "validation": part, "test": part}
    if detected.split:
        return {split: size * per for split, size in detected.split_sizes.items()}
    part = max(1, count // 10)
    if test:
        return {"train": (count - part) * per, "validation": part * per, "test": rows(test) * per}
    if count < 3:
        raise DatasetError(
            f"{block['source']}: has {count} samples; expected: at least 3, one for each split"
        )
    tested = max(part, min(FEW_TEST_SAMPLES, count // 5))
    return {"train": (count - part - tested) * per, "validation": part * per, "test": tested * per}


def _configuration(name: str, block: dict, settings: ArraysDataset) -> dict:
    """Return a configuration with the dataset, and an experiment with a model that fits it."""
    if settings.dimension not in MODELS:
        return {"name": name, "build": {"datasets": [name]}, "datasets": {name: block}}
    model, architecture, modes = MODELS[settings.dimension]
    content: dict[str, Any] = {"name": name, "build": {"experiments": [name]}, "datasets": {name: block}}
    if settings.finest < 2 * modes:
        model = f"{name}_fno"
        fewer = {"modes": settings.finest // 2}
        content["models"] = {model: {"label": "FNO", "architecture": architecture, "settings": fewer}}
    content["experiments"] = {
        name: {
            "title": name.replace("_", " "),
            "dataset": name,
            "models": [model],
            "resolutions": [settings.finest],
            "training": {"epochs": 50, "batch_size": min(8, settings.samples.train)},
        }
    }
    return content
