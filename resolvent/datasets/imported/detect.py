"""Guess axes, input, target and grid from the variables of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.arrays_checks import REPEATED, ends_of, first_functions
from resolvent.datasets.imported.axes import (
    FEW,
    Axes,
    FoundGrid,
    Reading,
    axis_of,
    coordinates_of,
    found_grid,
    is_even,
    is_whole,
    line_of,
    lines_of,
    near,
    readings,
)
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.series import variable_of
from resolvent.datasets.imported.sources import BEGINNINGS
from resolvent.datasets.storage.layout import SPACE

# Usual names of inputs and targets, the likeliest first; also as a prefix, `initial_…`.
INPUTS = ("input", "inputs", "a", "coeff", "coefficient", "nu", "x", "u0", "initial", "before", "control",
          "f")  # fmt: skip
TARGETS = ("target", "targets", "output", "outputs", "u", "sol", "solution", "tensor", "y", "p", "pressure",
           "final", "later", "after")  # fmt: skip
LOOKED_AT = 32  # number of inspected samples
SMOOTH = 1.5  # jump at the seam over the largest inner jump, below which functions count as periodic


@dataclass
class Function:
    """A variable with functions of space.

    ways  possible readings of its axes; several if the user has to choose.
    dims  names of the axes in the file.
    """

    name: str
    shape: tuple[int, ...]
    ways: list[Reading]
    dims: Axes = ()

    @property
    def axes(self) -> Axes:
        """Return the likeliest axes, in the order of the file."""
        return self.ways[0].axes

    def size(self, axis: str) -> int:
        """Return the length along an axis; 0 if there is no such axis."""
        return dict(zip(self.axes, self.shape, strict=True)).get(axis, 0)

    @property
    def entries(self) -> list[str]:
        """Return its entries for the configuration: its name, or one entry per channel, up to `FEW`."""
        channels = range(min(FEW, self.size("channel")))
        return [f"{self.name}[{number}]" for number in channels] or [self.name]

    @property
    def words(self) -> str:
        return f"'{self.name}' ({' × '.join(map(str, self.shape))})"

    def fits(self, other: Function) -> bool:
        """Return whether another function has equal numbers of points and samples."""
        return self is not other and all(self.size(axis) == other.size(axis) for axis in ("sample", *SPACE))


@dataclass
class Detected:
    """Detected contents of a file.

    grids    grid along each axis of space, in stored order; kind "uneven" for uneven points.
    remarks  findings, one line each.
    guessed  reasons for guesses, by key of the configuration.
    split    variable with the split of each sample, with the size and the words of each split.
    numbers  axes of variables with one number per sample, by entry for `input`.
    """

    inputs: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
    grids: dict[str, FoundGrid] = field(default_factory=dict)
    coordinates: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    guessed: dict[str, str] = field(default_factory=dict)
    split: str | None = None
    split_sizes: dict[str, int] = field(default_factory=dict)
    split_words: dict[str, list[str]] = field(default_factory=dict)
    numbers: dict[str, list[str]] = field(default_factory=dict)

    def function(self, entry: str) -> Function:
        return self.functions[variable_of(entry)]


class Undecided(DatasetError):
    """Raised if the user has to decide something that the file does not say.

    choices  possible decisions, each as keyword arguments of `detect`; empty if more is open.
    """

    def __init__(self, words: str, choices: list[dict] | None = None):
        super().__init__(words)
        self.choices = choices or []


def detect(
    files: dict[str, ArraysFile],
    axes: Mapping[tuple[int, ...], Axes] | None = None,
    pair: tuple[list[str], list[str]] | None = None,
) -> Detected:
    """Guess a dataset from `files`, one for each role.

    axes  known axes, by shape of the array; `pair`: known entries of input and target.

    Raises `Undecided` if the user has to choose input and target, or between several readings of axes.
    """
    found, file = Detected(), files["input"]
    for one in dict.fromkeys(files.values()):
        lines = lines_of(one)
        for name in one.variables:
            if (function := _function(one, name, lines, axes or {})) is not None:
                found.functions[name] = function
    if not found.functions:
        raise _nothing(file)
    for function in found.functions.values():  # prefer readings that match the sizes of a known function
        known = [other for other in found.functions.values() if len(other.ways) == 1]
        ways = [way for way in function.ways if any(replace(function, ways=[way]).fits(one) for one in known)]
        if len(function.ways) > 1 and len(ways) == 1:
            function.ways = ways
    if pair is not None:
        found.inputs, found.targets = pair
    elif file is files["target"]:
        _choose(found, file)
    else:
        for role, chosen in (("input", found.inputs), ("target", found.targets)):
            first = next((name for name in files[role].variables if name in found.functions), None)
            if first is None:
                raise _nothing(files[role])
            chosen += found.functions[first].entries
    used = {variable_of(entry): found.function(entry) for entry in (*found.inputs, *found.targets)}
    for function in used.values():
        ways, at = function.ways, f"{file.path}: state the axes of {function.words}"
        if ways[0].asks:
            named = ", ".join(function.dims)
            raise Undecided(f"{at}: the file names them {named}, and some names are unknown")
        if len(ways) > 1:
            listed = " or ".join(f"[{', '.join(way.axes)}]" for way in ways)
            choices = [{"axes": {function.shape: way.axes}} for way in ways]
            raise Undecided(f"{at}, which the file does not determine: {listed}", choices)
        if not ways[0].certain:
            found.guessed["axes"] = f"from the shape of {function.words} and the usual order"
        if function.size("channel") > FEW:
            found.remarks.append(f"left out: the channels of '{function.name}' from index {FEW}")
    _find_grid(found, files)
    for name, variable in file.variables.items():
        if name.rpartition("/")[2] == "split" and variable.kind == "text":
            words = list(map(str, file.values(name).ravel()))
            groups = {
                split: [one for one in dict.fromkeys(words) if one.lower().startswith(beginning)]
                for beginning, split in BEGINNINGS[0].items()
            }
            if all(groups.values()):
                found.split, found.split_words = name, groups
                found.split_sizes = {split: sum(map(words.count, own)) for split, own in groups.items()}
                found.remarks.append(f"splits from the variable '{name}'")
            else:
                values = ", ".join([*dict.fromkeys(words)][:FEW])
                found.remarks.append(
                    f"the variable '{name}' is not used: it has the values {values}, not train, validation "
                    "and test; to split by it, state groups or rows"
                )
    count = found.function(found.inputs[0]).size("sample")
    taken = {*found.coordinates.values(), found.split, *found.functions}
    for name, variable in file.variables.items():
        if count > 1 and name not in taken and axis_of(name) is None and variable.kind is None:
            if variable.shape == (count,):
                found.numbers[name] = ["sample"]
            elif variable.shape == (count, 1):
                found.numbers[f"{name}[0]"] = ["sample", "channel"]
    return found


def _nothing(file: ArraysFile) -> DatasetError:
    """Return the error for a file without recognised functions of space."""
    kinds = {name: one.kind for name, one in file.variables.items() if one.kind is not None}
    listed = ", ".join(f"{name} {shape}" for name, shape in list(file.shapes.items())[:6]) or "nothing"
    if any(sum(size > 1 for size in shape) > 1 and n not in kinds for n, shape in file.shapes.items()):
        return Undecided(
            f"{file.path}: state input, target and axes: no variable is clearly an array of functions; "
            f"found: {listed}"
        )
    file.require_real()  # a more specific error for variables in an unsupported form
    return DatasetError(
        f"{file.path}: save the samples as one array of real numbers, (samples, x) or (samples, y, x): no "
        f"variable is an array of functions; found: {listed}"
    )


def _function(
    file: ArraysFile, name: str, lines: Mapping[str, np.ndarray], stated: Mapping[tuple[int, ...], Axes]
) -> Function | None:
    """Return a variable as a function of space; None for other variables or unknown axes."""
    shape = file.shapes[name]
    leaf = name.rpartition("/")[2].lower()
    if name in lines or "coordinate" in leaf or leaf.endswith("_bnds"):
        return None
    if sum(size > 1 for size in shape) < 2 or not all(shape) or file.variables[name].kind is not None:
        return None
    if shape in stated:
        return Function(name, shape, [Reading(stated[shape], certain=True)])
    lengths: dict[str, set[int]] = {}
    for line, values in lines.items():
        if near(line, name):
            axis = axis_of(line) or ""
            lengths.setdefault(axis, set()).add(len(values))
            if line.endswith("t-coordinate"):  # PDEBench stores one time more
                lengths[axis].add(len(values) - 1)
    dims = file.variables[name].dims()
    ways = readings(shape, dims, lengths, x_first=file.version.endswith("(PDEBench)"))
    return Function(name, shape, ways, dims or ()) if ways else None


def _choose(found: Detected, file: ArraysFile) -> None:
    functions = list(found.functions.values())
    # Operator learning maps u to v (DeepONet); other functions, times or channels suggest velocities instead.
    names = sorted(one.name.rpartition("/")[2].lower() for one in functions)
    usual = names == ["u", "v"] and all(one.size("time") < 2 and not one.size("channel") for one in functions)
    given = _named(functions, ("u",) if usual else INPUTS)
    wanted = _named([one for one in functions if one is not given], ("v",) if usual else TARGETS)
    evolving = next((one for one in functions if one.size("time") > 1), None)
    known = given or wanted
    others = [one for one in functions if one is not known and (known is None or one.fits(known))]

    def take(one: Function, why: str, other: Function, why_other: str) -> None:
        found.inputs, found.targets = one.entries, other.entries
        found.guessed |= {"input": why, "target": why_other}

    if given is not None and wanted is not None and given.fits(wanted):
        return take(given, "by its name", wanted, "by its name")
    if evolving is not None:
        if same := ", ".join(one.name for one in functions if one.fits(evolving)):
            found.remarks.append(f"left out: {same}; add them to input or target if needed")
        return take(evolving, "at the first time", evolving, "at a later time")
    if given is not None and wanted is not None:
        raise DatasetError(
            f"{file.path}: input and target differ in grid or number of samples, {given.words} and "
            f"{wanted.words}: interpolate them to one grid, with the same samples"
        )
    if given is not None and len(others) == 1:
        return take(given, "by its name", others[0], "the other function")
    if wanted is not None and len(others) == 1:
        return take(others[0], "the other function", wanted, "by its name")
    words = f"{file.path}: state input and target, which the file does not determine: "
    if len(functions) == 2 and functions[0].fits(functions[1]):
        one, other = (function.entries for function in functions)
        both = " and ".join(function.words for function in functions)
        raise Undecided(words + both, [{"pair": (one, other)}, {"pair": (other, one)}])
    first = known or functions[0]
    if (known is not None and not others) or len(functions) == 1:
        entries = first.entries
        *most, last = entries
        if len(entries) == 2:
            found.inputs, found.targets = most, [last]
            found.guessed |= {"input": "one of two channels", "target": "the other channel"}
            return None
        if len(entries) > 2:
            raise Undecided(
                f"{words}channels of {first.words}; or give a second file with the targets",
                [{"pair": (most, [last])}, {"pair": (entries[:1], entries[1:])}],
            )
    if len(functions) > 1:
        listed = ", ".join(one.words for one in functions[:4]) + (", …" if len(functions) > 4 else "")
        raise Undecided(words + listed)
    unread = [f"; '{name}' was skipped: {one.kind}" for name, one in file.variables.items() if one.kind]
    raise Undecided(
        f"{file.path}: give a second file with the targets, or state which axis is time: the file has only "
        f"one function, {functions[0].words}{''.join(unread[:2])}"
    )


def _named(functions: list[Function], names: tuple[str, ...]) -> Function | None:
    for name in names:
        for one in functions:
            leaf = one.name.rpartition("/")[2].lower()
            if leaf == name or (len(name) > 3 and leaf.startswith(f"{name}_")):
                return one
    return None


def _find_grid(found: Detected, files: dict[str, ArraysFile]) -> None:
    """Find the grid from coordinates, from metadata, or from the behaviour of functions at their ends."""
    one, file = found.function(found.inputs[0]), files["input"]
    functions: dict[str, np.ndarray] = {}
    space = tuple(axis for axis in SPACE if axis in one.axes)
    for role, entries in (("input", found.inputs), ("target", found.targets)):
        function = found.function(entries[0])
        values = first_functions(files[role], function.name, function.axes, LOOKED_AT)
        functions |= {} if values is None else {entries[0]: values}
    lines = {}
    for axis in space:
        points, taken = one.size(axis), set(found.functions)
        lines[axis] = coordinates_of(file, axis, points, taken, one.name)
        # If only x has coordinates, use them for other axes with the same number of points.
        if lines[axis] is None and points == one.size("x"):
            lines[axis] = coordinates_of(file, "x", points, taken, one.name)
    each = {axis: _find_axes(one, file, functions, (axis,), lines[axis]) for axis in space}
    grids = {axis: grid for axis, (grid, _, _) in each.items()}
    alike = len({(one.size(axis), grid.kind, grid.length) for axis, grid in grids.items()}) == 1
    if alike and grids["x"].kind != "uneven":
        each = dict.fromkeys(space, _find_axes(one, file, functions, space, lines["x"]))
        lines, grids = {"x": lines["x"]}, dict.fromkeys(space, each["x"][0])
    spacing = grids["x"].length / (one.size("x") - (grids["x"].kind == "nodes"))
    for axis, grid in grids.items():
        if lines.get(axis, "") is None and axis != "x":  # assume the same spacing as in x
            length = spacing * (one.size(axis) - (grid.kind == "nodes"))
            grids[axis] = replace(grid, length=float(f"{length:.7g}"))
    found.grids = grids
    found.coordinates = {axis: name for axis, name in lines.items() if name is not None}
    found.remarks += dict.fromkeys(remark for _, _, remarks in each.values() for remark in remarks)
    if None in lines.values():
        found.guessed["length"] = "there are no coordinates"
    guesses = {axis: guess for axis, (_, guess, _) in each.items() if guess}
    if guesses:
        words = {guess: " and ".join(a for a in guesses if guesses[a] == guess) for guess in guesses.values()}
        alone = len(guesses) == len(each) and len(words) == 1
        found.guessed["grid"] = "; ".join(w if alone else f"along {a}, {w}" for w, a in words.items())


def _find_axes(
    one: Function, file: ArraysFile, functions: dict[str, np.ndarray], axes: Axes, name: str | None
) -> tuple[FoundGrid, str, list[str]]:
    """Find the common grid of some axes, with coordinates in `name`; the reason for a guess; and remarks."""
    remarks: list[str] = []
    points, said = one.size(axes[-1]), file.boundary
    guess, periodic = "", False
    space = [axis for axis in SPACE if axis in one.axes]
    measured = {
        entry: ends_of(values, [1 + space.index(axis) for axis in axes])
        for entry, values in functions.items()
    }
    if said is not None:
        periodic = said == "periodic"
        remarks.append(f"the boundary is {'periodic' if periodic else 'not periodic'}, as stated in the file")
    elif repeated := [entry for entry, end in measured.items() if end["both_ends"] <= REPEATED]:
        remarks.append(f"the last value of '{repeated[0]}' repeats the first one: both ends are included")
    elif zero := [entry for entry, end in measured.items() if end["vanishes"]]:
        guess = f"not periodic, since '{zero[0]}' is zero with a kink at an end"
    elif not measured:
        guess = "functions with few values do not show whether they are periodic"
    else:
        jump = max(end["seam"] for end in measured.values())
        periodic = jump < SMOOTH
        guess = f"the jump at the seam is {jump:.2g} times the largest jump inside"
    if periodic and points % 2:
        periodic = False
        remarks.append(f"not periodic, since a periodic grid has an even number of points, not {points}")
    if name is None:
        kind = "periodic" if periodic else "nodes"
        if not periodic and any(
            end["at_ends"] > 1e-3 and end["half_cell"] < 0.1 * end["at_ends"] for end in measured.values()
        ):
            kind, guess = "cell_centres", "functions vanish half a cell beyond their ends"
        return FoundGrid(kind, 1.0, 0.0), guess, remarks
    values = line_of(file, name)
    if not is_even(values):
        return FoundGrid("uneven", 1.0, 0.0), "", [f"uneven points, from the coordinates '{name}'"]
    values = values if values[-1] > values[0] else values[::-1]
    alone, open_ended = found_grid(values, None), found_grid(values, False)
    if said is None and alone.kind == "nodes" and is_whole(alone.length):
        periodic = False
    grid = found_grid(values, periodic)
    # Not a guess if the coordinates determine the grid without the functions' ends.
    if grid == open_ended and grid in (alone, found_grid(values, True)):
        guess = ""
    remarks.append(f"{grid.kind.replace('_', ' ')}, from the coordinates '{name}'")
    return grid, guess, remarks
