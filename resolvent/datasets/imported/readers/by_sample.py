"""Files with a group, or an array, for each sample, and with coordinates for each: read as one array each."""

from __future__ import annotations

import re

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import ArraysFile, Selection, Variable

# A path with a part that ends in a number: `data/demo_12/u`, `0012/u`, `sample_12`.
NUMBERED = re.compile(r"(?P<before>(?:[^/]+/)*?)(?P<prefix>[^/]*?)(?P<number>\d+)(?:/(?P<rest>.+))?")
# What a prefix is called where it means a sample for certain.
SAMPLE = re.compile(
    r"(samples?|traj(ector(y|ies))?|runs?|cases?|sim(ulation)?s?|members?|ens(emble)?|reali[sz]ations?|seeds?"
    r"|demos?|episodes?)[_-]?",
    re.IGNORECASE,
)
# Names of coordinates and of times, of which each sample may have a copy.
COORDINATE = re.compile(
    r"(.+/)?((grid|coordinates|dimensions)/[xyzt]|grid_[xyzt]|[xyzt]_grid|[xyzt](-coordinate)?|times?)"
)


def by_sample(file: ArraysFile) -> ArraysFile:
    """Return `file` with each variable that is stored sample by sample as one, first axis the sample.

    Coordinates that the first, the middle and the last sample have alike become those of all samples;
    reading them holds every sample to that.
    """
    # Numbered variables: of (folder, prefix, in groups), by number and by what follows, the names.
    families: dict[tuple[str, str, bool], dict[str, dict[str, str]]] = {}
    for name in file.variables:
        if (part := NUMBERED.fullmatch(name)) is not None:
            family = families.setdefault((part["before"], part["prefix"], part["rest"] is not None), {})
            family.setdefault(part["number"], {})[part["rest"] or part["prefix"].strip("_-")] = name
    version = file.version
    for (before, prefix, grouped), family in families.items():
        groups = dict(sorted(family.items(), key=lambda one: int(one[0])))
        first, named = int(next(iter(groups))), SAMPLE.fullmatch(prefix) is not None
        counted = list(map(int, groups)) == list(range(first, first + len(groups)))
        # By what follows the number, the variable of each sample; None where a sample lacks it.
        members = {
            rest: [file.variables[group[rest]] if rest in group else None for group in groups.values()]
            for rest in dict.fromkeys(rest for group in groups.values() for rest in group)
        }
        alike = any(len({one and one.shape for one in of_rest}) == 1 for of_rest in members.values())
        if grouped:
            of_pdebench = not prefix and not before and version == "HDF5"
            count_up = alike and len(groups) > 2 and counted and first in (0, 1)
            if not (of_pdebench or (len(groups) > 1 if named else count_up)):
                continue
        elif not (named and alike and len(groups) > 1):
            continue
        joined = {}
        for rest, of_rest in members.items():
            parts = {group[rest]: file.variables[group[rest]] for group in groups.values() if rest in group}
            joined[before + rest] = _joined(parts, of_rest, [prefix + number for number in groups])
        for name in [name for group in groups.values() for name in group.values()]:
            del file.variables[name]
        if grouped and version == "HDF5":
            lone = not (before or prefix or file.variables)
            file.version = "HDF5 (PDEBench)" if lone else "HDF5, a group for each sample"
        file.variables |= joined
    for name, one in file.variables.items():
        if len(one.shape) == 2 and COORDINATE.fullmatch(name.lower()) and _is_repeated(one):
            file.variables[name] = _of_all_samples(file, name, one)
    return file


def _joined(parts: dict[str, Variable], members: list[Variable | None], names: list[str]) -> Variable:
    """Stack the variables `parts` of the samples `names`; `members` has None where a sample lacks it."""
    shapes = [one and one.shape for one in members]
    if len(set(shapes)) > 1:
        other = next(row for row, shape in enumerate(shapes) if shape != shapes[0])
        words = [f"{' × '.join(map(str, shapes[row] or ('none',)))} in {names[row]}" for row in (0, other)]
        return Variable((), kind=f"ragged ({', '.join(words)})")
    stacked = list(parts.values())

    def read(selection: Selection) -> np.ndarray:
        chosen, *rest = selection or (slice(None),)
        return np.stack([one.read(tuple(rest)) for one in stacked[chosen]])

    return Variable(
        shape=(len(stacked), *stacked[0].shape),
        read=read,
        kind=stacked[0].kind,
        single=all(one.single for one in stacked),
        in_memory=sum(one.in_memory for one in stacked),
        attributes=stacked[0].attributes,
        parts=parts,
    )


def _is_repeated(one: Variable) -> bool:
    """Say whether a variable rises or falls, the same in its first, its middle and its last row."""
    count, points = one.shape
    if not count or points < 2 or one.kind is not None:
        return False
    try:
        rows = [np.asarray(one.read((slice(row, row + 1),)))[0] for row in (0, count // 2, count - 1)]
    except Exception:  # of any kind, of a damaged file: it is reported where the variable is used
        return False
    steps = np.sign(np.diff(rows[0].astype(float)))
    monotone = steps[0] != 0 and (steps == steps[0]).all()
    return bool(monotone and all(np.array_equal(row, rows[0]) for row in rows))


def _of_all_samples(file: ArraysFile, name: str, one: Variable) -> Variable:
    """Return coordinates (samples, points) as (points,)."""

    def read(selection: Selection) -> np.ndarray:
        rows = np.asarray(one.read(()))
        same = (rows == rows[0]).all(axis=1)
        if not same.all():
            raise DatasetError(
                f"{file.path}: coordinates '{name}' are not the same for all samples: interpolate them to "
                f"one grid; sample {int(np.argmin(same)) + 1} has others"
            )
        return rows[0][selection]

    return Variable(
        one.shape[1:],
        read,
        single=one.single,
        in_memory=one.in_memory,
        dims=lambda: (one.dims() or ())[1:] or None,
        attributes=one.attributes,
        parts={name: one},
    )
