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
        numbers = sorted(family, key=int)
        count, first, named = len(numbers), int(numbers[0]), SAMPLE.fullmatch(prefix) is not None
        # Names of the variables of all samples, by the rest of the path, then by sample.
        members: dict[str, dict[str, str]] = {}
        for number in numbers:
            for rest, name in family[number].items():
                members.setdefault(rest, {})[prefix + number] = name
        shapes = [[file.variables[name].shape for name in one.values()] for one in members.values()]
        alike = any(len(of_rest) == count and len(set(of_rest)) == 1 for of_rest in shapes)
        if grouped:
            of_pdebench = not prefix and not before and version == "HDF5"
            counted = list(map(int, numbers)) == list(range(first, first + count))
            count_up = alike and count > 2 and counted and first in (0, 1)
            if not (of_pdebench or (count > 1 if named else count_up)):
                continue
        elif not (named and alike and count > 1):
            continue
        samples = [prefix + number for number in numbers]
        group = before + prefix.strip("_-") + "/"  # for names that other variables have
        joined = {
            (group if before + rest in file.variables else before) + rest: _joined(file, one, samples)
            for rest, one in members.items()
        }
        for name in [name for one in members.values() for name in one.values()]:
            del file.variables[name]
        if grouped and version == "HDF5":
            lone = not (before or prefix or file.variables)
            file.version = "HDF5 (PDEBench)" if lone else "HDF5, a group for each sample"
        file.variables |= joined
    for name, one in file.variables.items():
        if len(one.shape) == 2 and COORDINATE.fullmatch(name.lower()):
            file.variables[name] = _common(file, name, one)
    return file


def _joined(file: ArraysFile, names: dict[str, str], samples: list[str]) -> Variable:
    """Stack the variables `names` of all samples; some samples may lack their variable."""
    parts = {name: file.variables[name] for name in names.values()}
    shapes = [parts[names[sample]].shape if sample in names else None for sample in samples]
    if len(set(shapes)) > 1:
        other = next(row for row, shape in enumerate(shapes) if shape != shapes[0])
        words = [f"{' × '.join(map(str, shapes[row] or ('none',)))} in {samples[row]}" for row in (0, other)]
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


def _common(file: ArraysFile, name: str, one: Variable) -> Variable:
    """Return coordinates (samples, points) as (points,) if monotone and the same in three samples."""
    count, points = one.shape
    if not count or points < 2 or one.kind is not None:
        return one
    try:
        first, *others = (np.asarray(one.read((slice(at, at + 1),)))[0] for at in (0, count // 2, count - 1))
    except Exception:  # damaged files can raise anything; reported when the variable is used
        return one
    steps = np.sign(np.diff(first.astype(float)))
    monotone = steps[0] != 0 and (steps == steps[0]).all()
    if not monotone or not all(np.array_equal(first, other) for other in others):
        return one

    def read(selection: Selection) -> np.ndarray:
        rows = np.asarray(one.read(()))
        same = (rows == rows[0]).all(axis=1)
        if not same.all():
            raise DatasetError(
                f"{file.path}: coordinates '{name}' are not the same for all samples (sample "
                f"{int(np.argmin(same)) + 1} differs): interpolate all samples to one grid"
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
