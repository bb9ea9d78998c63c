"""Datasets of arbitrary arrays from files, without a known equation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from resolvent.common.settings import Settings
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.arrays_checks import findings_of, warnings_of
from resolvent.datasets.imported.axes import Moment, moments_of, text_of, words_for_times
from resolvent.datasets.imported.files import UNEVEN, Credit, FilesDataset, FilesTask, as_list
from resolvent.datasets.imported.series import Channel, Series, channels_of
from resolvent.datasets.imported.sources import found_pools, pools_of
from resolvent.datasets.storage.layout import SPACE, SPLITS, Group, Variable, space_group
from resolvent.datasets.tasks.settings import LEAST_PRECISE
from resolvent.solvers.common.grid import Grid, Nodes, Product, product

if TYPE_CHECKING:
    from resolvent.datasets.storage.store import Stored

SEVERAL = 4  # largest number of times of a variable that names list

Kind = Literal["periodic", "nodes", "cell_centres", "uneven", "uneven_periodic"]
Points = Annotated[int, Field(ge=2, le=2**20)]
Length = Annotated[float, Field(gt=0)]
AxisName = Literal["x", "y", "z"]
Names = Annotated[list[str], BeforeValidator(as_list), Field(min_length=1)]


class GroupSplits(Settings):
    """Splits by a variable of the file with one value per sample."""

    variable: str = Field(description="name of the variable, with numbers or strings")
    train: list[float | str] = Field([], description="values of the training samples")
    validation: list[float | str] = Field(
        [], description="values of the validation samples; none: they follow the training samples"
    )
    test: list[float | str] = Field([], description="values of the test samples")

    @model_validator(mode="after")
    def _values_are_named_once(self) -> Self:
        values = [*self.train, *self.validation, *self.test]
        if twice := [value for value in values if values.count(value) > 1]:
            raise ValueError(f"the value {twice[0]} is in two splits; accepted: each value in one")
        return self


class About(Credit):
    """Description on the page of data with an unknown equation."""

    equation: str = Field("an equation that is not stated", min_length=1, description="the equation in words")
    symbols: str = Field("not stated", description="the equation in symbols")
    operator: str = Field("", description="the operator in symbols; default: the names of input and target")


class ArraysDataset(FilesDataset):
    """Arrays from files: no equation is solved, and no error is measured.

    Only used samples are read. For an evolution, input and target are the same variable at different times.
    """

    version, checks_version = 1, 2
    equation: Literal["arrays"] = Field(description="arrays from files, without solving an equation")
    source: str | list[str] | dict[str, str | list[str] | dict[str, str | list[str]]] = Field(
        description="a file (.npz, .npy, .mat, HDF5, NetCDF, .pt), a Zarr store, or the address of one; "
        "several files whose samples are concatenated: a folder, a pattern such as `data/*.npy`, or a list "
        "of more than two; a list of two: training samples from the first, the others from the last; "
        "`{input: …, target: …}`; or by split, `{train: …, validation: …, test: …}`, each as above. Without "
        "`validation`, validation samples follow the training samples"
    )
    input: Names = Field(
        description="name of the input in the files, `group/name` in a group, `name[2]` for a channel; or a "
        "list of functions, followed by scalars (one number per sample)"
    )
    target: Names = Field(description="name or names of the target, as for input; only functions")
    axes: list[str] | dict[str, list[str]] = Field(
        description="the axes of the arrays in their order in the files, of sample, time, channel, z, y, x; "
        "where variables differ, by their names; only sample: a number"
    )
    finest: Points | dict[AxisName, Points] = Field(
        description="points along each axis of space in the files; for non-square (rectangular) grids "
        "`{y: 32, x: 128}`, as for all keys of the grid"
    )
    resolutions: list[int] = Field(
        [], description="points along x of the stored grids, with every k-th point of the files; none: finest"
    )
    grid: Kind | dict[AxisName, Kind] = Field(
        description="periodic: without the right end; nodes: with both ends; cell_centres: without ends; "
        "uneven: any increasing points, from coordinates in the file; uneven_periodic: the same, with period "
        "`length`"
    )
    length: Length | dict[AxisName, Length] | None = Field(
        None,
        description="length of the interval, or of a side; default: from the coordinates in the files, or 1 "
        "without coordinates; not needed for uneven points",
    )
    origin: float | dict[AxisName, float] | None = Field(
        None,
        description="coordinate of the left end, checked against the coordinates in the files, and stored; "
        "models count positions from it; default: from the files, or 0",
    )
    coordinates: dict[AxisName | Literal["time"], str] = Field(
        {}, description="names of variables with the coordinates of x, y, z and time; default: by their names"
    )
    input_times: list[int] = Field(
        [], description="indices of the times of the input, from 0, or from the end if negative"
    )
    target_times: list[int] = Field([], description="indices of the times of the target, as for input")
    times: dict[str, str] = Field(
        {},
        description="words for the times on pages, by index, such as `{0: at noon}`; default: from the "
        "coordinates of time in the files",
    )
    window_every: int | None = Field(
        None,
        ge=1,
        description="cut every series into windows that start so many time steps apart; input_times and "
        "target_times then count from the start of a window; none: one sample per series",
    )
    groups: GroupSplits | None = Field(None, description="splits by the values of a variable")
    order: Literal["file", "random"] = Field(
        "file",
        description="how samples or series are assigned to splits: in the order of the files, or at random "
        "(with `seed`), for example if they are sorted",
    )
    units: dict[str, str] = Field({}, description="units of variables and of x, y, z, by name")
    stored_as: Literal["float64", "float32"] = Field("float64", description="precision of the stored numbers")
    about: About = Field(About(), description="description of the data on the page")
    accuracy: float = Field(
        1e-6,
        gt=0,
        le=LEAST_PRECISE,
        description="largest accepted relative L2 difference of the store from the files",
    )

    @model_validator(mode="before")
    @classmethod
    def _finest_grid_by_default(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        given = dict(given)
        if given.pop("rows", None) is not None:  # cards of earlier versions have `rows: null`
            raise ValueError(
                "rows are not accepted any more: without them, samples are taken in the order of the file; "
                "for other rows, save a variable `split` with the split of each sample, and set groups: "
                "{variable: split, train: [train], validation: [validation], test: [test]}"
            )
        finest = given.get("finest")
        finest = finest.get("x") if isinstance(finest, dict) else finest
        if not given.get("resolutions") and isinstance(finest, int):
            given["resolutions"] = [finest]
        return given

    @model_validator(mode="after")
    def _arrays_make_sense(self) -> Self:
        _ = self.channels  # checks names, axes and times against each other
        if self.window_every and min([*self.input_times, *self.target_times], default=0) < 0:
            raise ValueError("times count from the start of a window (window_every); accepted: 0, 1, …")
        for points in dict.fromkeys((self.along("finest")["x"], *self.resolutions)):
            self.even_axes(points)
        return self

    def along(self, key: str) -> dict[str, Any]:
        """Return a setting for each axis of space, in stored order; `ValueError` if it has other axes."""
        key = "grid" if key == "grid_kind" else key
        stated, axes = getattr(self, key), SPACE[-self.dimension :]
        if not isinstance(stated, dict):
            return dict.fromkeys(axes, stated)
        free: tuple[str, ...] = axes if key in ("length", "origin") else ()
        if not {*axes} - {*free} <= {*stated} <= {*axes}:
            raise ValueError(
                f"{key} has values for {', '.join(stated)}, but functions have the axes {', '.join(axes)}; "
                "accepted: a value for each of these axes"
            )
        return {axis: stated.get(axis, type(self).model_fields[key].default) for axis in axes}

    @property
    def uneven(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(axis for axis, kind in self.along("grid").items() if kind in UNEVEN)

    @property
    def dimension(self) -> int:  # type: ignore[override]
        return max(len(one.space) for one in self.channels)

    @property
    def quantities(self) -> tuple[str, str]:  # type: ignore[override]
        return self.names(units=True)

    def names(self, units: bool = False) -> tuple[str, str]:
        """Return the names of inputs and targets; with their times, unless there are many."""
        found: dict[str, dict[str, None]] = {"input": {}, "target": {}}
        for one in self.channels:
            unit = self.units.get(one.variable) if units else None
            many = sum(other.entry == one.entry for other in self.channels) > SEVERAL
            found[one.role][(one.entry if many else one.words) + (f" [{unit}]" if unit else "")] = None
        return ", ".join(found["input"]), ", ".join(found["target"])

    @property
    def grid_kind(self) -> str:  # type: ignore[override]
        kinds = set(self.along("grid").values())
        return kinds.pop() if len(kinds) == 1 else "mixed"

    @property
    def channels(self) -> list[Channel]:
        pairs = [pair for pool in pools_of(self.source) for pair in pool.files]
        return channels_of(
            {"input": self.input, "target": self.target},
            {"input": self.input_times, "target": self.target_times},
            self.axes,
            paired=any(pair["input"] != pair["target"] for pair in pairs),
            windows=bool(self.window_every),
            words=self.times,
        )

    @property
    def in_channels(self) -> int:  # type: ignore[override]
        return sum(one.role == "input" for one in self.channels)

    @property
    def initial_channels(self) -> int:  # type: ignore[override]
        return sum(one.role == "input" and not one.space for one in self.channels)

    @property
    def out_channels(self) -> int:  # type: ignore[override]
        return sum(one.role == "target" for one in self.channels)

    def task(self) -> ArraysTask:
        return ArraysTask(self)

    def series(self) -> Series:
        seed, groups = self.seed if self.order == "random" else None, None
        if self.groups is not None:
            groups = self.groups.variable, {split: getattr(self.groups, split) for split in SPLITS}
        pools, finest, sizes = found_pools(self.source), self.along("finest"), self.samples.model_dump()
        return Series(pools, self.channels, finest, sizes, self.window_every, groups, seed)

    def from_files(self) -> dict[str, Any]:
        """Return lengths and the words for times from the files; raises if they do not fit."""
        series = self.series()
        lengths = self.along("length") | self.held(series).lengths
        lengths = {axis: length or 1.0 for axis, length in lengths.items()}
        alike = len(set(lengths.values())) == 1
        stated = self.length if self.length is not None else lengths["x"] if alike else lengths
        words = words_for_times(self.moments(series), bool(self.window_every))
        return {"length": stated, "times": words | self.times}

    def moments(self, series: Series) -> dict[int, Moment]:
        """Return the times of inputs and targets by index, from the first file; empty if it has none."""
        named, windows = self.coordinates.get("time"), bool(self.window_every)
        return moments_of(series.pairs[0], self.channels, named, windows)

    def grid_of(self, points: int, positions: dict[str, tuple[float, ...]]) -> Grid | Product:
        """Return the grid with `points` along x; `positions` are the files' points along uneven axes."""
        axes: list[Grid | Nodes] = []
        kinds, lengths = self.along("grid"), self.along("length")
        for axis, even in self.even_axes(points).items():
            period = lengths[axis] or 1.0 if kinds[axis] == "uneven_periodic" else None
            try:
                axes.append(even or Nodes(positions[axis][:: self.stride(points)], period))
            except ValueError as error:  # invalid period
                raise DatasetError(f"length: {error}") from None
        return product(axes)


class ArraysTask(FilesTask):
    """Read the functions and scalars of every sample, and restrict them to the stored grids."""

    settings: ArraysDataset

    def __init__(self, settings: ArraysDataset):
        super().__init__(settings)
        self.inputs = tuple(one.stored for one in self.channels if one.role == "input")
        self.targets = tuple(one.stored for one in self.channels if one.role == "target")
        self.dtype = settings.stored_as
        evolves = {one.entry for one in self.channels if one.time is not None}
        same = len(self.inputs) == len(self.targets) and len(evolves) * 2 == len(self.channels)
        self.input_answers = bool(evolves) and same

    def groups(self) -> tuple[Group, ...]:
        settings, groups, functions, scalars = self.settings, [], list[Variable](), list[Variable]()
        moments = settings.moments(self.series)
        for channel in self.channels:
            file = self.series.pairs[0][channel.role]
            unit = text_of(file.variables[channel.variable].attributes().get("units", ""))
            variable = Variable(channel.stored, channel.words, settings.units.get(channel.variable, unit))
            if channel.time in moments:
                time, time_units, calendar = moments[channel.time]
                variable = replace(variable, time=time, time_units=time_units, calendar=calendar)
            (functions if channel.space else scalars).append(variable)
        units = self.held.units | settings.units
        for points in settings.resolutions:
            grid = settings.grid_of(points, self.held.positions)
            group = self.placed(space_group(grid, *functions, numbers=scalars))
            axes = tuple(replace(axis, units=units.get(axis.name, "")) for axis in group.axes)
            groups.append(replace(group, axes=axes))
        return tuple(groups)

    def findings(self, stored: Stored) -> dict:
        every = stored.all_positions
        parts = (stored.names(every[at : at + self.batch]) for at in range(0, len(every), self.batch))
        batches = ((names, self.draw(names)) for names in parts)
        findings = findings_of(self.channels, self.settings.along("grid"), batches)
        given = self.settings
        if given.groups or given.window_every or len(pools_of(given.source)) > 1:
            # The user chose the splits, perhaps to test out of distribution.
            findings["share_of_pairs_in_which_test_is_larger"] = {}
        return findings

    def hold_to_accuracy(self, budget: dict, store: Path | str) -> dict:
        super().hold_to_accuracy({"against_the_file": budget["stored_against_the_file"]}, store)
        return {
            "imported": {
                "summary": "imported; error not measured",
                "warnings": [*warnings_of(budget, self.settings.along("grid")), *self.notes()],
                **self.file_facts(),
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
