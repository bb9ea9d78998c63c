"""What the configuration says of a dataset whose samples are read from files. Light to import."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, model_validator

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.channels import Name, parsed
from resolvent.datasets.imported.contents import check_digests, content_digest
from resolvent.datasets.imported.coordinates import coordinates_of, spacing_of
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.storage.layout import SPACE
from resolvent.datasets.tasks.settings import SpaceDataset

SECONDS_PER_BYTE = 2e-8  # to decompress a file
SAME_LENGTH = 1e-3  # relative, of the length stated and that of the coordinates in a file


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class ImportedDataset(SpaceDataset):
    """A dataset read from one file, or from two: training samples from the first, the others from the second.

    Training samples are the first rows of the first file, test samples the last rows of the last one, and
    validation samples the rows before those.

    variables  usual names in the file of the input and the target.
    """

    variables: ClassVar[tuple[str, str]]

    source: Annotated[list[str], BeforeValidator(_as_list), Field(min_length=1, max_length=2)] = Field(
        description="the MAT file (of version 5 or 7.3), or a list of two: training samples are the first of "
        "the first file, test samples the last of the last file, validation samples those before them"
    )
    sha256: list[str] | None = Field(
        None,
        description="SHA-256 of each file, which another content then fails; default: found when planned",
    )
    input: str | None = Field(
        None,
        description="name of the input in the file, `group/name` in a group, `name[0]` on an axis of "
        "channels; default: as in the public files",
    )
    target: str | None = Field(None, description="the same of the target")
    axes: list[str] | dict[str, list[str]] | None = Field(
        None,
        description="the axes of the arrays in their order in the file, of sample, time, channel, y, x; "
        "where variables differ, by their names; default: samples and space",
    )
    input_times: list[int] = Field(
        [0],
        min_length=1,
        max_length=1,
        description="which time of the input is taken, if it has such an axis",
    )
    target_times: list[int] = Field(
        [-1], min_length=1, max_length=1, description="the same of the target, from the end if negative"
    )
    length: float = Field(1.0, gt=0, description="length of the interval, or of a side")
    finest: int = Field(description="points along each axis in the file")
    seed: int = Field(1127802, ge=0, lt=2**63, description="seed of the choice of the samples checked")

    @model_validator(mode="after")
    def _functions_make_sense(self) -> Self:
        for name, _ in self.functions():
            if name.space != SPACE[-self.dimension :] or "sample" not in name.axes:
                expected = ", ".join(("sample", *SPACE[-self.dimension :]))
                raise ValueError(
                    f"axes of '{name.variable}', {', '.join(name.axes)}; accepted: {expected} in any order, "
                    "and time and channel"
                )
        return self

    def functions(self) -> list[tuple[Name, int]]:
        """Return where the input and the target are in a file, each with its time."""
        given, wanted = self.input or self.variables[0], self.target or self.variables[1]
        axes = self.axes or ["sample", *SPACE[-self.dimension :]]
        return [(parsed(given, axes), self.input_times[0]), (parsed(wanted, axes), self.target_times[0])]

    def count(self, file: ArraysFile) -> int:
        """Count the samples of a file."""
        name = self.functions()[0][0]
        return file.shape(name.variable)[name.axes.index("sample")]

    def with_contents(self) -> Self:
        """Check the headers of the files, and return the settings with the SHA-256 of each.

        Raises
        ------
        DatasetError
            In one line that names the file, what is expected and what was found.
        """
        self.checked_files()
        digests = [content_digest(file) for file in self.source]
        check_digests(self.sha256, self.source, digests, "correct sha256, or leave it out")
        return self.model_copy(update={"sha256": digests})

    def checked_files(self) -> list[ArraysFile]:
        """Open the files, and check that they hold what these settings say. Raises as `with_contents`."""
        files = [open_source(file) for file in self.source]
        for file in files:
            counts = [self._check(file, *function) for function in self.functions()]
            if counts[0] != counts[1]:
                given, wanted = (name.entry for name, _ in self.functions())
                words = f"'{given}' has {counts[0]} samples, '{wanted}' {counts[1]}"
                raise DatasetError(f"{file.path}: {words}; expected: as many")
        self._check_counts(files)
        return files

    def _check(self, file: ArraysFile, name: Name, time: int) -> int:
        """Hold a variable, and the coordinates beside it, against these settings; returns its samples."""
        shape, at = file.shape(name.variable), f"{file.path}: variable '{name.variable}'"
        sides = {"sample": "samples", **dict.fromkeys(SPACE, str(self.finest))}
        expected = ", ".join(sides.get(axis, axis) for axis in name.axes)
        sizes = dict(zip(name.axes, shape, strict=False))
        if len(shape) != len(name.axes):
            remedy = f"; or state axes, those {len(shape)} of the file" * (len(shape) > 1)
            raise DatasetError(f"{at} has shape {shape}; expected: ({expected}){remedy}")
        if any(sizes[axis] != self.finest for axis in name.space) or not all(shape):
            square = {sizes[axis] for axis in name.space}
            hint = f"; if these are its points, set finest: {max(square)}" * (len(square) == 1)
            raise DatasetError(f"{at} has shape {shape}; expected: ({expected}){hint}")
        if "time" in sizes and not -sizes["time"] <= time < sizes["time"]:
            raise DatasetError(f"{at} has {sizes['time']} times; time {time} is asked for, counted from 0")
        if name.channel is not None and name.channel >= sizes["channel"]:
            raise DatasetError(f"{at} has {sizes['channel']} channels; '{name.entry}' counts from 0")
        self._check_length(file, name)
        return sizes["sample"]

    def _check_length(self, file: ArraysFile, name: Name) -> None:
        taken = {other.variable for other, _ in self.functions()}
        line = coordinates_of(file, "x", self.finest, taken, name.variable)
        if line is None:
            return
        values = spacing_of(file, line)
        reach = abs(float(values[-1] - values[0]))
        lengths = (reach, reach * len(values) / (len(values) - 1))
        if all(abs(one - self.length) > SAME_LENGTH * self.length for one in lengths):
            raise DatasetError(
                f"{file.path}: set length: {lengths[1]:.6g}, or {lengths[0]:.6g} on nodes: the coordinates "
                f"'{line}' go from {values[0]:g} to {values[-1]:g}; length is {self.length:g}"
            )

    def _check_counts(self, files: list[ArraysFile]) -> None:
        sizes, rows = self.samples, [self.count(file) for file in files]
        asked = [sizes.total] if len(files) == 1 else [sizes.train, sizes.validation + sizes.test]
        splits = ["train, validation and test"] if len(files) == 1 else ["train", "validation and test"]
        for file, has, wanted, names in zip(files, rows, asked, splits, strict=True):
            if wanted > has:
                raise DatasetError(f"{file.path}: has {has} samples; samples asks for {wanted} ({names})")

    def place(self, split: str, index: int, rows: int) -> tuple[int, int]:
        """Give the file (0 or 1) and the row of a sample; `rows` are those of the last file."""
        if split == "train":
            return 0, index
        after = self.samples.test + (self.samples.validation if split == "validation" else 0)
        return len(self.source) - 1, rows - after + index

    def seconds_per_sample(self) -> float:
        values = sum(map(self.num_points, (self.finest, *self.resolutions)))
        return 1e-7 * values + SECONDS_PER_BYTE * self._bytes_read() / max(1, self.samples.total)

    def bytes_of_solving(self) -> float:
        """Predict the bytes that a job needs beside its shard: variables of MAT 5 are read whole."""
        return self._bytes_read()

    def bytes_of_checks(self) -> float:
        return self._bytes_read()

    def _bytes_read(self) -> float:
        try:
            found = [open_source(file).bytes_in_memory for file in self.source]
        except DatasetError:
            return 0.0  # reported when it is planned
        names = {name.variable for name, _ in self.functions()}
        return sum(one.get(name, 0.0) for one in found for name in names)
