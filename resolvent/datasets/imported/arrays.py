"""A dataset of anyone's arrays: which variables of which files are what. Light to import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from resolvent.common.settings import Settings
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.channels import Channel, Name, channels_of, parsed
from resolvent.datasets.imported.contents import check_digests, content_digest
from resolvent.datasets.imported.pools import Pool, found_pools, paths_of, pools_of
from resolvent.datasets.imported.readers.source import is_remote, open_source
from resolvent.datasets.tasks.settings import SpaceDataset
from resolvent.solvers.common.grid import Grid, check_restriction

if TYPE_CHECKING:
    from resolvent.datasets.imported.arrays_task import ArraysTask
    from resolvent.datasets.imported.series import Series

SECONDS_PER_BYTE = 2e-8  # to decompress a file
SPLIT_NAMES = ("train", "validation", "test")
FEW_SAMPLES = 8  # looked at when an experiment is planned
SEVERAL = 4  # times of a variable that names list
Split = Literal["train", "validation", "test"]


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_as_list), Field(min_length=1)]


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


class ArraysDataset(SpaceDataset):
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
    sha256: list[str] | None = Field(
        None,
        description="SHA-256 of each file (of an address that of its size and tag), which another content "
        "then fails; default: found when planned",
    )
    input: Names = Field(
        description="name of the input in the files, `group/name` in a group, `name[2]` on an axis of "
        "channels; or a list: several functions, then numbers, constants of a sample"
    )
    target: Names = Field(description="the same of the target; functions alone")
    axes: list[str] | dict[str, list[str]] = Field(
        description="the axes of the arrays in their order in the files, of sample, time, channel, z, y, x; "
        "where "
        "variables differ, by their names; only sample: a number"
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
    rows: dict[Split, list[int]] | None = Field(
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
                    split: 0 for split in SPLIT_NAMES if split not in pairs
                }
        return given

    @model_validator(mode="after")
    def _arrays_make_sense(self) -> Self:
        pools_of(self.source)
        channels_of(self)
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
        for points in self.resolutions:
            self._check_nested(points)
        return self

    def _check_nested(self, points: int) -> None:
        if points == self.finest:
            return
        if self.grid == "cell_centres":
            raise ValueError(
                f"resolution {points}: every k-th of {self.finest} cell centres is none of a coarser grid; "
                f"accepted: {self.finest}"
            )
        if self.grid == "periodic":
            check_restriction(self.finest, points, "stride")
        elif not 3 <= points <= self.finest or (self.finest - 1) % (points - 1):
            raise ValueError(
                f"{points} nodes are not nested in the file's {self.finest}: {self.finest - 1} intervals, "
                f"{points - 1}"
            )

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Count the axes of space: 1, 2 or 3."""
        return max(len(self.axes_of(name).space) for name in (*self.input, *self.target))

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
        return channels_of(self)

    @property
    def in_channels(self) -> int:
        return sum(one.role == "input" for one in self.channels)

    @property
    def initial_channels(self) -> int:
        return sum(one.role == "input" and not one.space for one in self.channels)

    @property
    def out_channels(self) -> int:
        return sum(one.role == "target" for one in self.channels)

    def axes_of(self, name: str) -> Name:
        """Return the variable, the channel and the axes behind an entry of `input` or `target`."""
        return parsed(name, self.axes)

    def task(self) -> ArraysTask:
        from resolvent.datasets.imported.arrays_task import ArraysTask

        return ArraysTask(self)

    def with_contents(self) -> Self:
        """Look into the files, and return the settings with the SHA-256 of each.

        Raises
        ------
        DatasetError
            In one line that names the file, what is expected and what was found.
        """
        self.series()
        digests = self.digests()
        check_digests(self.sha256, paths_of(self.source), digests, "correct sha256, or leave it out")
        return self.model_copy(update={"sha256": digests})

    def digests(self) -> list[str]:
        """Return the SHA-256 of each file, in the order of `source`."""
        return [content_digest(path) for path in paths_of(self.source)]

    def pools(self) -> list[Pool]:
        """Return the files that splits are taken from, unopened. Raises a `DatasetError` where none is."""
        return found_pools(self.source)

    def series(self) -> Series:
        """Open the files, check them, and find the rows of every sample. Raises as `with_contents`."""
        from resolvent.datasets.imported.series import Series

        return Series(self)

    def unscaled(self) -> list[str]:
        """Say which functions of a few samples are far from mean 0 and deviation 1; nothing is downloaded."""
        from resolvent.datasets.imported.arrays_checks import Checks, unscaled

        names = [("train", index) for index in range(min(FEW_SAMPLES, self.samples.train))]
        if not names or any(map(is_remote, paths_of(self.source))):
            return []
        task = self.task()
        checks = Checks(task)
        try:
            checks.add(names, task.draw(names))
        except DatasetError as error:  # such as a value that is not finite: the import ends with it
            return [str(error)]
        return unscaled(checks.findings()["mean_and_standard_deviation"])

    def seconds_per_sample(self) -> float:
        values = (self.in_channels + self.out_channels) * sum(
            map(self.num_points, (self.finest, *self.resolutions))
        )
        return 1e-7 * values + SECONDS_PER_BYTE * self._bytes_read() / max(1, self.samples.total)

    def bytes_of_solving(self) -> float:
        """Predict the bytes that a job needs beside its shard: some formats are read whole."""
        return self._bytes_read()

    def bytes_of_checks(self) -> float:
        return self._bytes_read()

    def _bytes_read(self) -> float:
        """Return the bytes of the variables of files that can only be read whole."""
        names = {self.axes_of(one).variable for one in (*self.input, *self.target)}
        try:
            found = [
                open_source(path).bytes_in_memory for path in paths_of(self.source) if not is_remote(path)
            ]
        except DatasetError:
            return 0.0  # reported when it is planned
        return sum(one.get(name, 0.0) for one in found for name in names)
