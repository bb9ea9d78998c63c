"""Files with a group, or an array, for each sample, and with coordinates for each: read as one array each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import ArraysFile, Selection

# A path with a part that ends in a number: `data/demo_12/u`, `0012/u`, `sample_12`.
NUMBERED = re.compile(r"(?P<before>(?:[^/]+/)*?)(?P<prefix>[^/]*?)(?P<number>\d+)(?:/(?P<rest>.+))?")
# What a prefix is called where it means a sample for certain.
SAMPLE = re.compile(
    r"(samples?|traj(ector(y|ies))?|runs?|cases?|sim(ulation)?s?|members?|ens(emble)?|reali[sz]ations?|seeds?"
    r"|demos?|episodes?)[_-]?",
    re.IGNORECASE,
)
# Names of coordinates, as `coordinates.NAMES` has them, and of times.
COORDINATE = re.compile(
    r"(.+/)?((grid|coordinates|dimensions)/[xyzt]|grid_[xyzt]|[xyzt]_grid|[xyzt](-coordinate)?|times?)"
)


def by_sample(file: ArraysFile) -> ArraysFile:
    """Return `file` with what it has sample by sample as one array; itself where there is no such thing."""
    found = BySample(file)
    return found if found.members or found.repeated else file


class BySample(ArraysFile):
    """The variables of another file, some of them stored sample by sample.

    members   of a variable, its parts in the file, in the order of their numbers.
    repeated  coordinates that the first, the middle and the last sample have alike; reading them holds all
              samples to that.
    """

    def __init__(self, file: ArraysFile):
        super().__init__(file.path)
        self.file, self.version = file, file.version
        self.members: dict[str, list[str]] = {}
        self.repeated: set[str] = set()
        self._ragged: dict[str, str] = {}
        self.shapes = dict(file.shapes)
        self._join()
        for name, shape in self.shapes.items():
            if len(shape) == 2 and COORDINATE.fullmatch(name.lower()) and self._is_repeated(name):
                self.repeated.add(name)
        self.shapes |= {name: self.shapes[name][1:] for name in self.repeated}

    def _join(self) -> None:
        """Find groups of samples, and take their variables in the place of those of each group."""
        families: dict[tuple[str, str, bool], dict[str, dict[str, str]]] = {}
        for name in self.file.shapes:
            part = NUMBERED.fullmatch(name)
            if part is not None:
                family = families.setdefault((part["before"], part["prefix"], part["rest"] is not None), {})
                family.setdefault(part["number"], {})[part["rest"] or part["prefix"].strip("_-")] = name
        for (before, prefix, grouped), family in families.items():
            groups = dict(sorted(family.items(), key=lambda one: int(one[0])))
            shapes = {
                rest: [self.file.shapes.get(group.get(rest, "")) for group in groups.values()]
                for rest in dict.fromkeys(rest for group in groups.values() for rest in group)
            }
            alike = {rest for rest, found in shapes.items() if len(set(found)) == 1}
            if not self._are_samples(before, prefix, grouped, list(groups), bool(alike)):
                continue
            for group in groups.values():
                for name in group.values():
                    del self.shapes[name]
            if grouped and self.file.version == "HDF5":
                lone = not (before or prefix or self.shapes)
                self.version = "HDF5 (PDEBench)" if lone else "HDF5, a group for each sample"
            for rest, found in shapes.items():
                name = before + rest
                self.members[name] = [group[rest] for group in groups.values() if rest in group]
                self.shapes[name] = (len(groups), *(found[0] or ())) if rest in alike else ()
                if rest not in alike:
                    other = next(row for row, shape in enumerate(found) if shape != found[0])
                    words = [" × ".join(map(str, found[row] or ("none",))) for row in (0, other)]
                    at = [prefix + list(groups)[row] for row in (0, other)]
                    self._ragged[name] = f"ragged ({words[0]} in {at[0]}, {words[1]} in {at[1]})"

    def _are_samples(self, before: str, prefix: str, grouped: bool, numbers: list[str], alike: bool) -> bool:
        """Say whether numbered groups, or arrays where they are not `grouped`, are samples."""
        named = SAMPLE.fullmatch(prefix) is not None
        if not grouped:
            return named and alike and len(numbers) > 1
        if not prefix and not before and self.file.version == "HDF5":  # as PDEBench has them
            return True
        if named:
            return len(numbers) > 1
        first = int(numbers[0])
        counted = [int(one) for one in numbers] == list(range(first, first + len(numbers)))
        return alike and len(numbers) > 2 and counted and first in (0, 1)

    def _is_repeated(self, name: str) -> bool:
        """Say whether a variable rises or falls, the same in its first, its middle and its last row."""
        count, points = self.shapes[name]
        if not count or points < 2 or self.not_real(name) is not None:
            return False
        try:
            rows = [self._part(name, (slice(row, row + 1),))[0] for row in (0, count // 2, count - 1)]
        except Exception:  # of any kind, of a damaged file: it is reported where the variable is used
            return False
        steps = np.sign(np.diff(rows[0].astype(float)))
        monotone = steps[0] != 0 and (steps == steps[0]).all()
        return bool(monotone and all(np.array_equal(row, rows[0]) for row in rows))

    def _first(self, name: str) -> str:
        return self.members[name][0] if name in self.members else name

    @property
    def notes(self) -> list[str]:
        return super().notes + self.file.notes

    @property
    def bytes_in_memory(self) -> dict[str, float]:
        one = self.file.bytes_in_memory
        return {name: sum(one[part] for part in self.members.get(name, [name])) for name in self.shapes}

    def attributes(self, name: str) -> Mapping[str, Any]:
        return self.file.attributes(self._first(name))

    def dims(self, name: str) -> tuple[str, ...] | None:
        if name in self.members:
            return None
        found = self.file.dims(name)
        return found[1:] if found and name in self.repeated else found

    def boundary(self) -> str | None:
        return self.file.boundary()

    def shape(self, name: str) -> tuple[int, ...]:
        if name not in self._sound and name in self.shapes and name not in self._ragged:
            for part in self.members.get(name, [name]):
                self.file.shape(part)
        elif name not in self.shapes:
            self.file.shape(name)
        return super().shape(name)

    def not_real(self, name: str) -> str | None:
        return self._ragged.get(name) or self.file.not_real(self._first(name))

    def single(self, name: str) -> bool:
        return all(self.file.single(part) for part in self.members.get(name, [name]))

    def is_text(self, name: str) -> bool:
        return name not in self._ragged and self.file.is_text(self._first(name))

    def _part(self, name: str, selection: Selection) -> np.ndarray:
        """Read a part of a variable as it is stored: with the axis of samples."""
        if name not in self.members:
            return np.asarray(self.file._read(name, selection))
        chosen, *rest = selection or (slice(None),)
        return np.stack([self.file._read(part, tuple(rest)) for part in self.members[name][chosen]])

    def _read(self, name: str, selection: Selection) -> np.ndarray:
        if name not in self.repeated:
            return self._part(name, selection)
        rows = self._part(name, ())
        same = (rows == rows[0]).all(axis=1)
        if not same.all():
            raise DatasetError(
                f"{self.path}: coordinates '{name}' are not the same for all samples: sample "
                f"{int(np.argmin(same)) + 1} has others; expected: one grid for all"
            )
        return rows[0][selection]
