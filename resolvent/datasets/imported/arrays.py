"""A dataset of anyone's arrays: which variables of which files are what, and the task that reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from resolvent.common.errors import Words
from resolvent.common.settings import Settings
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.arrays_checks import findings_of, unscaled, warnings_of
from resolvent.datasets.imported.axes import falling_axes
from resolvent.datasets.imported.channels import Channel, channels_of
from resolvent.datasets.imported.files import FilesDataset, FilesTask, as_list
from resolvent.datasets.imported.readers.source import is_remote
from resolvent.datasets.imported.series import Series
from resolvent.datasets.imported.sources import found_pools, pools_of
from resolvent.datasets.storage.layout import SPLITS, Group, Variable, group_name, space_group
from resolvent.datasets.tasks.error_budget import against_computed_again, hold_to_accuracy
from resolvent.solvers.common.grid import Grid

if TYPE_CHECKING:
    import numpy as np

    from resolvent.datasets.storage.stored import Stored

FEW_SAMPLES = 8  # looked at when an experiment is planned
SEVERAL = 4  # times of a variable that names list
Names = Annotated[list[str], BeforeValidator(as_list), Field(min_length=1)]


class GroupSplits(Settings):
    """Splits by a variable of the file that has one value for each sample."""

    variable: str = Field(description="name of the variable, of numbers or of words")
    train: list[float | str] = Field([], description="values of the training samples")
    validation: list[float | str] = Field([], description="values of the validation samples")
    test: list[float | str] = Field([], description="values of the test samples")


class About(Settings):
    """What the page says of data whose equation this project does not know."""

    equation: str = Field("an equation that is not stated", description="the equation in words")
    symbols: str = Field("not stated", description="the equation in symbols")
    operator: str = Field("", description="the operator in symbols; default: the names of input and target")
    source: str = Field("not stated", description="who made the data, and where they are described")
    licence: str = Field("unknown", description="the licence of the data")


class ArraysDataset(FilesDataset):
    """Arrays of files: no equation is solved, and no error is measured.

    Samples that are not asked for are not read. Input and target of an evolution are the same variable at
    other times.
    """

    equation: Literal["arrays"] = Field(description="arrays of files, whose equation is not solved here")
    source: str | list[str] | dict[str, str | list[str] | dict[str, str | list[str]]] = Field(
        description="a file (.npz, .npy, .mat, HDF5, NetCDF, .pt), a Zarr store, or the address of one; a "
        "folder, a pattern such as `data/*.npy`, or a list of more than two: their samples follow each "
        "other; a list of two: training samples from the first, the others from the last; `{input: …, "
        "target: …}`; or by split, `{train: …, validation: …, test: …}`, each as above. Without "
        "`validation`, validation samples follow the training samples"
    )
    input: Names = Field(
        description="name of the input in the files, `group/name` in a group, `name[2]` on an axis of "
        "channels; or a list: several functions, then numbers, constants of a sample"
    )
    target: Names = Field(description="the same of the target; functions alone")
    axes: list[str] | dict[str, list[str]] = Field(
        description="the axes of the arrays in their order in the files, of sample, time, channel, z, y, x; "
        "where variables differ, by their names; only sample: a number"
    )
    finest: int = Field(ge=2, le=2**20, description="points along each axis of space in the files")
    resolutions: list[int] = Field(
        [], description="points along each axis of the grids stored, every k-th of the file; none: finest"
    )
    grid: Literal["periodic", "nodes", "cell_centres"] = Field(
        description="periodic: the right end is left out; nodes: both ends are points; cell_centres: neither "
        "is"
    )
    length: float = Field(1.0, gt=0, description="length of the interval, or of a side")
    origin: float = Field(
        0.0, description="coordinate of the left end in the files; in the store the left end is at 0"
    )
    coordinates: dict[Literal["x", "y", "z"], str] = Field(
        {}, description="names of variables with the coordinates, which are held against the grid"
    )
    input_times: list[int] = Field(
        [], description="which times of the input are taken, counted from 0, from the end if negative"
    )
    target_times: list[int] = Field([], description="the same of the target")
    window_every: int | None = Field(
        None,
        ge=1,
        description="cut every series into windows that begin so many times apart; input_times and "
        "target_times then count from the beginning of a window; none: one sample a series",
    )
    rows: dict[Literal["train", "validation", "test"], list[int]] | None = Field(
        None, description="first row of a split and the row behind its last one: `{train: [0, 800], …}`"
    )
    groups: GroupSplits | None = Field(None, description="splits by the values of a variable")
    units: dict[str, str] = Field({}, description="units of variables and of x, y, z, by name")
    stored_as: Literal["float64", "float32"] = Field("float64", description="type of the stored numbers")
    about: About = Field(About(), description="what the page says of the data")
    accuracy: float = Field(
        1e-6, gt=0, description="largest relative L2 difference of what is stored from the files"
    )

    @model_validator(mode="before")
    @classmethod
    def _what_follows_from_the_rest(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        given = dict(given)
        if not given.get("resolutions") and isinstance(given.get("finest"), int):
            given["resolutions"] = [given["finest"]]
        rows = given.get("rows")
        if isinstance(rows, dict) and "samples" not in given and given.get("window_every") is None:
            pairs = {k: v for k, v in rows.items() if isinstance(v, list) and len(v) == 2}
            if all(isinstance(one, int) for pair in pairs.values() for one in pair):
                given["samples"] = {split: pairs[split][1] - pairs[split][0] for split in pairs} | {
                    split: 0 for split in SPLITS if split not in pairs
                }
        return given

    @model_validator(mode="after")
    def _arrays_make_sense(self) -> Self:
        _ = self.channels  # of which the names, axes and times have to fit each other
        if self.rows is not None and self.groups is not None:
            raise ValueError("rows and groups both choose the splits; leave one of them out")
        for split, pair in (self.rows or {}).items():
            if len(pair) != 2 or not 0 <= pair[0] < pair[1]:
                raise ValueError(
                    f"rows.{split}: {pair}; accepted: [first, behind the last], such as [0, 100]"
                )
        if self.window_every and min([*self.input_times, *self.target_times], default=0) < 0:
            raise ValueError("times of a window count from its beginning; accepted: 0, 1, …")
        Grid(self.grid, self.finest, self.length, self.dimension)
        return self

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Count the axes of space: 1, 2 or 3."""
        return max(len(one.space) for one in self.channels)

    @property
    def quantities(self) -> tuple[str, str]:  # type: ignore[override]
        """Return what captions call the input and the target: names and units."""
        return self.names(units=True)

    def names(self, units: bool = False) -> tuple[str, str]:
        """Return the names of the inputs and of the targets, of many times without these."""
        found: dict[str, list[str]] = {"input": [], "target": []}
        for one in self.channels:
            unit = self.units.get(one.name.variable, "") if units else ""
            many = one.time is not None and sum(c.name == one.name for c in self.channels) > SEVERAL
            found[one.role].append((one.name.entry if many else one.words) + (f" [{unit}]" if unit else ""))
        given, wanted = (", ".join(dict.fromkeys(names)) for names in found.values())
        return given, wanted

    @property
    def grid_kind(self) -> str:
        return self.grid

    @property
    def channels(self) -> list[Channel]:
        """Return the functions and numbers of a sample, inputs first."""
        pairs = [pair for pool in pools_of(self.source) for pair in pool.files]
        return channels_of(
            {"input": self.input, "target": self.target},
            {"input": self.input_times, "target": self.target_times},
            self.axes,
            paired=any(pair["input"] != pair["target"] for pair in pairs),
            windows=bool(self.window_every),
        )

    @property
    def in_channels(self) -> int:
        return sum(one.role == "input" for one in self.channels)

    @property
    def initial_channels(self) -> int:
        return sum(one.role == "input" and not one.space for one in self.channels)

    @property
    def out_channels(self) -> int:
        return sum(one.role == "target" for one in self.channels)

    def task(self) -> ArraysTask:
        return ArraysTask(self)

    def series(self) -> Series:
        groups = None
        if self.groups is not None:
            groups = (self.groups.variable, {split: getattr(self.groups, split) for split in SPLITS})
        sizes, pools = self.samples.model_dump(), found_pools(self.source)
        opened = Series(pools, self.channels, self.finest, sizes, self.window_every, self.rows, groups)
        grid, found = Grid(self.grid, self.finest, self.length, self.dimension), []
        for file in [pair["input"] for _, pairs in opened.pools for pair in pairs]:
            found.append(falling_axes(file, self.channels, grid, self.origin, self.coordinates))
            if found[-1] != found[0]:
                raise DatasetError(
                    f"{file.path}: its coordinates fall along other axes than those of the files before it; "
                    "expected: one grid for all files"
                )
        opened.falling = found[0]
        return opened

    def unscaled(self) -> list[Words]:
        """Say which functions of a few samples are far from mean 0 and deviation 1; nothing is downloaded."""
        names = [("train", index) for index in range(min(FEW_SAMPLES, self.samples.train))]
        if not names or any(map(is_remote, self.paths())):
            return []
        try:
            found = findings_of(self.channels, self.dimension, [(names, self.task().draw(names))])
        except DatasetError as error:  # such as a value that is not finite: the import ends with it
            return [str(error)]
        return unscaled(found["mean_and_standard_deviation"])


class ArraysTask(FilesTask):
    """Reads the functions and numbers of every sample, and restricts them to the grids stored."""

    settings: ArraysDataset

    def __init__(self, settings: ArraysDataset):
        super().__init__(settings)
        self.inputs = tuple(one.stored for one in self.channels if one.role == "input")
        self.targets = tuple(one.stored for one in self.channels if one.role == "target")
        self.dtype = settings.stored_as
        evolves = [(one.name.entry, one.name.axes) for one in self.channels if one.time is not None]
        same = len(self.inputs) == len(self.targets) and len(set(evolves)) * 2 == len(self.channels)
        self.input_answers = bool(evolves) and same

    def groups(self) -> tuple[Group, ...]:
        settings = self.settings

        found = []
        functions: list[Variable] = []
        numbers: list[Variable] = []
        for one in self.channels:
            unit = settings.units.get(one.name.variable, "1")
            (functions if one.space else numbers).append(Variable(one.stored, one.words, unit))
        for points in settings.resolutions:
            grid = Grid(settings.grid, points, settings.length, settings.dimension)
            group = space_group(grid, *functions)
            axes = (replace(axis, units=settings.units.get(axis.name, "1")) for axis in group.axes)
            found.append(replace(group, axes=tuple(axes), variables=(*group.variables, *numbers)))
        return tuple(found)

    def solve(self, drawn: np.ndarray) -> dict[str, np.ndarray]:
        """Restrict what was read, (samples, channels, ...space), to the grids stored."""
        return {
            f"{group_name(points)}/{one.stored}": self.thinned(drawn[:, number], points)
            if one.space
            else drawn[:, number].reshape(len(drawn), -1)[:, 0].copy()
            for points in self.settings.resolutions
            for number, one in enumerate(self.channels)
        }

    def error_budget(self, stored: Stored) -> dict:
        every = stored.all_positions
        parts = (stored.names(every[at : at + self.batch]) for at in range(0, len(every), self.batch))
        batches = ((names, self.draw(names)) for names in parts)
        found = findings_of(self.channels, self.settings.dimension, batches)
        again = against_computed_again(self, stored, stored.random_positions(16))
        return {**found, "stored_against_the_file": again}

    def hold_to_accuracy(self, budget: dict, store: Path | str) -> dict:
        """Hold what is stored to the files, and say for the card what was imported and remarked on."""
        hold_to_accuracy({"against_the_file": budget["stored_against_the_file"]}, self, store)
        return {
            "imported": {
                "summary": "imported; error not measured",
                "warnings": [*warnings_of(budget, self.settings.grid), *self.notes()],
                **self.file_facts(),
                "licence": self.settings.about.licence,
            }
        }

    def description(self) -> dict:
        about = self.settings.about
        return {
            "equation": {
                "in_words": about.equation,
                "in_symbols": about.symbols,
                "operator": about.operator or " ↦ ".join(self.settings.names()),
                "source": about.source,
            },
            "solver": {"method": "unknown: the samples are the files'"},
        }
