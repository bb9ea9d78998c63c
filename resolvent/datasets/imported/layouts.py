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


def readings(
    shape: tuple[int, ...], names: Axes, lengths: Mapping[str, set[int]], several: bool = False
) -> dict[Axes, str]:
    """Return the possible axes of an array, with the reason if the file decides them, otherwise "".

    several  whether there are several files, each of which may be a sample.
    """
    possible: dict[Axes, list[str]] = {}
    for layout in LAYOUTS:
        if len(layout) != len(shape) or not (several or {"sample", "time"} & {*layout}):
            continue
        for axes in dict.fromkeys((layout, *permutations(layout))):
            undecided = fits(axes, shape, names, lengths)
            # Another than the usual order needs evidence for all axes of space; but the time, if it is known,
            # may also be last, as in the public files of Li et al. 2021.
            time_last = axes[0] == "sample" and axes[-1] == "time" and undecided == list(axes[:-1])
            in_order = [axis for axis in layout if axis != "time"] == list(axes[:-1])
            usual = axes == layout or undecided in ([], ["sample"], ["channel"], ["time"])
            if undecided is not None and (usual or (time_last and in_order)):
                possible[axes] = undecided
    fewest = min(map(len, possible.values()), default=0)
    best = [axes for axes, undecided in possible.items() if len(undecided) == fewest]
    if len(best) != 1 or possible[best[0]] not in ([], ["sample"]):
        return dict.fromkeys(best, "")
    why = ["the names of its dimensions"] if any(names) else []
    if not (names and all(names)):
        counts = zip(best[0], shape, strict=True)
        why += [f"{axis} has {count} coordinates" for axis, count in counts if axis in lengths]
    return {best[0]: "; ".join(why)}


@dataclass(eq=False)
class Function:
    """A variable that may have functions of space; `readings`: its possible axes, with the reasons."""

    file: ArraysFile
    name: str
    readings: dict[Axes, str]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.file.variables[self.name].shape

    def values(self, axes: Axes, channel: int = 0, last: bool = False) -> np.ndarray:
        """Read the first (or last) samples at the first time: (samples, ...space)."""
        count = dict(zip(axes, self.shape, strict=True)).get("sample", 1)
        rows = range(count)[-LOOKED_AT:] if last else range(count)[:LOOKED_AT]
        return read_rows(self.file, Channel(self.name, self.name, channel, axes), rows)


def functions_of(file: ArraysFile, several: bool) -> list[Function]:
    """Return the arrays of a file with the possible readings of their axes; without any, on another grid.

    Raises `DatasetError` for meshes, scattered points and noise, which are no functions on a grid.
    """
    lines, functions = lines_of(file), list[Function]()
    for name, variable in file.variables.items():
        leaf, shape = name.rpartition("/")[2].lower(), variable.shape
        other = name in lines or "coordinate" in leaf or leaf.endswith("_bnds") or variable.kind is not None
        if other or not all(shape) or sum(size > 1 for size in shape) < 2 - several:
            continue
        lengths = _lengths(file, lines, name)
        names = tuple(axis_of(one) or "" for one in variable.dims() or ())
        possible = readings(shape, names if any(names) else (), lengths, several)
        if "time" in lengths and "x" not in lengths and not any(names):
            # Perhaps functions of time: then x is time.
            lengths["x"] = lengths.pop("time")
            more = [axes for axes in readings(shape, (), lengths, several) if "time" not in axes]
            possible = dict.fromkeys((*possible, *more), "") if more else possible
        functions.append(Function(file, name, possible))
    _require_grid(file, functions)
    for function in functions:
        _drop_noise(function)
    return functions


def _lengths(file: ArraysFile, lines: Mapping[str, np.ndarray], name: str) -> dict[str, set[int]]:
    """Return the numbers of coordinates, by axis, that apply to a variable."""
    lengths: dict[str, set[int]] = {}
    for line, values in lines.items():
        if near(line, name) and (axis := axis_of(line)):
            # PDEBench stores one time more.
            counts = {len(values), len(values) - 1} if line.endswith("t-coordinate") else {len(values)}
            lengths.setdefault(axis, set()).update(counts)
    # By its name, the variable `split` has one entry for each sample, and so has `branch` beside `trunk`.
    for one in ("split", *["branch"] * ("trunk" in file.shapes)):
        if file.shapes.get(one):
            lengths["sample"] = {file.shapes[one][0]}
    return lengths


def _require_grid(file: ArraysFile, functions: list[Function]) -> None:
    """Raise `DatasetError` if the names and shapes in a file are those of a mesh, or of scattered points.

    Also for a function and, for each sample, one value of the target at a point of its own (DeepONet,
    unaligned).
    """
    long = [one for one in functions if len(one.shape) == 2 and one.shape[1] > FEW]
    short = [name for name, shape in file.shapes.items() if len(shape) == 2 and shape[1] <= 3]
    if len(long) == 1 and [file.shapes[name][0] for name in short] == [long[0].shape[0]] * 2:
        raise DatasetError(
            f"{file.path}: '{long[0].name}' has one value for each sample, at a point of its own "
            f"({', '.join(short)}); expected: the target of each sample at the same points"
        )
    sizes, points = {size for one in functions for size in one.shape}, list[str]()
    lone: dict[str, int] = {}  # numbers of coordinates of points, by name
    for name, shape in file.shapes.items():
        leaf = name.rpartition("/")[2].lower()
        few = len(shape) > 1 and shape[-1] <= FEW
        of_points = few and POINTS.fullmatch(leaf) and shape[-1] in (2, 3) and shape[-2] in sizes
        if of_points or (few and MESH.fullmatch(leaf)):
            points.append(name)
        elif len(shape) == 1 and axis_of(name) in SPACE:
            lone[name] = shape[0]
    if len(lone) > 1 and len(counts := {*lone.values()}) == 1:
        having = [one.shape.count(*counts) for one in functions if {*counts} <= {*one.shape}]
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
    for axes in function.readings:
        values = function.values(axes)
        noise[axes] = is_noise(values, range(1, values.ndim))
    if True in noise.values() and False not in noise.values():
        raise DatasetError(
            f"{function.file.path}: neighbouring values of '{function.name}' are unrelated, as in noise or "
            "unsorted points; expected: functions on a grid; sort the points, or, if they are functions, "
            "write the configuration by hand (docs/datasets.md)"
        )
    function.readings = {axes: why for axes, why in function.readings.items() if not noise[axes]}


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
    arrays = functions_of(files[0], several)
    inputs = _readable(files[0], arrays)
    if paired:
        targets = _readable(files[1], functions_of(files[1], several))
        why = ("the first file", "the second file") if len(inputs) == len(targets) == 1 else None
        return Roles(inputs, targets, why)
    for names in PAIRS:
        given, wanted = ([one for one in arrays if _is_called(one, name)] for name in names)
        if len(given) == len(wanted) == 1 and given != wanted and (names[0] != "x" or len(inputs) == 2):
            return Roles(given, wanted, ("by its name", "by its name"))
    if len(inputs) == 1:
        (only,) = inputs
        if not any(only.readings.values()):
            files[0].require_real()  # perhaps the other function has an unsupported form
        evolving = {axes: why for axes, why in only.readings.items() if {"time", "channel"} & {*axes}}
        if not evolving:
            kinds = {name: one.kind for name, one in files[0].variables.items() if one.kind}
            unread = [f"; '{name}' was skipped: {kind}" for name, kind in kinds.items()]
            raise DatasetError(
                f"{files[0].path}: give a second file with the targets: the file has only one function, "
                f"'{only.name}' ({' × '.join(map(str, only.shape))}){''.join(unread[:2])}"
            )
        only.readings = evolving
    return Roles(inputs, inputs)


def _is_called(function: Function, name: str) -> bool:
    """Return whether a variable has this name, or one that begins with it, such as `initial_velocity`."""
    leaf = function.name.rpartition("/")[2].lower()
    return leaf == name or (len(name) > 3 and leaf.startswith(f"{name}_"))


def _readable(file: ArraysFile, functions: list[Function]) -> list[Function]:
    """Return the functions of a file that have readings. Raises `DatasetError` if there are none."""
    if readable := [one for one in functions if one.readings]:
        return readable
    file.require_real()  # a more specific error for variables in an unsupported form
    listed = ", ".join(f"{name} {shape}" for name, shape in list(file.shapes.items())[:6]) or "nothing"
    hint = ""
    if file.version == "CSV" and any(axis_of(name) in ("sample", *SPACE) for name in file.variables):
        hint = "; of a table with a row a point, save df.pivot(index='sample', columns='x', values='u')"
    raise DatasetError(
        f"{file.path}: save the samples as one array of real numbers, (samples, x) or (samples, y, x): no "
        f"variable is an array of functions with the coordinates in the file; found: {listed}{hint}"
    )


def cases_of(roles: Roles) -> list[Case]:
    """Return the possible axes of all functions that fit each other. Raises if there are none."""
    every = list(dict.fromkeys((*roles.inputs, *roles.targets)))
    alike: dict[
        tuple, list[Function]
    ] = {}  # functions of one shape with the same readings have the same axes
    for one in every:
        alike.setdefault((one.shape, *one.readings), []).append(one)
    cases: dict[tuple, Case] = {}
    for chosen in product(*(functions[0].readings for functions in alike.values())):
        axes_of = {
            one: axes for axes, functions in zip(chosen, alike.values(), strict=True) for one in functions
        }
        on_one_grid: dict[tuple, list[Function]] = {}
        for one in every:
            sizes = dict(zip(axes_of[one], one.shape, strict=True))
            on_one_grid.setdefault(tuple(sizes.get(axis) for axis in ("sample", *SPACE)), []).append(one)
        kept = max(on_one_grid.values(), key=len)
        if roles.why is None or len(kept) == len(every):
            reasons = dict.fromkeys(one.readings[axes_of[one]] for one in kept)
            case = Case({one: axes_of[one] for one in kept}, "; ".join(reasons) if all(reasons) else "")
            cases.setdefault(tuple(case.axes.items()), case)
    if not cases:
        named = [f"'{one.name}' ({' × '.join(map(str, one.shape))})" for one in every]
        remedy = "interpolate them to one grid, with the same samples"
        if every[-1].shape[:-1] == every[0].shape:
            remedy = f"if the last axis of {named[-1]} is time, add the times as t"
        raise DatasetError(
            f"{every[0].file.path}: input and target differ in grid or number of samples, "
            f"{' and '.join(named)}: {remedy}"
        )
    most = max(len(case.axes) for case in cases.values())
    return [case for case in cases.values() if len(case.axes) == most]
