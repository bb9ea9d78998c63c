"""Inspect a third-party data file and write a configuration for it: `resolvent import FILE`.

Whatever the file's names, dimensions and coordinates decide is in the configuration, with the reason as a
comment. Everything else has a value that begins with `CHOOSE` and lists the candidates; `resolvent check`
refuses it until the user has chosen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from pydantic import ValidationError

from resolvent.common.counts import FEW_TEST_SAMPLES, of_few
from resolvent.common.errors import ResolventError, printable
from resolvent.common.settings import CHOOSE, choose_one_of
from resolvent.datasets.errors import DatasetError, in_one_line
from resolvent.datasets.imported.arrays import ArraysDataset
from resolvent.datasets.imported.arrays_checks import (
    findings_of,
    larger,
    repeats_ends,
    sorted_warnings,
    unscaled,
    warnings_of,
)
from resolvent.datasets.imported.axes import axis_of, coordinates_of, is_even, line_of
from resolvent.datasets.imported.layouts import LOOKED_AT, Case, Roles, cases_of, roles_of
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.readers.joined import SPLIT, SPLIT_VARIABLE
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.imported.series import variable_of
from resolvent.datasets.imported.sources import ROLES, in_natural_order, paths_of, without_numbers
from resolvent.datasets.storage.layout import SPACE, SPLITS

FEWEST = 10  # with fewer samples, series are cut into windows
LAG = 4  # upper bound of the time lag of a window
# By dimension: name in the configuration, architecture, modes; and models for uneven points.
MODELS = {1: ("fno", "fno1d", 16), 2: ("fno2d", "fno2d", 12), 3: (None, "fno3d", 6)}
ON_UNEVEN_POINTS = {1: "tno", 2: "deeponet2d"}
KINDS = "periodic: no right end; nodes: both ends; cell_centres: no ends"
YOURS = "change it as you need"


@dataclass
class Report:
    """Result of an inspection.

    variables      for each of `files`, one line for each variable: name, shape, type.
    remarks        what else the files have, such as a number for each sample.
    configuration  configuration of a study; None if there is a problem.
    reasons        comments on keys of its datasets and experiments, and on `build`.
    problem        why nothing can be imported, in one line.
    """

    files: list[str]
    variables: list[list[str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    configuration: dict | None = None
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    problem: str | None = None

    def text(self) -> str:
        """Return the report as YAML, with everything except the configuration in comments."""
        lines: list[str] = []
        for file, variables in zip(self.files, self.variables, strict=True):
            lines += [file, *(f"  {variable}" for variable in variables)]
        lines += [*self.remarks, *(f"warning: {warning}" for warning in self.warnings)]
        comments = "".join(f"# {printable(line)}\n" for line in lines)
        if self.configuration is None:
            return comments
        block, entry = [], ""
        for line in _yaml(self.configuration).splitlines():
            entry = line.strip().rstrip(":") if re.match(r" {2}\w+:$", line) else entry
            key = re.match(r" {2,4}(\w+): ", line)
            reason = self.reasons.get((entry, key[1]), self.reasons.get(("", key[1]))) if key else None
            block.append(f"{line}  # {printable(reason)}\n" if reason else f"{line}\n")
        return f"{comments}\n{''.join(block)}"

    def open_lines(self) -> list[int]:
        """Return the line numbers of the text, from 1, in which the user has to choose."""
        lines = enumerate(self.text().splitlines(), 1)
        return [number for number, line in lines if CHOOSE in line.partition("  # ")[0] and line[0] != "#"]

    def to_do(self, path: Path | str) -> str:
        """Return what is left to do with the text in the file `path`."""
        lines = self.open_lines()
        listed = f"{'lines' if len(lines) > 1 else 'line'} {', '.join(map(str, lines))}"
        if len((self.configuration or {}).get("datasets", ())) > 1:
            listed = f"line {lines[0]} one of the entries, then in this entry"
        return (
            f"{path}: {f'choose in {listed}, then' if lines else 'read it, then'} run: resolvent check {path}"
        )


def _yaml(content: dict) -> str:
    """Return keys of the configuration as YAML, with innermost mappings and lists on one line."""
    how: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 10**6}
    return "".join(
        yaml.safe_dump(
            {key: value}, **how, default_flow_style=None if isinstance(value, dict | list) else False
        )
        for key, value in content.items()
    )


def check_file(*given: Path | str) -> Report:
    """Inspect files, folders or patterns; return a report with a configuration or the `problem`."""
    report, paths = Report([]), [str(path) for path in given]
    try:
        # Two paths are two sources; more than two are parts of one source.
        sources = paths if len(paths) == 2 else [paths[0] if len(paths) == 1 else in_natural_order(paths)]
        opened = [[open_source(path) for path in paths_of(source)] for source in sources]
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


def _line(file: ArraysFile, name: str) -> str:
    variable = file.variables[name]
    shape = " × ".join(map(str, variable.shape)) or "one value"
    words = variable.kind or ("single precision" if variable.single else "double precision")
    dims = variable.dims()
    return f"{name}: {shape}, {words}" + (f" ({', '.join(dims)})" if dims and all(dims) else "")


def _look_into(report: Report, sources: list[Any], opened: list[list[ArraysFile]]) -> None:
    """Complete a report. Raises if nothing can be imported."""
    files, source = [part[0] for part in opened], sources[0]
    paired, several = len(files) == 2 and len(files[0].variables) == 1, len(opened[0]) > 1
    if paired and without_numbers(sources[0]) == without_numbers(sources[1]):
        raise DatasetError(
            f"{sources[0]} and {sources[1]} differ only in a number: write '{without_numbers(sources[0])}' "
            f"for parts of one array, or source: {{input: {sources[0]}, target: {sources[1]}}} for a pair"
        )
    if len(files) == 2:
        source = dict(zip(("input", "target") if paired else ("train", "test"), sources, strict=True))
    roles = roles_of(files, paired, several)
    cases = cases_of(roles)
    first = sources[0] if isinstance(sources[0], str) else sources[0][0]
    stem = re.sub(r"[^a-z0-9]+", "_", Path(first.rstrip("/")).stem.lower()).strip("_") or "data"
    name, test = f"own_{stem}"[:60], [] if paired else opened[-1] if len(files) == 2 else []
    content: dict[str, Any] = {"name": name, "build": {}, "datasets": {}, "models": {}, "experiments": {}}
    for case in cases:
        # The function with the most axes distinguishes the cases.
        longest = max(case.axes.values(), key=len)
        ending = "" if len(cases) == 1 else "_" + "_".join(longest)
        entry = name[: 60 - len(ending)] + ending  # names have at most 64 characters, also with "_fno"
        try:
            block, reasons = _block(source, roles, case, opened[0], test)
        except DatasetError:  # too few samples, if these were the axes
            if case is not cases[-1] or content["datasets"]:
                continue
            raise
        scale = _add_warnings(report, block, case, settled=len(cases) == 1)
        report.remarks += _numbers(block, case) if len(cases) == 1 else []
        content["datasets"][entry] = block
        _add_experiment(content, entry, block, case, scale[0] if scale else "")
        reasons |= {"training": scale[0].partition(":")[0]} if scale else {}
        report.reasons |= {(entry, key): why for key, why in reasons.items()}
    if len(content["datasets"]) == 1 and not (len(cases) == 1 and cases[0].why):
        (block,) = content["datasets"].values()  # the only case that is left is asked, too
        block["axes"] = choose_one_of([_flow(block["axes"])])
    kind = "experiments" if content["experiments"] else "datasets"
    content["build"][kind] = list(content[kind])
    if len(content[kind]) > 1:
        content["build"][kind] = [choose_one_of(list(content[kind]))]
        report.reasons["", kind] = "the names have the axes, which the file does not decide"
    report.configuration = {key: value for key, value in content.items() if value}


def _flow(value: Any) -> str:
    """Return a value as YAML on one line, as a user would type it."""
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6)
    return text.removesuffix("...\n").strip()


def _one(values: list[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else values


def _block(
    source: Any, roles: Roles, case: Case, files: list[ArraysFile], test: list[ArraysFile]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the entry of a dataset for one reading of the files, and the reasons for its values, by key."""
    block: dict[str, Any] = {"equation": "arrays", "source": source}
    reasons: dict[str, str] = {"axes": case.why}
    _add_roles(block, reasons, roles, case)
    axes = {function.name: list(names) for function, names in case.axes.items()}
    alike = len({tuple(names) for names in axes.values()}) == 1
    block["axes"] = next(iter(axes.values())) if alike else axes
    sizes = {axis: case.size(axis) for axis in SPACE if case.size(axis)}
    block["finest"] = _one_or_each(sizes)
    _add_grid(block, reasons, case, list(sizes))
    windows = _add_times(block, reasons, roles, case, len(files))
    _add_splits(block, reasons, case, files, test, windows)
    axis_of_line, units = {name: axis for axis, name in block.get("coordinates", {}).items()}, {}
    for name in (*(function.name for function in case.axes), *axis_of_line):
        variable, axis = files[0].variables.get(name), axis_of_line.get(name, name)
        unit = variable.attributes().get("units") if variable is not None and axis != "time" else None
        if unit is not None:
            units[axis] = unit.decode() if isinstance(unit, bytes) else str(unit)
    block |= {"units": units} if units else {}
    single = all(function.file.variables[function.name].single for function in case.axes)
    block |= {"stored_as": "float32"} if single else {}
    return block, {key: why for key, why in reasons.items() if why}


def _add_roles(block: dict[str, Any], reasons: dict[str, str], roles: Roles, case: Case) -> None:
    """Add `input` and `target`: from their names, one function at two times, or the candidates."""
    if roles.why is not None:
        for role, (function,), why in zip(ROLES, (roles.inputs, roles.targets), roles.why, strict=True):
            block[role], reasons[role] = _one(case.entries(function)), why
        return
    evolves = any(case.size("time", function) > 1 for function in case.axes)
    for role, candidates in (("input", roles.inputs), ("target", roles.targets)):
        entries = [case.entries(function) for function in candidates if function in case.axes]
        if len(entries) == 1 and evolves:
            block[role], reasons[role] = _one(entries[0]), "the only function of the file"
            continue
        options: list[Any] = list(map(_one, entries)) if len(entries) > 1 else entries[0]
        if len(entries) > 1 and evolves:
            options.append([entry for of_function in entries for entry in of_function])
        block[role], reasons[role] = choose_one_of(map(_flow, options)), "or a list of names"


def _add_times(block: dict[str, Any], reasons: dict[str, str], roles: Roles, case: Case, files: int) -> int:
    """Add times from the first to the last, or windows if there are few series; return windows per series."""
    input_evolves, target_evolves = (
        all(case.size("time", function) for function in case.axes if function in candidates)
        for candidates in (roles.inputs, roles.targets)
    )
    block |= {"input_times": [0]} if input_evolves else {}
    if not target_evolves:
        return 1
    times = min(case.size("time", function) for function in case.axes if case.size("time", function))
    series = case.size("sample") if "sample" in case.axes[case.first] else files
    block["target_times"], reasons["target_times"] = [times - 1], f"the last time: {YOURS}"
    if not input_evolves or series >= FEWEST or times < 2 * FEWEST:
        return 1
    lag = max(1, min(times // (FEWEST * LAG), LAG))
    block |= {"target_times": [lag], "window_every": lag}
    reasons |= {"target_times": "counted from the start of a window", "window_every": YOURS}
    return (times - lag - 1) // lag + 1


def _one_or_each(values: dict[str, Any]) -> Any:
    """Return the common value of all axes, or a value for each axis."""
    return values if len(set(values.values())) > 1 else next(iter(values.values()))


def _add_grid(block: dict[str, Any], reasons: dict[str, str], case: Case, space: list[str]) -> None:
    """Add `grid`, `length` and `coordinates`: from the coordinates, the boundary condition, or equal ends."""
    first, taken, kinds = case.first, {one.name for one in case.axes}, dict[str, str]()
    file, coordinates, why = first.file, dict[str, str](), list[str]()
    # One function may be equal at both ends because it is symmetric, or zero there.
    parts = [function.values(axes) for function, axes in case.axes.items()]
    repeated = all(min(part.shape[1:]) > 2 and repeats_ends(part, range(1, part.ndim)) for part in parts)
    for axis in space:
        points = case.size(axis)
        name = coordinates_of(file, axis, points, taken, first.name)
        if name is None and axis == "x" and not case.size("time"):  # functions of time
            name = coordinates_of(file, "time", points, taken, first.name)
        if name is not None:
            coordinates[axis] = name
            if not is_even(line_of(file, name)):
                kinds[axis] = "uneven"
                why.append(f"uneven points, from '{name}'")
                continue
        if file.boundary == "periodic" and points % 2 == 0:
            kinds[axis] = "periodic"
            why.append("the boundary is periodic, as stated in the file")
        elif repeated:
            kinds[axis] = "nodes"
            why.append("the last values of all functions repeat the first ones: both ends are included")
        else:
            periodic = points % 2 == 0 and file.boundary is None
            kinds[axis] = choose_one_of(["periodic"] * periodic + ["nodes", "cell_centres"])
            why.append(KINDS + ("; or one for each axis: {y: nodes, x: periodic}" if len(space) == 2 else ""))
    block["grid"] = _one_or_each(kinds)
    reasons["grid"] = "; ".join(dict.fromkeys(why))
    if not coordinates:
        block["length"] = 1.0
        reasons["length"] = f"the file has no coordinates: {YOURS}"
    if case.size("time") and (name := coordinates_of(file, "time", case.size("time"), taken, first.name)):
        coordinates["time"] = name
    block |= {"coordinates": coordinates} if coordinates else {}


def _add_splits(
    block: dict,
    reasons: dict[str, str],
    case: Case,
    files: list[ArraysFile],
    test: list[ArraysFile],
    windows: int,
) -> None:
    """Add `samples`, and `groups` or `rows` if a variable names the split of each sample."""
    count, tested, file = len(files), len(test), files[0]
    if case.size("sample"):
        number = case.axes[case.first].index("sample")
        count, tested = (sum(one.shape(case.first.name)[number] for one in part) for part in (files, test))
    reasons["samples"] = YOURS
    stated = file.variables.get(SPLIT_VARIABLE)
    if stated is not None and stated.kind == "text" and not test:
        labels = list(map(str, file.values(SPLIT_VARIABLE).ravel()))
        known = {label: [SPLIT[k] for k in SPLIT if label.lower().startswith(k)] for label in set(labels)}
        split_of = {label: splits[0] if splits else "" for label, splits in known.items()}
        own = {
            split: [label for label in dict.fromkeys(labels) if split_of[label] == split] for split in SPLITS
        }
        sizes = {split: sum(split_of[label] == split for label in labels) for split in SPLITS}
        complete, train = sum(sizes.values()) == len(labels) == count, sizes["train"]
        reasons["samples"] = f"as the variable '{SPLIT_VARIABLE}' says"
        if complete and all(sizes.values()):
            block["groups"] = {"variable": SPLIT_VARIABLE} | own
            block["samples"] = {split: size * windows for split, size in sizes.items()}
            return
        if complete and sizes["test"] and all(split_of[label] == "train" for label in labels[:train]):
            left = train - max(1, train // 10)
            block["rows"] = {"train": [0, left], "validation": [left, train], "test": [train, count]}
            block["samples"] = {split: stop - start for split, (start, stop) in block["rows"].items()}
            reasons["rows"] = "the last training samples are for validation, which selects the epoch"
            return
        reasons["samples"] = (
            f"the variable '{SPLIT_VARIABLE}' names no train, validation and test; state groups or rows"
        )
    part, few = max(1, count // 10), FEW_TEST_SAMPLES if count >= 4 * FEW_TEST_SAMPLES else count // 5
    if count == 1 and windows > 1:
        part = max(1, windows // 10)
        few = max(part, FEW_TEST_SAMPLES) if windows >= 4 * FEW_TEST_SAMPLES else part
        block["samples"] = {"train": windows - part - few - 4, "validation": part, "test": few}
        return
    if count < 3 and not tested:
        raise DatasetError(
            f"{block['source']}: has {count} samples; expected: at least 3, one for each split"
        )
    held = tested or max(part, few)
    sizes = {"train": count - part - (0 if tested else held), "validation": part, "test": held}
    block["samples"] = {split: size * windows for split, size in sizes.items()}
    for one, axes in case.axes.items() if case.size("sample") and not tested else ():
        ends = [one.values(axes, last=last) for last in (False, True)]
        first, final = (np.sqrt((part**2).reshape(len(part), -1).mean(axis=1)) for part in ends)
        if words := sorted_warnings(one.name, larger(first, final)):
            block["order"], reasons["order"] = "random", words[0].partition(":")[0]


def _add_warnings(report: Report, block: dict, case: Case, settled: bool) -> list[str]:
    """Add warnings about the samples, and return those about their scale. Raises for bad samples.

    settled  whether there is no other case; otherwise, or with an open input, only the scale is looked at.
    """
    if settled and not str(block["input"]).startswith(CHOOSE):
        # Where the kind of the grid is open, samples are looked at on nodes, without remarks on their ends.
        grids = block["grid"] if isinstance(block["grid"], dict) else {"": block["grid"]}
        stand_in = {axis: "nodes" if kind.startswith(CHOOSE) else kind for axis, kind in grids.items()}
        settings = ArraysDataset.model_validate(block | {"grid": stand_in.get("", stand_in)})
        kinds = settings.along("grid")
        kinds = kinds if stand_in == grids else dict.fromkeys(kinds, "uneven")
        task, sizes = settings.task(), settings.samples.model_dump()
        parts = [[(split, index) for index in range(min(n, LOOKED_AT))] for split, n in sizes.items() if n]
        findings = findings_of(task.channels, kinds, ((names, task.draw(names)) for names in parts))
        scale, notes = unscaled(findings["mean_and_standard_deviation"]), task.notes()
        report.warnings += warnings_of(findings, kinds)
    else:
        scale = []
        for one, axes in case.axes.items():
            values = {entry: one.values(axes, channel) for channel, entry in enumerate(case.entries(one))}
            scale += unscaled({entry: (float(v.mean()), float(v.std())) for entry, v in values.items()})
        notes = [
            f"In {file.name} {note}." for file in {one.file: 0 for one in case.axes} for note in file.notes
        ]
        report.warnings += [warning for warning in scale if warning not in report.warnings]
    few = of_few(block["samples"]["test"])
    report.warnings += [warning for warning in (*notes, few) if warning and warning not in report.warnings]
    return scale


def _add_experiment(content: dict, entry: str, block: dict, case: Case, scale: str) -> None:
    """Add an experiment with a model for the grid, if there is one."""
    grids, sizes = block["grid"], [case.size(axis) for axis in SPACE if case.size(axis)]
    uneven = "uneven" in (grids.values() if isinstance(grids, dict) else [grids])
    training: dict[str, Any] = {"epochs": 50, "batch_size": min(8, block["samples"]["train"])}
    model: str | None
    if not uneven:
        model, architecture, modes = MODELS[len(sizes)]
        if (few := min(sizes) // 2) < modes or model is None:
            model, own = f"{entry}_fno", {"settings": {"modes": min(few, modes)}}
            own["training"] = {"gradient_weight": 0}  # as `fno` and `fno2d`, and for several targets
            content["models"][model] = {"label": "FNO", "architecture": architecture, **own}
    elif len(sizes) in ON_UNEVEN_POINTS:
        model = ON_UNEVEN_POINTS[len(sizes)]
        training["gradient_weight"] = 0
    else:
        return  # no architecture supports uneven points in this dimension
    training |= {"normalisation": "scalar"} if scale else {}
    content["experiments"][entry] = {
        "title": entry.replace("_", " "),
        "dataset": entry,
        "models": [model],
        "resolutions": [sizes[-1]],
        "training": training,
    }


def _numbers(block: dict, case: Case) -> list[str]:
    """Return how to use variables with one number for each sample as inputs."""
    file, count, taken = case.first.file, case.size("sample"), {one.name for one in case.axes}
    numbers: dict[str, list[str]] = {}
    for name, variable in file.variables.items():
        free = name not in taken and axis_of(name) is None and variable.kind is None
        if count > 1 and free and variable.shape in ((count,), (count, 1)):
            lone = len(variable.shape) == 1
            numbers[name if lone else f"{name}[0]"] = ["sample"] if lone else ["sample", "channel"]
    if not numbers:
        return []
    axes = {one.name: list(axes) for one, axes in case.axes.items()}
    axes |= {variable_of(entry): own for entry, own in numbers.items()}
    inputs = block["input"] if isinstance(block["input"], list) else [block["input"]]
    said = f"one number for each sample: {', '.join(numbers)}; to use it as an input, write"
    return [
        said,
        *(f"    {line}" for line in _yaml({"input": [*inputs, *numbers], "axes": axes}).splitlines()),
    ]
