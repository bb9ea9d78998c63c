"""Join arrays that a file stores sample by sample, or split by split, into arrays with a sample axis."""

from __future__ import annotations

import re

import numpy as np

from resolvent.datasets.imported.readers.arrays_file import ArraysFile, Selection, Variable

# A path with a component that ends in a number: `data/demo_12/u`, `0012/u`, `sample_12`.
NUMBERED = re.compile(r"(?P<before>(?:[^/]+/)*?)(?P<prefix>[^/]*?)(?P<number>\d+)(?:/(?P<rest>.+))?")
# Prefixes that certainly mean a sample.
SAMPLE = re.compile(
    r"(samples?|traj(ector(y|ies))?|runs?|cases?|sim(ulation)?s?|members?|ens(emble)?|reali[sz]ations?|seeds?"
    r"|demos?|episodes?)[_-]?",
    re.IGNORECASE,
)
# Names of the three splits, alone as a group, or before or behind the name of a variable: `x_train`.
SPLIT = {"train": "train", "training": "train", "val": "validation", "valid": "validation",
         "validation": "validation", "test": "test"}  # fmt: skip
_WORD = "|".join(sorted(SPLIT, key=len, reverse=True))
OF_SPLIT = re.compile(rf"(?i)(?:(?P<before>{_WORD})[_/-](?P<rest>.+)|(?P<name>.+)[_/-](?P<behind>{_WORD}))")
SPLIT_VARIABLE = "split"


def joined(file: ArraysFile) -> ArraysFile:
    """Return `file` with arrays of single samples, and of single splits, joined along a first sample axis."""
    families: dict[tuple[str, str, bool], dict[str, dict[str, str]]] = {}
    for name in file.variables:
        if (part := NUMBERED.fullmatch(name)) is not None:
            family = families.setdefault((part["before"], part["prefix"], part["rest"] is not None), {})
            family.setdefault(part["number"], {})[part["rest"] or part["prefix"].strip("_-")] = name
    for (before, prefix, grouped), family in families.items():
        _join_samples(file, before, prefix, grouped, family)
    _join_splits(file)
    return file


def _join_samples(
    file: ArraysFile, before: str, prefix: str, grouped: bool, family: dict[str, dict[str, str]]
) -> None:
    """Join a family of numbered variables if they are samples: names by number and rest of the path."""
    numbers = sorted(family, key=int)
    count, first, named = len(numbers), int(numbers[0]), SAMPLE.fullmatch(prefix) is not None
    members: dict[str, dict[str, str]] = {}  # names, by the rest of the path, then by sample
    for number in numbers:
        for rest, name in family[number].items():
            members.setdefault(rest, {})[prefix + number] = name
    shapes = [[file.variables[name].shape for name in names.values()] for names in members.values()]
    alike = any(len(of_rest) == count and len(set(of_rest)) == 1 for of_rest in shapes)
    of_pdebench = grouped and not prefix and not before and file.version == "HDF5"
    in_sequence = list(map(int, numbers)) == list(range(first, first + count)) and first in (0, 1)
    if grouped:
        if not (of_pdebench or (count > 1 if named else alike and count > 2 and in_sequence)):
            return
    elif not (named and alike and count > 1):
        return
    samples = [prefix + number for number in numbers]
    group = before + prefix.strip("_-") + "/"  # for names that other variables have
    stacked = {
        (group if before + rest in file.variables else before) + rest: _stacked(file, names, samples)
        for rest, names in members.items()
    }
    for name in [name for names in members.values() for name in names.values()]:
        del file.variables[name]
    if grouped and file.version == "HDF5":
        lone = not (before or prefix or file.variables)
        file.version = "HDF5 (PDEBench)" if lone else "HDF5, a group for each sample"
    file.variables |= stacked


def _stacked(file: ArraysFile, names: dict[str, str], samples: list[str]) -> Variable:
    """Stack the variables `names` of all samples; some samples may lack their variable."""
    parts = {name: file.variables[name] for name in names.values()}
    shapes = [parts[names[sample]].shape if sample in names else None for sample in samples]
    if len(set(shapes)) > 1:
        other = next(row for row, shape in enumerate(shapes) if shape != shapes[0])
        words = [f"{' × '.join(map(str, shapes[row] or ('none',)))} in {samples[row]}" for row in (0, other)]
        return Variable((), kind=f"ragged ({', '.join(words)})")
    arrays = list(parts.values())

    def read(selection: Selection) -> np.ndarray:
        chosen, *rest = selection or (slice(None),)
        return np.stack([array.read(tuple(rest)) for array in arrays[chosen]])

    return _composed(parts, (len(arrays), *arrays[0].shape), read)


def _join_splits(file: ArraysFile) -> None:
    """Join `x_train`, `x_test` (or `train/x`, …) to `x`, and add the variable `split`."""
    stems: dict[str, dict[str, str]] = {}  # names, by the name without its split, then by split
    for name in file.variables:
        if (part := OF_SPLIT.fullmatch(name)) is not None:
            split = SPLIT[(part["before"] or part["behind"]).lower()]
            stems.setdefault(part["rest"] or part["name"], {})[split] = name
    splits = [
        split for split in ("train", "validation", "test") if all(split in one for one in stems.values())
    ]
    whole = {"train", "test"} <= set(splits) and not {*stems, SPLIT_VARIABLE} & {*file.variables}
    parts = {stem: {names[split]: file.variables[names[split]] for split in splits}
             for stem, names in stems.items()}  # fmt: skip
    shapes = [[part.shape for part in of_stem.values()] for of_stem in parts.values()]
    if (
        not whole
        or not shapes
        or any(not all(of_stem) or len({one[1:] for one in of_stem}) > 1 for of_stem in shapes)
    ):
        return
    sizes = [one[0] for one in max(shapes, key=lambda of_stem: len(of_stem[0]))]
    labels = np.repeat(splits, sizes)
    for stem, of_stem in parts.items():
        arrays = list(of_stem.values())
        for name in of_stem:
            del file.variables[name]
        if [array.shape[0] for array in arrays] == sizes:
            starts = np.cumsum([0, *sizes])

            def read(selection: Selection, arrays: list = arrays, starts: np.ndarray = starts) -> np.ndarray:
                rows, *rest = selection or (slice(None),)
                start, stop, _ = rows.indices(int(starts[-1]))
                pieces = [
                    array.read((slice(max(start - first, 0), stop - first), *rest))
                    for array, first, last in zip(arrays, starts, starts[1:], strict=False)
                    if start < last and stop > first
                ]
                return np.concatenate(pieces) if pieces else arrays[0].read((slice(0, 0), *rest))

            file.variables[stem] = _composed(of_stem, (int(starts[-1]), *arrays[0].shape[1:]), read)
        else:  # the same for all samples, such as coordinates
            file.variables[stem] = arrays[0]
    file.variables[SPLIT_VARIABLE] = Variable(labels.shape, labels.__getitem__, kind="text")


def _composed(parts: dict[str, Variable], shape: tuple[int, ...], read) -> Variable:
    first = next(iter(parts.values()))
    return Variable(
        shape,
        read,
        kind=next((part.kind for part in parts.values() if part.kind), None),
        single=all(part.single for part in parts.values()),
        in_memory=sum(part.in_memory for part in parts.values()),
        dims=lambda: ("sample", *(first.dims() or ("",) * len(shape))[1 - len(shape) or len(shape) :]),
        attributes=first.attributes,
        parts=parts,
    )
