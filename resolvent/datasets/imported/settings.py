"""What the configuration says of a dataset whose samples are read from files. Light to import."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.contents import check_digests, content_digest
from resolvent.datasets.imported.readers.arrays_file import ArraysFile
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.tasks.settings import SpaceDataset

SECONDS_PER_BYTE = 2e-8  # to decompress a file


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class ImportedDataset(SpaceDataset):
    """A dataset read from one file, or from two: training samples from the first, the others from the second.

    Training samples are the first rows of the first file, test samples the last rows of the last one, and
    validation samples the rows before those.

    variables  names in the file of the input and the target.
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
    finest: int = Field(description="points along each axis in the file")
    seed: int = Field(1127802, ge=0, lt=2**63, description="seed of the choice of the samples checked")

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
        row = (self.finest,) * self.dimension
        for file in files:
            for name in self.variables:
                shape, expected = file.shape(name), ", ".join(map(str, ("samples", *row)))
                if shape[1:] != row or not shape[0]:
                    hint = ""
                    if len(shape) == 1 + self.dimension and len(set(shape[1:])) == 1:
                        hint = f"; if these are its points, set finest: {shape[1]}"
                    raise DatasetError(
                        f"{file.path}: variable '{name}' has shape {shape}; expected: ({expected}){hint}"
                    )
            first, second = (file.shape(name)[0] for name in self.variables)
            if first != second:
                raise DatasetError(
                    f"{file.path}: '{self.variables[0]}' has {first} samples, "
                    f"'{self.variables[1]}' {second}; expected: as many"
                )
        self._check_counts(files)
        return files

    def _check_counts(self, files: list[ArraysFile]) -> None:
        sizes, rows = self.samples, [file.shape(self.variables[0])[0] for file in files]
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
        return sum(one.get(name, 0.0) for one in found for name in self.variables)
