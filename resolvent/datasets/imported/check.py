"""Inspect a third-party data file and print a configuration for it: `resolvent inspect FILE`.

The printed configuration can be used as it is: findings are comments above it, and guesses are marked on
their lines. If the user has to decide something, a block to fill in is printed instead. A second file has the
targets if the first file has only one array, otherwise the test samples.
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
from resolvent.common.errors import ResolventError, printable
from resolvent.datasets.errors import DatasetError, in_one_line
from resolvent.datasets.imported.arrays import ArraysDataset
from resolvent.datasets.imported.arrays_checks import findings_of, unscaled, warnings_of
from resolvent.datasets.imported.detect import LOOKED_AT, Detected, Undecided, detect
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.imported.series import AXES, variable_of
from resolvent.datasets.imported.sources import in_natural_order, paths_of, without_numbers

FEWEST = 10  # with fewer samples, series are cut into windows
LAG = 4  # upper bound of the time lag of a window
# By dimension: name in the configuration, architecture, modes; and models for uneven points.
MODELS = {1: ("fno", "fno1d", 16), 2: ("fno2d", "fno2d", 12), 3: (None, "fno3d", 6)}
ON_UNEVEN_POINTS = {1: "tno", 2: "deeponet2d"}


@dataclass
class Report:
    """Result of an inspection.

    variables      for each of `files`, one line for each variable: name, shape, type.
    numbers        how to configure scalars of each sample as additional inputs.
    found          how input, target, axes and grid were recognised.
    configuration  configuration of a dataset and an experiment; None if there is a problem.
    guessed        reasons for guesses, by key of the configuration.
    to_fill        YAML block to complete, if there is no configuration.
    problem        why nothing can be imported, in one line.
    """

    files: list[str]
    variables: list[list[str]] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    configuration: dict | None = None
    guessed: dict[str, str] = field(default_factory=dict)
    to_fill: str = ""
    problem: str | None = None

    def text(self) -> str:
        """Return the report as YAML, with everything except the configuration in comments."""
        lines: list[str] = []
        for file, variables in zip(self.files, self.variables, strict=True):
            lines += [file, *(f"  {one}" for one in variables)]
        lines += [*self.found, *self.numbers]
        lines += [f"warning: {one}" for one in self.warnings]
        lines += [f"incomplete: {self.problem}"] if self.to_fill else []
        comments = "".join(f"# {printable(line)}\n" for line in lines)
        if self.configuration is None:
            return comments + ("\n" + self.to_fill if self.to_fill else "")
        return f"{comments}\n{_marked(_yaml(self.configuration), self.guessed)}"

    def open_lines(self) -> list[int]:
        """Return the line numbers of the text, from 1, that the user has to fill in or choose from."""
        is_open = re.compile(r" {4}(# |\w+: *(#|$)|samples: \{train: ,)")
        lines = self.text().splitlines() if self.to_fill else []
        return [number for number, line in enumerate(lines, 1) if is_open.match(line)]

    def to_do(self, path: Path | str) -> str:
        """Return what is left to do with the incomplete text in the file `path`."""
        spans: list[list[int]] = []
        for number in self.open_lines():
            if spans and number == spans[-1][-1] + 1:
                spans[-1].append(number)
            else:
                spans.append([number])
        listed = ", ".join(f"{one[0]} to {one[-1]}" if len(one) > 1 else str(one[0]) for one in spans)
        return (
            f"{path} is incomplete: {self.problem}; fill in or choose in lines {listed}, then run: resolvent "
            f"check {path}"
        )


def _marked(block: str, guessed: dict[str, str]) -> str:
    """Append the reasons for guesses to the lines of their keys."""
    for key, why in guessed.items():
        mark = f"  # {printable(why)}" if key == "training" else f"  # guess: {printable(why)}"
        at = re.search(rf"(?m)^ {{4}}(# )?{key}:.*$", block)
        if at is not None:
            block = block[: at.end()] + mark + block[at.end() :]
    return block


def _yaml(content: dict) -> str:
    """Return keys of the configuration as YAML, with innermost mappings and lists on one line."""
    how: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 10**6}
    return "".join(
        yaml.safe_dump({key: one}, **how, default_flow_style=None if isinstance(one, dict | list) else False)
        for key, one in content.items()
    )


def check_file(*given: Path | str) -> Report:
    """Inspect files, folders or patterns; return a report with a configuration or the `problem`."""
    report, paths = Report([]), [str(one) for one in given]
    try:
        # Two paths are two sources; more than two are parts of one source.
        sources = paths if len(paths) == 2 else [paths[0] if len(paths) == 1 else in_natural_order(paths)]
        opened = [[open_source(one) for one in paths_of(source)] for source in sources]
        for part in opened:
            more = f"; and {len(part) - 1} more files" if len(part) > 1 else ""
            report.files.append(f"{part[0].path}: {part[0].version}{more}")
            report.variables.append([_line(part[0], name) for name in part[0].shapes])
        _look_into(report, sources, opened)
    except ValidationError as error:
        first = error.errors()[0]
        report.problem = in_one_line(first.get("ctx", {}).get("error", first["msg"]))
    except (ResolventError, ValueError) as error:
        report.problem = in_one_line(error)
    return report


def _look_into(report: Report, sources: list[Any], opened: list[list[ArraysFile]]) -> None:
    """Complete a report. Raises if nothing can be imported; then `to_fill` has the user's choices, if any."""
    files, source = [part[0] for part in opened], sources[0]
    paired = len(files) == 2 and len(files[0].variables) == 1
    if len(files) == 2:
        source = dict(zip(("input", "target") if paired else ("train", "test"), sources, strict=True))
    if paired:
        one, other = sources
        if without_numbers(one) == without_numbers(other):
            raise DatasetError(
                f"{one} and {other} differ only in a number: write '{without_numbers(one)}' for parts of one "
                f"array, or source: {{input: {one}, target: {other}}} for a pair"
            )
        (only, shape), there = next(iter(files[0].shapes.items())), files[1].shapes
        if only in there and len(there[only]) != len(shape):
            raise DatasetError(
                f"{one} has the shape {shape}, {other} the shape {there[only]}; expected: the same axes, or "
                "both arrays in one file (np.savez), in which each has a name and its own axes"
            )
    roles = {"input": files[0], "target": files[-1] if paired else files[0]}
    first = sources[0] if isinstance(sources[0], str) else sources[0][0]
    stem = re.sub(r"[^a-z0-9]+", "_", Path(first.rstrip("/")).stem.lower()).strip("_") or "data"
    name, test = f"own_{stem}"[:60], opened[1] if len(files) == 2 and not paired else []
    try:
        detected = detect(roles)
    except Undecided as error:
        for file in files if not error.choices else []:
            file.require_real()  # a more specific error for variables in an unsupported form
        proposals = []
        for stated in error.choices:
            with suppress(DatasetError, ValidationError):
                found = detect(roles, **stated)
                proposed = _proposal(name, _block(source, found, opened[0], test))
                proposals.append((proposed[0], found.guessed | proposed[1]))
        report.to_fill = _to_fill(name, source, files, proposals)
        raise
    report.configuration, why, report.warnings = _proposal(name, _block(source, detected, opened[0], test))
    report.found, report.guessed = detected.remarks, detected.guessed | why
    if detected.numbers:
        keys = {
            "input": [*detected.inputs, *detected.numbers],
            "axes": _axes(detected) | {variable_of(entry): axes for entry, axes in detected.numbers.items()},
        }
        said = f"one number for each sample: {', '.join(detected.numbers)}; to use it as an input, write"
        report.numbers = [said, *(f"    {line}" for line in _yaml(keys).splitlines())]


def _proposal(name: str, block: dict) -> tuple[dict, dict[str, str], list[str]]:
    """Return a configuration, the reason for its training, and warnings; `DatasetError` for bad samples."""
    settings = ArraysDataset.model_validate(block)
    task = settings.task()
    sizes = {split: min(size, LOOKED_AT) for split, size in settings.samples.model_dump().items() if size}
    parts = ([(split, index) for index in range(size)] for split, size in sizes.items())
    batches = ((names, task.draw(names)) for names in parts)
    findings = findings_of(task.channels, settings.along("grid"), batches)
    warnings = warnings_of(findings, settings.along("grid"))
    warnings += [*task.notes(), *filter(None, [of_few(settings.samples.test)])]
    block |= {"stored_as": "float32"} if task.series.single() else {}
    configuration, why = _configuration(name, block, settings), dict[str, str]()
    if (far := unscaled(findings["mean_and_standard_deviation"])) and "experiments" in configuration:
        configuration["experiments"][name]["training"]["normalisation"] = "scalar"
        why["training"] = far[0].partition(":")[0]
    return configuration, why, warnings


def _to_fill(
    name: str, source: Any, files: list[ArraysFile], proposals: list[tuple[dict, dict[str, str]]]
) -> str:
    """Return a configuration to complete: commented alternatives with their guesses, or keys to fill in."""
    if proposals:
        contents, trained = [one for one, _ in proposals], all("experiments" in one for one, _ in proposals)
        text = _yaml({"name": name, "build": {"experiments" if trained else "datasets": [name]}})
        for section in ("datasets", "models", "experiments") if trained else ("datasets",):
            entries = [one.get(section, {}) for one in contents]
            for entry in dict.fromkeys(entry for one in entries for entry in one):
                # An alternative without this model can have any: it is not trained.
                known = next(one[entry] for one in entries if entry in one)
                guesses = [guessed for _, guessed in proposals]
                text += f"{section}:\n  {entry}:\n"
                text += _alternatives([one.get(entry, known) for one in entries], guesses)
        return text
    top = _yaml({"name": name, "build": {"experiments": [name]}})
    lines = [
        _line(file, one) + (f" in {file.name}" if len(files) > 1 else "")
        for file in files
        for one, shape in file.shapes.items()
        if len(shape) > 1
    ]
    files_named = yaml.safe_dump({"source": source}, sort_keys=False, allow_unicode=True, width=10**6)
    return (
        f"{top}datasets:\n  {name}:\n    equation: arrays\n{indent(files_named, '    ')}"
        f"    input:  # one of {'; '.join(lines[:8])}; name[0] for a channel\n"
        "    target:\n"
        f"    axes:  # [...] in the file's order, from {', '.join(AXES)}; {{name: [...], …}} if they differ\n"
        "    finest:  # points along each axis of space\n"
        "    grid:  # periodic, nodes or cell_centres\n"
        "    length: 1.0\n"
        "    samples: {train: , validation: , test: }\n"
        f"experiments:\n  {name}:\n    title: {name.replace('_', ' ')}\n    dataset: {name}\n"
        "    models:  # [fno] on a line, [fno2d] on a square or rectangle\n"
        "    resolutions:  # [points along x]\n"
        "    training: {epochs: 50, batch_size: 8}\n"
    )


def _alternatives(entries: list[dict], guesses: list[dict[str, str]]) -> str:
    """Return the lines of an entry of a section: common keys, then the others as commented alternatives."""
    first = entries[0]
    common = {key: one for key, one in first.items() if all(e.get(key) == one for e in entries)}
    text = _marked(indent(_yaml(common), "    "), guesses[0])
    if all(entry == common for entry in entries):
        return text
    for number, (entry, guessed) in enumerate(zip(entries, guesses, strict=True)):
        rest = {key: one for key, one in entry.items() if key not in common}
        text += "    # or:\n" if number else "    # either, without the '#':\n"
        marked = _marked(indent(_yaml(rest), "    "), guessed)
        text += "".join(f"    # {line[4:]}\n" for line in marked.splitlines())
    return text


def _line(file: ArraysFile, name: str) -> str:
    one = file.variables[name]
    shape = " × ".join(map(str, one.shape)) or "one value"
    words = one.kind or ("single precision" if one.single else "double precision")
    dims = one.dims()
    return f"{name}: {shape}, {words}" + (f" ({', '.join(dims)})" if dims else "")


def _axes(detected: Detected) -> dict[str, list[str]]:
    entries = (*detected.inputs, *detected.targets)
    return {variable_of(entry): list(detected.function(entry).axes) for entry in entries}


def _block(source: Any, detected: Detected, files: list[ArraysFile], test: list[ArraysFile]) -> dict:
    axes, first, grids = _axes(detected), detected.function(detected.inputs[0]), detected.grids
    lengths = {axis: grid.length for axis, grid in grids.items() if grid.kind != "uneven"}
    block: dict[str, Any] = {
        "equation": "arrays",
        "source": source,
        "input": detected.inputs[0] if len(detected.inputs) == 1 else detected.inputs,
        "target": detected.targets[0] if len(detected.targets) == 1 else detected.targets,
        "axes": list(first.axes) if len(set(map(tuple, axes.values()))) == 1 else axes,
        "finest": _one_or_each({axis: first.size(axis) for axis in grids}),
        "grid": _one_or_each({axis: grid.kind for axis, grid in grids.items()}),
    }
    block |= {"length": _one_or_each(lengths)} if lengths else {}
    if any(grid.origin for grid in grids.values()):
        block["origin"] = _one_or_each({axis: grid.origin for axis, grid in grids.items()})
    block |= {"coordinates": detected.coordinates} if detected.coordinates else {}
    # From the first time to the last, or windows if there are few series.
    given, wanted = first.size("time"), detected.function(detected.targets[0]).size("time")
    times, windows = min(given or wanted, wanted), 1
    block |= {"input_times": [0]} if given else {}
    if given and first.size("sample") < FEWEST and times >= 2 * FEWEST:
        lag = max(1, min(times // (FEWEST * LAG), LAG))
        block |= {"target_times": [lag], "window_every": lag}
        windows = (given - lag - 1) // lag + 1
    elif times:
        block["target_times"] = [times - 1]
    count, tested = 1, int(bool(test))
    if first.size("sample"):
        axis = first.axes.index("sample")
        count, tested = (sum(file.shape(first.name)[axis] for file in part) for part in (files, test))
    block["samples"] = _samples(source, count, tested, windows, detected.split_sizes)
    if detected.split:
        block["groups"] = {"variable": detected.split, **detected.split_words}
    return block


def _one_or_each(values: dict[str, Any]) -> Any:
    """Return the common value of all axes, or a value for each axis."""
    return values if len(set(values.values())) > 1 else next(iter(values.values()))


def _samples(source: Any, count: int, tested: int, windows: int, stated: dict[str, int]) -> dict[str, int]:
    """Return split sizes: a tenth each for validation and test, but more test samples if they are few.

    These are `FEW_TEST_SAMPLES` if that is at most a quarter of all, otherwise a fifth of all.

    count  rows, or rows of the training file if there is a test file with `tested` rows; each has `windows`.
    """
    if count == 1 and windows > 1:
        part = max(1, windows // 10)
        test = max(part, FEW_TEST_SAMPLES) if windows >= 4 * FEW_TEST_SAMPLES else part
        return {"train": windows - part - test - 4, "validation": part, "test": test}
    if stated:
        return {split: size * windows for split, size in stated.items()}
    if count < 3 and not tested:
        raise DatasetError(f"{source}: has {count} samples; expected: at least 3, one for each split")
    part = max(1, count // 10)
    few = FEW_TEST_SAMPLES if count >= 4 * FEW_TEST_SAMPLES else count // 5
    test = tested or max(part, few)
    train = count - part - (0 if tested else test)
    return {"train": train * windows, "validation": part * windows, "test": test * windows}


def _configuration(name: str, block: dict, settings: ArraysDataset) -> dict:
    content: dict[str, Any] = {"name": name, "build": {"datasets": [name]}, "datasets": {name: block}}
    sides, training = settings.along("finest"), {"epochs": 50, "batch_size": min(8, settings.samples.train)}
    model: str | None
    if not settings.uneven:
        model, architecture, modes = MODELS[settings.dimension]
        if (few := min(sides.values()) // 2) < modes or model is None:
            model, own = f"{name}_fno", {"settings": {"modes": min(few, modes)}}
            own["training"] = {"gradient_weight": 0}  # as `fno` and `fno2d`, and for several targets
            content["models"] = {model: {"label": "FNO", "architecture": architecture, **own}}
    elif settings.dimension in ON_UNEVEN_POINTS:
        model = ON_UNEVEN_POINTS[settings.dimension]
        training["gradient_weight"] = 0
    else:
        return content  # no architecture supports uneven points in this dimension
    content["build"] = {"experiments": [name]}
    content["experiments"] = {
        name: {
            "title": name.replace("_", " "),
            "dataset": name,
            "models": [model],
            "resolutions": [sides["x"]],
            "training": training,
        }
    }
    return content
