"""Guess what the variables of a file are: axes by name or by shape, input and target, and the grid."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.arrays_checks import REPEATED, seam
from resolvent.datasets.imported.channels import variable_of
from resolvent.datasets.imported.coordinates import FoundGrid, coordinates_of, found_grid, spacing_of
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.storage.layout import SPLITS

WORDS = {
    "sample": "sample samples batch trajectory trajectories traj realization realisation ensemble "
    "member case run",
    "time": "time times t step steps timestep frame frames",
    "channel": "channel channels c component components variable variables feature features",
    "x": "x lon longitude xc",
    "y": "y lat latitude yc",
    "z": "z level depth height zc",
}
AXIS_OF = {word: axis for axis, words in WORDS.items() for word in words.split()}
# Names that inputs and targets have in files, the likeliest first; also as a first part, `initial_…`.
INPUTS = (
    "input",
    "inputs",
    "a",
    "coeff",
    "coefficient",
    "nu",
    "x",
    "u0",
    "initial",
    "before",
    "control",
    "f",
)
TARGETS = ("target", "targets", "output", "outputs", "u", "sol", "solution", "tensor", "y", "p", "pressure",
           "final", "later", "after")  # fmt: skip
FEW = 8  # at most so many entries along an axis of channels
LOOKED_AT = 32  # samples whose functions are looked at
SMOOTH = 1.5  # jump at the seam over the largest one inside, below which functions are taken for periodic


@dataclass
class Function:
    """A variable that is a function of space, with the axes that it seems to have."""

    name: str
    shape: tuple[int, ...]
    axes: tuple[str, ...]

    def size(self, axis: str) -> int:
        """Return the length along an axis; 0 where there is no such axis."""
        return dict(zip(self.axes, self.shape, strict=True)).get(axis, 0)

    @property
    def entry(self) -> str:
        """Return what names it in the configuration: of an axis of channels the first."""
        return f"{self.name}[0]" if "channel" in self.axes else self.name


@dataclass
class Detected:
    """What a file seems to have.

    remarks  how each guess was made.
    numbers  variables with one number for each sample, by entry of `input`, with their axes.
    """

    inputs: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
    grid: FoundGrid = field(default_factory=lambda: FoundGrid("nodes", 1.0, 0.0))
    coordinates: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    split: str | None = None
    split_sizes: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, list[str]] = field(default_factory=dict)

    def function(self, entry: str) -> Function:
        """Return the function behind an entry of `inputs` or `targets`."""
        return self.functions[variable_of(entry)]


def detect(files: dict[str, ArraysFile]) -> Detected:
    """Guess what a dataset of `files`, that of each role, would be.

    Raises
    ------
    DatasetError
        When nothing in them is a function of space, or there is no target.
    """
    found = Detected()
    for file in dict.fromkeys(files.values()):
        for name in file.shapes:
            one = _function(file, name)
            if one is not None:
                found.functions[name] = one
    path = files["input"].path
    if not found.functions:
        raise DatasetError(
            f"{path}: no variable is an array of functions; expected: (samples, x), (samples, y, x), "
            f"…; found: "
            f"{_listed(files['input'])}"
        )
    if files["input"] is files["target"]:
        _choose(found, files["input"])
    else:
        for role, chosen in (("input", found.inputs), ("target", found.targets)):
            one = next((_function(files[role], name) for name in files[role].shapes), None)
            if one is None:
                raise DatasetError(f"{files[role].path}: no variable is an array of functions")
            chosen.append(one.entry)
    _find_grid(found, files["input"])
    for name in files["input"].shapes:
        if name.rpartition("/")[2] == "split" and files["input"].is_text(name):
            _find_split(found, files["input"], name)
    _find_numbers(found, files["input"])
    return found


def _find_numbers(found: Detected, file: ArraysFile) -> None:
    """Take note of variables with one number for each sample that are no coordinates."""
    count = found.function(found.inputs[0]).size("sample")
    taken = {*found.coordinates.values(), found.split}
    for name, shape in file.shapes.items():
        leaf = name.rpartition("/")[2].lower()
        if shape not in ((count,), (count, 1)) or count < 2 or name in taken or name in found.functions:
            continue
        if leaf in AXIS_OF or "coordinate" in leaf or file.not_real(name) is not None:
            continue
        if len(shape) == 1:
            found.numbers[name] = ["sample"]
        else:
            found.numbers[f"{name}[0]"] = ["sample", "channel"]


def _find_split(found: Detected, file: ArraysFile, name: str) -> None:
    """Take the splits that a variable of words names, where it names all three."""
    words = file.values(name).ravel().tolist()
    sizes = {split: words.count(split) for split in SPLITS}
    if all(sizes.values()):
        found.split, found.split_sizes = name, sizes
        found.remarks.append(f"splits as '{name}' has them")


def _listed(file: ArraysFile) -> str:
    shapes = [f"{name} {shape}" for name, shape in list(file.shapes.items())[:6]]
    return ", ".join(shapes) or "nothing"


def _function(file: ArraysFile, name: str) -> Function | None:
    """Return a variable as a function of space; None where it is none."""
    shape = file.shapes[name]
    leaf = name.rpartition("/")[2].lower()
    if len(shape) < 2 or not all(shape) or file.not_real(name) is not None:
        return None
    if sum(size > 1 for size in shape) < 2 or "coordinate" in leaf or leaf.endswith("_bnds"):
        return None
    dims = file.dims(name)
    named = tuple(AXIS_OF.get(dim.lower().rpartition("/")[2], "") for dim in dims or ())
    if named and all(named) and len(set(named)) == len(named) and _space(named):
        return Function(name, shape, named)
    axes = axes_by_shape(shape, _lengths(file, name, "time"))
    if axes is None:
        return None
    if file.version.endswith("(PDEBench)"):  # x comes first there
        axes = tuple({"x": "y", "y": "x"}.get(axis, axis) if "y" in axes else axis for axis in axes)
    return Function(name, shape, axes)


def _space(axes: tuple[str, ...]) -> bool:
    space = {axis for axis in axes if axis in "zyx"}
    return space in ({"x"}, {"x", "y"}, {"x", "y", "z"})


def _lengths(file: ArraysFile, name: str, axis: str) -> set[int]:
    """Return the lengths of variables that look like coordinates of an axis; PDEBench has one time more."""
    folder = name.rpartition("/")[0]
    words = [word for word, means in AXIS_OF.items() if means == axis]
    leaves = {*words, *(f"{word}-coordinate" for word in words)}
    found = set()
    for other, shape in file.shapes.items():
        if other.rpartition("/")[2].lower() in leaves and len(shape) == 1 and other != f"{folder}/{name}":
            found |= {shape[0], shape[0] - 1}
    return found


def axes_by_shape(shape: tuple[int, ...], times: set[int]) -> tuple[str, ...] | None:
    """Guess the axes of an array, samples first; None where no guess is at hand.

    times  lengths that an axis of time has.
    """
    if len(shape) == 2:
        return ("sample", "x")
    if len(shape) == 3:
        _, one, last = shape
        if one == last and one not in times:
            return ("sample", "y", "x")
        if last <= FEW < one:
            return ("sample", "x", "channel")
        return ("sample", "channel", "x") if one <= FEW and one not in times else ("sample", "time", "x")
    if len(shape) == 4:
        _, one, two, last = shape
        if one == two == last:
            return ("sample", "z", "y", "x")
        if two == last:
            return ("sample", "channel" if one <= 4 and one not in times else "time", "y", "x")
        if one == two:
            return ("sample", "y", "x", "channel" if last <= FEW and last not in times else "time")
        return ("sample", "time", "x", "channel") if last <= FEW else None
    if len(shape) == 5:
        _, one, two, three, last = shape
        if one == two == three and last <= FEW and one not in times:
            return ("sample", "z", "y", "x", "channel")
        if two == three and last <= FEW:
            return ("sample", "time", "y", "x", "channel")
        if two == three == last:
            return ("sample", "channel" if one <= FEW and one not in times else "time", "z", "y", "x")
        return ("sample", "z", "y", "x", "channel") if one == two == three else None
    return None


def _choose(found: Detected, file: ArraysFile) -> None:
    """Choose input and target among the functions of one file."""
    functions = list(found.functions.values())
    given = _named(functions, INPUTS)
    wanted = _named([one for one in functions if one is not given], TARGETS)
    if given is not None and wanted is not None and _fit(given, wanted):
        found.inputs, found.targets = [given.entry], [wanted.entry]
        found.remarks.append("input and target by their names: another choice may be right")
        return
    evolving = next((one for one in functions if one.size("time") > 1), None)
    if evolving is not None:
        found.inputs = found.targets = [evolving.entry]
        found.remarks.append(f"'{evolving.name}' has an axis of time: input at its first, target at its last")
        return
    several = next((one for one in functions if one.size("channel") > 1), None)
    if several is not None:
        found.inputs, found.targets = [f"{several.name}[0]"], [f"{several.name}[1]"]
        found.remarks.append(f"input and target are the first two channels of '{several.name}': a guess")
        return
    given = given or next((one for one in functions if one is not wanted), None)
    wanted = wanted or next((one for one in functions if one is not given), None)
    if given is not None and wanted is not None and _fit(given, wanted):
        found.inputs, found.targets = [given.entry], [wanted.entry]
        found.remarks.append(f"input '{given.name}' and target '{wanted.name}': a guess")
        return
    raise DatasetError(
        f"{file.path}: one function alone, '{functions[0].name}' {functions[0].shape}; expected: an "
        f"input and a "
        "target, or an axis of time; a second file may be given"
    )


def _fit(one: Function, other: Function) -> bool:
    alike = all(one.size(axis) == other.size(axis) for axis in ("sample", "z", "y", "x"))
    return alike and one is not other


def _named(functions: list[Function], names: tuple[str, ...]) -> Function | None:
    for name in names:
        for one in functions:
            leaf = one.name.rpartition("/")[2].lower()
            if leaf == name or (len(name) > 3 and leaf.startswith(f"{name}_")):
                return one
    return None


def _find_grid(found: Detected, file: ArraysFile) -> None:
    """Find the grid of the input: by its coordinates, by what the file says, by how its ends go on."""
    one = found.function(found.inputs[0])
    points, periodic, ends = one.size("x"), None, _ends(found, file)
    said = file.boundary()
    if said is not None:
        periodic = said == "periodic"
        found.remarks.append(
            f"the file says that the boundary is {'periodic' if periodic else 'not periodic'}"
        )
    elif ends["both_ends"] <= REPEATED:
        periodic = False
        found.remarks.append("the last value repeats the first one: both ends are points")
    else:
        periodic = ends["seam"] < SMOOTH
        found.remarks.append(
            f"from the last point to the first, functions jump {ends['seam']:.2g} times as far as between "
            f"neighbours inside: {'periodic' if periodic else 'not periodic'}"
        )
    if periodic and points % 2:
        periodic = False
        found.remarks.append(
            f"periodic grids have an even number of points, and this has {points}: not periodic"
        )
    name = coordinates_of(file, "x", points, set(found.functions), one.name)
    if name is not None:
        found.grid = found_grid(spacing_of(file, name), periodic)
        found.coordinates = {"x": name}
        found.remarks.append(f"{found.grid.kind.replace('_', ' ')} by the coordinates '{name}'")
        return
    if periodic:
        kind = "periodic"
    elif ends["at_ends"] > 1e-3 and ends["half_cell"] < 0.1 * ends["at_ends"]:
        kind = "cell_centres"
        found.remarks.append("functions vanish half a cell beyond their ends: cell centres")
    else:
        kind = "nodes"
    found.grid = FoundGrid(kind, 1.0, 0.0)
    found.remarks.append("no coordinates: the length 1 is a guess")


def _ends(found: Detected, file: ArraysFile) -> dict[str, float]:
    """Measure how the functions of the first input go on at their ends, as `seam` does."""
    one = found.function(found.inputs[0])
    selection: list[slice] = []
    for axis, size in zip(one.axes, one.shape, strict=True):
        most = LOOKED_AT if axis == "sample" else 1 if axis in ("time", "channel") else size
        selection.append(slice(0, min(most, size)))
    values: Any = file.read(one.name, tuple(selection))
    kept = [axis for axis in ("sample", "z", "y", "x") if axis in one.axes]
    gone = tuple(number for number, axis in enumerate(one.axes) if axis not in kept)
    values = np.squeeze(values, axis=gone)
    left = [axis for axis in one.axes if axis in kept]
    values = values.transpose([left.index(axis) for axis in kept])
    values = values if "sample" in one.axes else values[None]
    return seam(values, values.ndim - 1)
