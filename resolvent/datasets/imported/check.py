"""Inspect a third-party data file and write a configuration for it: `resolvent import FILE`.

Whatever the file's names, dimensions and coordinates decide is in the configuration, with the reason as a
comment. Everything else has a value that begins with `CHOOSE` and lists the candidates; `resolvent check`
refuses it until the user has chosen.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from resolvent.common.counts import FEW_TEST_SAMPLES, counted, of_few
from resolvent.common.errors import ResolventError, printable
from resolvent.common.settings import CHOOSE, choose_one_of
from resolvent.datasets.errors import DatasetError, in_one_line
from resolvent.datasets.imported.arrays_checks import flattened, larger, repeats_ends, sorted_warnings
from resolvent.datasets.imported.axes import axis_of, coordinates_of, is_even, line_of, text_of
from resolvent.datasets.imported.layouts import Case, Roles, cases_of, roles_of
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.readers.joined import SPLIT, SPLIT_VARIABLE
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.imported.sources import ROLES, in_natural_order, paths_of, without_numbers
from resolvent.datasets.storage.layout import SPACE, SPLITS

FEWEST = 10  # with fewer samples, series are cut into windows
LAG = 4  # upper bound of the time lag of a window
# By dimension: name in the configuration, architecture, modes; and models for uneven points.
MODELS = {1: ("fno", "fno1d", 16), 2: ("fno2d", "fno2d", 12), 3: ("", "fno3d", 6)}
ON_UNEVEN_POINTS = {1: "tno", 2: "deeponet2d"}
KINDS = "periodic: no right end; nodes: both ends; cell_centres: no ends"
YOURS = "change it as you need"


@dataclass
class Report:
    """Result of an inspection.

    files          lines about the files and their variables: name, shape, type.
    remarks        what else the files have, such as a number for each sample.
    configuration  configuration of a study; None if there is a problem.
    reasons        comments on keys of its datasets and experiments, and on `build`.
    problem        why nothing can be imported, in one line.
    """

    files: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    configuration: dict | None = None
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    problem: str | None = None

    def text(self) -> str:
        """Return the report as YAML, with everything except the configuration in comments."""
        lines = [*self.files, *self.remarks, *(f"warning: {warning}" for warning in self.warnings)]
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
    text = ""
    for key, value in content.items():
        flow = None if isinstance(value, dict | list) else False
        text += yaml.safe_dump(
            {key: value}, sort_keys=False, allow_unicode=True, width=10**6, default_flow_style=flow
        )
    return text


def check_file(*given: Path | str) -> Report:
    """Inspect files, folders or patterns; return a report with a configuration or the `problem`."""
    report, paths = Report(), [str(path) for path in given]
    try:
        # Two paths are two sources; more than two are parts of one source.
        sources = paths if len(paths) == 2 else [paths[0] if len(paths) == 1 else in_natural_order(paths)]
        opened = [[open_source(path) for path in paths_of(source)] for source in sources]
        for part in opened:
            more = f"; and {len(part) - 1} more files" if len(part) > 1 else ""
            report.files.append(f"{part[0].path}: {part[0].version}{more}")
            report.files += [f"  {_line(part[0], name)}" for name in part[0].shapes]
        _look_into(report, sources, opened)
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
    cases, test = cases_of(roles), [] if paired or len(files) == 1 else opened[1]
    first = sources[0] if isinstance(sources[0], str) else sources[0][0]
    stem = re.sub(r"[^a-z0-9]+", "_", Path(first.rstrip("/")).stem.lower()).strip("_") or "data"
    name, problem = f"own_{stem}"[:60], None
    content: dict[str, Any] = {"name": name, "build": {}, "datasets": {}, "models": {}, "experiments": {}}
    for case in cases:
        longest = max(case.axes.values(), key=len)  # the function with the most axes distinguishes cases
        ending = "" if len(cases) == 1 else "_" + "_".join(longest)
        entry = name[: 60 - len(ending)] + ending  # names have at most 64 characters, also with "_fno"
        try:
            proposal = _proposed(source, roles, case, opened[0], test)
        except DatasetError as error:  # too few samples, if these were the axes
            problem = error
            continue
        content["datasets"][entry] = block = proposal.block
        report.reasons |= {(entry, key): why for key, why in proposal.reasons.items()}
        report.remarks += _numbers(case) if len(cases) == 1 else []
        _add_experiment(content, entry, block, case)
        looked_at = dict.fromkeys(one.file for one in case.axes)
        notes = [f"In {file.name} {note}." for file in looked_at for note in file.notes]
        for warning in (*notes, *_flattened(case), of_few(block["samples"]["test"])):
            if warning and warning not in report.warnings:
                report.warnings.append(warning)
    if problem and not content["datasets"]:
        raise problem
    if len(content["datasets"]) == 1 and not (len(cases) == 1 and cases[0].why):
        (block,) = content["datasets"].values()  # the only case that is left is asked, too
        block["axes"] = choose_one_of([_flow(block["axes"])])
    kind = "experiments" if content["experiments"] else "datasets"
    content["build"][kind] = list(content[kind])
    if len(content[kind]) > 1:
        content["build"][kind] = [choose_one_of(list(content[kind]))]
        report.reasons["", kind] = "the names have the axes, which the file does not decide"
    report.configuration = {key: value for key, value in content.items() if value}


def _flattened(case: Case) -> list[str]:
    """Return a warning for functions of x that look like the rows of a square."""
    words = []
    for one, axes in case.axes.items():
        side = flattened(one.values(axes)) if [axis for axis in axes if axis in SPACE] == ["x"] else 0
        if side:
            words.append(
                f"Values of '{one.name}' are alike {side} points apart, as in a field of {side} × {side} "
                f"points in one row; if it is one, save it as (samples, {side}, {side})."
            )
    return words


def _flow(value: Any) -> str:
    """Return a value as YAML on one line, as a user would type it."""
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6)
    return text.removesuffix("...\n").strip()


@dataclass
class Proposal:
    """The entry of a dataset for one reading of the files, and the reasons for its values, by key."""

    block: dict[str, Any]
    reasons: dict[str, str] = field(default_factory=dict)

    def add(self, key: str, value: Any, why: str = "") -> None:
        self.block[key] = value
        if why:
            self.reasons[key] = why


def _proposed(
    source: Any, roles: Roles, case: Case, files: list[ArraysFile], test: list[ArraysFile]
) -> Proposal:
    """Return the entry of a dataset for one reading of the files; `test` are the files of a second source.

    Raises `DatasetError` if they would have too few samples.
    """
    proposal = Proposal({"equation": "arrays", "source": source})
    _add_roles(proposal, roles, case)
    axes = {function.name: list(names) for function, names in case.axes.items()}
    proposal.add("axes", _one_or_each(axes), case.why)
    sizes = {axis: case.size(axis) for axis in SPACE if case.size(axis)}
    proposal.add("finest", _one_or_each(sizes))
    coordinates = _add_grid(proposal, case, list(sizes))
    windows = _add_times(proposal, roles, case, len(files))
    _add_splits(proposal, case, files, test, windows)
    units: dict[str, str] = {}
    for name in (*(function.name for function in case.axes), *coordinates):
        unit = files[0].variables[name].attributes().get("units") if name in files[0].variables else None
        if unit is not None and coordinates.get(name) != "time":
            units[coordinates.get(name, name)] = text_of(unit)
    if units:
        proposal.add("units", units)
    if all(function.file.variables[function.name].single for function in case.axes):
        proposal.add("stored_as", "float32")
    return proposal


def _one_or_each(values: dict[str, Any]) -> Any:
    """Return the common value, or else all values by their names."""
    first, *others = values.values()
    return first if all(other == first for other in others) else values


def _add_roles(proposal: Proposal, roles: Roles, case: Case) -> None:
    """Add `input` and `target`: from their names, one function at two times, or the candidates."""
    evolves = any(case.size("time", function) > 1 for function in case.axes)
    for number, (role, candidates) in enumerate(zip(ROLES, (roles.inputs, roles.targets), strict=True)):
        entries = [case.entries(function) for function in candidates if function in case.axes]
        options: list[Any] = [names[0] if len(names) == 1 else names for names in entries]
        if roles.why is not None:
            proposal.add(role, options[0], roles.why[number])
        elif len(entries) == 1 and evolves:
            proposal.add(role, options[0], "the only function of the file")
        else:
            options = options if len(options) > 1 else entries[0]
            together = [[name for names in entries for name in names]] if len(entries) > 1 and evolves else []
            proposal.add(role, choose_one_of(map(_flow, options + together)), "or a list of names")


def _add_grid(proposal: Proposal, case: Case, space: list[str]) -> dict[str, str]:
    """Add `grid`, `length` and `coordinates`: from the coordinates, the boundary condition, or equal ends.

    Returns the axes by the names of their coordinates.
    """
    first, taken, kinds = case.first, {one.name for one in case.axes}, dict[str, str]()
    file, axis_of_name, why = first.file, dict[str, str](), dict[str, None]()
    # One function may be equal at both ends because it is symmetric, or zero there.
    parts = [function.values(axes) for function, axes in case.axes.items()]
    repeated = all(min(part.shape[1:]) > 2 and repeats_ends(part, range(1, part.ndim)) for part in parts)
    for axis in space:
        points = case.size(axis)
        name = coordinates_of(file, axis, points, taken, first.name)
        if name is None and axis == "x" and not case.size("time"):  # functions of time
            name = coordinates_of(file, "time", points, taken, first.name)
        if name is not None:
            axis_of_name[name] = axis
        if name is not None and not is_even(line_of(file, name)):
            kinds[axis], reason = "uneven", f"uneven points, from '{name}'"
        elif file.boundary == "periodic" and points % 2 == 0:
            kinds[axis], reason = "periodic", "the boundary is periodic, as stated in the file"
        elif repeated:
            kinds[axis] = "nodes"
            reason = "the last values of all functions repeat the first ones: both ends are included"
        else:
            periodic = ["periodic"] * (points % 2 == 0 and file.boundary is None)
            kinds[axis] = choose_one_of([*periodic, "nodes", "cell_centres"])
            reason = KINDS + "; or one for each axis: {y: nodes, x: periodic}" * (len(space) == 2)
        why[reason] = None
    proposal.add("grid", _one_or_each(kinds), "; ".join(why))
    if not axis_of_name:
        proposal.add("length", 1.0, f"the file has no coordinates: {YOURS}")
    if case.size("time") and (name := coordinates_of(file, "time", case.size("time"), taken, first.name)):
        axis_of_name[name] = "time"
    if axis_of_name:
        proposal.add("coordinates", {axis: name for name, axis in axis_of_name.items()})
    return axis_of_name


def _add_times(proposal: Proposal, roles: Roles, case: Case, files: int) -> int:
    """Add times from the first to the last, or windows if there are few series; return windows per series."""
    input_evolves, target_evolves = (
        all(case.size("time", function) for function in case.axes if function in candidates)
        for candidates in (roles.inputs, roles.targets)
    )
    if input_evolves:
        proposal.add("input_times", [0])
    if not target_evolves:
        return 1
    times = min(case.size("time", function) for function in case.axes if case.size("time", function))
    series = case.size("sample") if "sample" in case.axes[case.first] else files
    if not input_evolves or series >= FEWEST or times < 2 * FEWEST:
        proposal.add("target_times", [times - 1], f"the last time: {YOURS}")
        return 1
    lag = max(1, min(times // (FEWEST * LAG), LAG))
    proposal.add("target_times", [lag], "counted from the start of a window")
    proposal.add("window_every", lag, YOURS)
    return (times - lag - 1) // lag + 1


def _add_splits(
    proposal: Proposal, case: Case, files: list[ArraysFile], test: list[ArraysFile], windows: int
) -> None:
    """Add `samples`; `groups` if a variable names the split of each sample; `order` if they are sorted."""
    count, tested, reason = len(files), len(test), YOURS
    if case.size("sample"):
        number = case.axes[case.first].index("sample")
        count, tested = (sum(one.shape(case.first.name)[number] for one in part) for part in (files, test))
    variable = files[0].variables.get(SPLIT_VARIABLE)
    if variable is not None and variable.kind == "text" and not test:
        if stated := _stated_splits(files[0], count):
            labels, sizes = stated
            proposal.add("groups", {"variable": SPLIT_VARIABLE} | labels)
            sizes = {split: size * windows for split, size in sizes.items()}
            proposal.add("samples", sizes, f"as the variable '{SPLIT_VARIABLE}' says")
            return
        reason = f"the variable '{SPLIT_VARIABLE}' names no train and test; state groups"
    alone = count == 1 and windows > 1
    units, each = (windows, 1) if alone else (count, windows)
    validation = max(1, units // 10)
    held = tested or max(validation, FEW_TEST_SAMPLES if units >= 4 * FEW_TEST_SAMPLES else units // 5)
    train = units - validation - (0 if tested else held) - (4 if alone else 0)  # windows between splits
    if train < 1:
        shape, name = case.first.shape, case.first.name
        remedy = "expected: at least 3, one for each split"
        if shape[0] == 1 and len(shape) > 2:
            of_axes = " × ".join(map(str, shape))
            remedy = f"the first axis of '{name}' ({of_axes}) has length 1: save np.squeeze({name}, 0)"
        raise DatasetError(f"{proposal.block['source']}: has {counted(count, 'sample')}; {remedy}")
    sizes = {"train": train, "validation": validation, "test": held}
    proposal.add("samples", {split: size * each for split, size in sizes.items()}, reason)
    for one, axes in case.axes.items() if case.size("sample") and not tested else ():
        ends = [one.values(axes, last=last) for last in (False, True)]
        first, final = (np.sqrt((part**2).reshape(len(part), -1).mean(axis=1)) for part in ends)
        if words := sorted_warnings(one.name, larger(first, final)):
            proposal.add("order", "random", words[0].partition(":")[0])


def _stated_splits(file: ArraysFile, count: int) -> tuple[dict[str, list[str]], dict[str, int]] | None:
    """Return values and number of samples of each split; None if a variable does not name them all.

    Without validation samples, a tenth of the training samples is for validation, which selects the epoch.
    """
    labels: dict[str, list[str]] = {}
    sizes = dict.fromkeys(SPLITS, 0)
    for label, number in Counter(map(str, file.values(SPLIT_VARIABLE).ravel())).items():
        for split in {SPLIT[word] for word in SPLIT if label.lower().startswith(word)}:
            labels.setdefault(split, []).append(label)
            sizes[split] += number
    if sum(sizes.values()) != count or sizes["train"] < 2 or not sizes["test"]:
        return None
    if not sizes["validation"]:
        sizes["validation"] = max(1, sizes["train"] // 10)
        sizes["train"] -= sizes["validation"]
    return {split: labels[split] for split in SPLITS if split in labels}, sizes


def _add_experiment(content: dict, entry: str, block: dict, case: Case) -> None:
    """Add an experiment with a model for the grid, if there is one."""
    grids, sizes = block["grid"], [case.size(axis) for axis in SPACE if case.size(axis)]
    training: dict[str, Any] = {"epochs": 50, "batch_size": min(8, block["samples"]["train"])}
    training |= {"normalisation": "scalar", "loss_units": "standardised", "gradient_weight": 0}
    if "uneven" in (grids.values() if isinstance(grids, dict) else [grids]):
        if len(sizes) not in ON_UNEVEN_POINTS:
            return  # no architecture supports uneven points in this dimension
        model = ON_UNEVEN_POINTS[len(sizes)]
    else:
        model, architecture, modes = MODELS[len(sizes)]
        if (few := min(sizes) // 2) < modes or not model:
            model = f"{entry}_fno"
            content["models"][model] = {
                "label": "FNO",
                "architecture": architecture,
                "settings": {"modes": min(few, modes)},
            }
    content["experiments"][entry] = {
        "title": entry.replace("_", " "),
        "dataset": entry,
        "models": [model],
        "resolutions": [sizes[-1]],
        "training": training,
    }


def _numbers(case: Case) -> list[str]:
    """Return how to use variables with one number for each sample as inputs."""
    count, lines = case.size("sample"), list[str]()
    axes = {one.name: list(names) for one, names in case.axes.items()}
    for name, variable in case.first.file.variables.items():
        number = {(count,): ["sample"], (count, 1): ["sample", "channel"]}.get(variable.shape)
        if count > 1 and number and variable.kind is None and axis_of(name) is None:
            entry = name if len(number) == 1 else f"{name}[0]"
            lines.append(
                f"{name} is a number for each sample: add {entry} to input, and write axes: "
                f"{_flow(axes | {name: number})}"
            )
    return lines
