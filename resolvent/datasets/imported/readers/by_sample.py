"""Join variables and coordinates that a file stores separately for each sample into single arrays."""

from __future__ import annotations

import re

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import ArraysFile, Selection, Variable

# A path with a component that ends in a number: `data/demo_12/u`, `0012/u`, `sample_12`.
NUMBERED = re.compile(r"(?P<before>(?:[^/]+/)*?)(?P<prefix>[^/]*?)(?P<number>\d+)(?:/(?P<rest>.+))?")
# Prefixes that certainly mean a sample.
SAMPLE = re.compile(
    r"(samples?|traj(ector(y|ies))?|runs?|cases?|sim(ulation)?s?|members?|ens(emble)?|reali[sz]ations?|seeds?"
    r"|demos?|episodes?)[_-]?",
    re.IGNORECASE,
)
# Names of coordinates and times, which may be repeated for each sample.
COORDINATE = re.compile(
    r"(.+/)?((grid|coordinates|dimensions)/[xyzt]|grid_[xyzt]|[xyzt]_grid|[xyzt](-coordinate)?|times?)"
)


def by_sample(file: ArraysFile) -> ArraysFile:
    """Return `file` with variables that are stored sample by sample joined along a first sample axis.

    Coordinates that are equal in the first, middle and last sample become common to all samples; reading them
    checks all samples.
    """
    # Names of numbered variables, by (folder, prefix, whether in groups), number, and rest of the path.
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
        # The variables of all samples, by the rest of the path; None if a sample lacks it.
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
    """Stack the variables `parts` of the samples `names`; `members` has None for missing samples."""
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
    """Return whether a variable is monotone and equal in its first, middle and last row."""
    count, points = one.shape
    if not count or points < 2 or one.kind is not None:
        return False
    try:
        rows = [np.asarray(one.read((slice(row, row + 1),)))[0] for row in (0, count // 2, count - 1)]
    except Exception:  # damaged files can raise anything; reported when the variable is used
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
