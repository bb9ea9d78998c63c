"""Layouts of arrays in third-party files, and which of them the names and coordinates in a file allow.

A file decides the axes of an array if it names them, or if it has the coordinates of all but the samples.
Whatever else is possible is returned, for the user to choose from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.arrays_checks import is_noise
from resolvent.datasets.imported.axes import axis_of, lines_of, near
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.series import Channel, read_rows
from resolvent.datasets.storage.layout import SPACE

Axes = tuple[str, ...]
# Axes of an array in the usual orders, the most common first. Without a sample axis, each file is a sample,
# or a series that is cut into windows. In "x sample channel", x is time: solutions of odeint.
LAYOUTS: tuple[Axes, ...] = tuple(
    tuple(row.split())
    for row in (
        *("sample x", "time x", "y x"),
        *("sample y x", "sample time x", "time y x", "sample channel x", "sample x channel"),
        *("time channel x", "time x channel", "x sample channel", "z y x", "channel y x", "y x channel"),
        *("sample time y x", "sample channel y x", "sample y x channel", "sample z y x"),
        *("time channel y x", "time y x channel", "sample time channel x", "sample time x channel"),
        *("time z y x", "sample time z y x", "sample channel z y x", "sample z y x channel"),
        *("sample time y x channel", "sample time channel y x", "sample time z y x channel"),
        "x",
    )
)
# Names that are a pair of input and target; `x` and `y` only if they are all functions of the file.
PAIRS = (
    *(("input", "output"), ("inputs", "outputs"), ("input", "target"), ("inputs", "targets")),
    *(("branch", "target"), ("branch", "output"), ("branch", "y"), ("before", "after"), ("initial", "final")),
    *(("a", "u"), ("coeff", "sol"), ("coefficient", "pressure"), ("nu", "tensor"), ("x", "y")),
)
FEW = 8  # most channels of a layout that the file does not name
FEWEST_POINTS = 4  # along an axis of space of such a layout
LOOKED_AT = 32  # samples of each split that an inspection reads
# Names of arrays that only meshes have: lists of points, or of the points of each element.
MESH = re.compile(r"(elements?|cells|triangles?|faces|simplices|connectivity|edge_index|edges)")
POINTS = re.compile(r"(points?|pos|positions?|coords?|coordinates|xyz?|nodes|vertices|trunk)")


def fits(
    layout: Axes, shape: tuple[int, ...], names: Axes, lengths: Mapping[str, set[int]]
) -> list[str] | None:
    """Return the axes of `layout` that the file does not decide, or None if an array does not fit.

    names    axes by the file's own names of dimensions; "" for unknown names; empty without names.
    lengths  numbers of coordinates in the file, by axis.

    An array does not fit if it has other names or lengths, and without them many channels or few points.
    """
    if len(layout) != len(shape) or not {*names} - {""} <= {*layout}:
        return None
    undecided = []
    for axis, size, name in zip(layout, shape, names or ("",) * len(shape), strict=True):
        if name != axis and (name or axis in names):
            return None
        if name or size in lengths.get(axis, ()):
            continue
        few_points, many_channels = axis in SPACE and size < FEWEST_POINTS, axis == "channel" and size > FEW
        if axis in lengths or few_points or many_channels:
            return None
        undecided.append(axis)
    return undecided


@dataclass(frozen=True)
class Reading:
    """Possible axes of an array, in the order of the file; `why`: why the file decides them, or ""."""

    axes: Axes
    why: str = ""


def readings(
    shape: tuple[int, ...], names: Axes, lengths: Mapping[str, set[int]], several: bool = False
) -> list[Reading]:
    """Return the possible axes of an array: one if the file decides them, otherwise all that fit.

    several  whether there are several files, each of which may be a sample.
    """
    possible: dict[Axes, list[str]] = {}
    for layout in LAYOUTS:
        if len(layout) != len(shape) or not (several or {"sample", "time"} & {*layout}):
            continue
        for axes in dict.fromkeys((layout, *permutations(layout))):
            undecided = fits(axes, shape, names, lengths)
            # Another than the usual order needs evidence for all axes of space.
            if undecided is not None and (
                axes == layout or undecided in ([], ["sample"], ["channel"], ["time"])
            ):
                possible[axes] = undecided
    fewest = min(map(len, possible.values()), default=0)
    best = [axes for axes, undecided in possible.items() if len(undecided) == fewest]
    if len(best) == 1 and possible[best[0]] in ([], ["sample"]):
        why = [f"{axis} has {n} coordinates" for axis, n in zip(*best, shape, strict=True) if axis in lengths]
        return [
            Reading(
                best[0],
                "; ".join(["the names of its dimensions"] * any(names) + why * (not names or not all(names))),
            )
        ]
    return [Reading(axes) for axes in best]


@dataclass(eq=False)
class Function:
    """A variable that may have functions of space, with the possible readings of its axes."""

    file: ArraysFile
    name: str
    shape: tuple[int, ...]
    readings: list[Reading]

    def values(self, axes: Axes, channel: int = 0, last: bool = False) -> np.ndarray:
        """Read the first (or last) samples at the first time: (samples, ...space)."""
        count = dict(zip(axes, self.shape, strict=True)).get("sample", 1)
        rows = range(count)[-LOOKED_AT:] if last else range(count)[:LOOKED_AT]
        return read_rows(self.file, Channel(self.name, self.name, channel, axes), rows)


def functions_of(file: ArraysFile, several: bool) -> dict[str, Function]:
    """Return the arrays of a file with the possible readings of their axes; without any, on another grid.

    Raises `DatasetError` for meshes, scattered points and noise, which are no functions on a grid.
    """
    lines, functions = lines_of(file), dict[str, Function]()
    for name, variable in file.variables.items():
        leaf, shape = name.rpartition("/")[2].lower(), variable.shape
        other = name in lines or "coordinate" in leaf or leaf.endswith("_bnds") or variable.kind is not None
        if other or not all(shape) or sum(size > 1 for size in shape) < 2 - several:
            continue
        lengths: dict[str, set[int]] = {}
        for line, values in lines.items():
            if near(line, name) and (axis := axis_of(line)):
                lengths.setdefault(axis, set()).add(len(values))
                if line.endswith("t-coordinate"):  # PDEBench stores one time more
                    lengths[axis].add(len(values) - 1)
        # By its name, the variable `split` has one entry for each sample, and so has `branch` beside `trunk`.
        for one in ("split", *["branch"] * ("trunk" in file.shapes)):
            if file.shapes.get(one):
                lengths["sample"] = {file.shapes[one][0]}
        names = tuple(axis_of(one) or "" for one in variable.dims() or ())
        possible = readings(shape, names if any(names) else (), lengths, several)
        if "time" in lengths and "x" not in lengths and not any(names):
            # Perhaps functions of time: then x is time.
            lengths["x"] = lengths.pop("time")
            more = [one for one in readings(shape, (), lengths, several) if "time" not in one.axes]
            possible = [Reading(one.axes) for one in (*possible, *more)] if more else possible
        functions[name] = Function(file, name, shape, list(dict.fromkeys(possible)))
    _require_grid(file, functions)
    for function in functions.values():
        _drop_noise(function)
    return functions


def _require_grid(file: ArraysFile, functions: dict[str, Function]) -> None:
    """Raise `DatasetError` if the names and shapes in a file are those of a mesh, or of scattered points."""
    sizes, points = {size for one in functions.values() for size in one.shape}, list[str]()
    lone: dict[str, int] = {}  # numbers of coordinates of points, by name
    for name, shape in file.shapes.items():
        leaf = name.rpartition("/")[2].lower()
        if len(shape) > 1 and shape[-1] <= FEW and (MESH.fullmatch(leaf) or POINTS.fullmatch(leaf)):
            points += [name] if MESH.fullmatch(leaf) or (shape[-1] in (2, 3) and shape[-2] in sizes) else []
        elif len(shape) == 1 and axis_of(name) in SPACE:
            lone[name] = shape[0]
    if len(lone) > 1 and len(counts := {*lone.values()}) == 1:
        having = [one.shape.count(*counts) for one in functions.values() if {*counts} <= {*one.shape}]
        points += lone if having and max(having) == 1 else []
    if points:
        raise DatasetError(
            f"{file.path}: has a mesh or scattered points ({', '.join(points[:3])}); expected: functions on "
            "a grid; interpolate each sample u: scipy.interpolate.griddata(points, u, (X, Y)), with points "
            "(n, 2) and X, Y = np.meshgrid(x, y), and save the results with x and y"
        )


def _drop_noise(function: Function) -> None:
    """Drop readings in which neighbours along all axes of space are unrelated; raise if none is left."""
    noise = {}
    for reading in function.readings:
        values = function.values(reading.axes)
        noise[reading] = is_noise(values, range(1, values.ndim))
    if True in noise.values() and False not in noise.values():
        raise DatasetError(
            f"{function.file.path}: neighbouring values of '{function.name}' are unrelated, as in noise or "
            "unsorted points; expected: functions on a grid; sort the points, or, if they are functions, "
            "write the configuration by hand (docs/datasets.md)"
        )
    function.readings = [reading for reading in function.readings if not noise[reading]]


@dataclass
class Roles:
    """Functions that can be input and target, and why; `why` is None if the user has to choose."""

    inputs: list[Function]
    targets: list[Function]
    why: tuple[str, str] | None = None


@dataclass
class Case:
    """A possible reading of the files: axes by function; `why` the file decides them, or ""."""

    axes: dict[Function, Axes]
    why: str = ""

    @property
    def first(self) -> Function:
        return next(iter(self.axes))

    def size(self, axis: str, function: Function | None = None) -> int:
        """Return the length of a function, by default the first, along an axis; 0 without it."""
        function = function or self.first
        return dict(zip(self.axes[function], function.shape, strict=True)).get(axis, 0)

    def entries(self, function: Function) -> list[str]:
        """Return the entries of a function for the configuration: its name, or one for each channel."""
        channels = range(min(FEW, self.size("channel", function)))
        return [f"{function.name}[{channel}]" for channel in channels] or [function.name]


def roles_of(files: list[ArraysFile], paired: bool, several: bool) -> Roles:
    """Return the candidates for input and target, from their names. Raises if there are none."""
    arrays = list(functions_of(files[0], several).values())
    every = [one for one in arrays if one.readings]
    if paired:
        wanted = [one for one in functions_of(files[1], several).values() if one.readings]
        for file, found in zip(files, (every, wanted), strict=True):
            if not found:
                raise _nothing(file)
        why = ("the first file", "the second file") if len(every) == len(wanted) == 1 else None
        return Roles(every, wanted, why)
    if not every:
        raise _nothing(files[0])
    for names in PAIRS:
        given, wanted = ([one for one in arrays if _is_called(one, name)] for name in names)
        if len(given) == len(wanted) == 1 and given != wanted and (names[0] != "x" or len(every) == 2):
            return Roles(given, wanted, ("by its name", "by its name"))
    if len(every) == 1:
        (only,) = every
        if not any(one.why for one in only.readings):
            files[0].require_real()  # perhaps the other function has an unsupported form
        evolving = [one for one in only.readings if {"time", "channel"} & {*one.axes}]
        if not evolving:
            unread = [
                f"; '{name}' was skipped: {one.kind}" for name, one in files[0].variables.items() if one.kind
            ]
            raise DatasetError(
                f"{files[0].path}: give a second file with the targets: the file has only one function, "
                f"'{only.name}' ({' × '.join(map(str, only.shape))}){''.join(unread[:2])}"
            )
        only.readings = evolving
    return Roles(every, every)


def _is_called(function: Function, name: str) -> bool:
    """Return whether a variable has this name, or one that begins with it, such as `initial_velocity`."""
    leaf = function.name.rpartition("/")[2].lower()
    return leaf == name or (len(name) > 3 and leaf.startswith(f"{name}_"))


def _nothing(file: ArraysFile) -> DatasetError:
    """Return the error for a file without recognised functions of space."""
    file.require_real()  # a more specific error for variables in an unsupported form
    listed = ", ".join(f"{name} {shape}" for name, shape in list(file.shapes.items())[:6]) or "nothing"
    hint = ""
    if file.version == "CSV" and any(axis_of(name) in ("sample", *SPACE) for name in file.variables):
        hint = "; of a table with a row a point, save df.pivot(index='sample', columns='x', values='u')"
    return DatasetError(
        f"{file.path}: save the samples as one array of real numbers, (samples, x) or (samples, y, x): no "
        f"variable is an array of functions with the coordinates in the file; found: {listed}{hint}"
    )


def cases_of(roles: Roles) -> list[Case]:
    """Return the possible axes of all functions that fit each other. Raises if there are none."""
    every = list(dict.fromkeys((*roles.inputs, *roles.targets)))
    # Functions of one shape with the same readings have the same axes.
    kinds = {(one.shape, *one.readings): one.readings for one in every}
    cases: dict[tuple, Case] = {}
    for chosen in product(*kinds.values()):
        reading_of = dict(zip(kinds, chosen, strict=True))
        read = {one: reading_of[one.shape, *one.readings] for one in every}
        on_one_grid: dict[tuple, list[Function]] = {}
        for one in every:
            sizes = dict(zip(read[one].axes, one.shape, strict=True))
            on_one_grid.setdefault(tuple(sizes.get(axis) for axis in ("sample", *SPACE)), []).append(one)
        kept = max(on_one_grid.values(), key=len)
        if roles.why is not None and len(kept) < len(every):
            continue
        reasons = dict.fromkeys(read[one].why for one in kept)
        case = Case({one: read[one].axes for one in kept}, "; ".join(reasons) if all(reasons) else "")
        cases.setdefault(tuple(case.axes.items()), case)
    if not cases:
        words = " and ".join(f"'{one.name}' ({' × '.join(map(str, one.shape))})" for one in every)
        raise DatasetError(
            f"{every[0].file.path}: input and target differ in grid or number of samples, {words}: "
            "interpolate them to one grid, with the same samples"
        )
    most = max(len(case.axes) for case in cases.values())
    return [case for case in cases.values() if len(case.axes) == most]
