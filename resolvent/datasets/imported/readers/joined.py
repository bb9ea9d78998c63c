"""Join arrays that a file stores sample by sample, or split by split, into arrays with a sample axis."""

from __future__ import annotations

import re

import numpy as np

from resolvent.datasets.imported.readers.arrays_file import ArraysFile, Selection, Variable
from resolvent.datasets.storage.layout import SPLITS

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
    stacked: dict[str, Variable] = {}
    for rest, names in members.items():
        sizes: dict[str, tuple] = {sample: file.variables[name].shape for sample, name in names.items()}
        sizes = {sample: sizes.get(sample, ("none",)) for sample in samples}
        if len({*sizes.values()}) > 1:
            other = next(one for one in samples if sizes[one] != sizes[samples[0]])
            unlike = [
                f"{' × '.join(map(str, sizes[one] or ('one value',)))} in {one}"
                for one in (samples[0], other)
            ]
            joint = Variable((), kind=f"ragged ({', '.join(unlike)})")
        else:
            joint = _in_a_row({name: file.variables[name] for name in names.values()}, stack=True)
        stacked[(group if before + rest in file.variables else before) + rest] = joint
    for name in [name for names in members.values() for name in names.values()]:
        del file.variables[name]
    if grouped and file.version == "HDF5":
        lone = not (before or prefix or file.variables)
        file.version = "HDF5 (PDEBench)" if lone else "HDF5, a group for each sample"
    file.variables |= stacked


def _join_splits(file: ArraysFile) -> None:
    """Join `x_train`, `x_test` (or `train/x`, …) to `x`, and add the variable `split`."""
    stems: dict[str, dict[str, str]] = {}  # names, by the name without its split, then by split
    for name in file.variables:
        if (part := OF_SPLIT.fullmatch(name)) is not None:
            split = SPLIT[(part["before"] or part["behind"]).lower()]
            stems.setdefault(part["rest"] or part["name"], {})[split] = name
    splits = [split for split in SPLITS if all(split in names for names in stems.values())]
    if not stems or not {"train", "test"} <= {*splits} or {*stems, SPLIT_VARIABLE} & {*file.variables}:
        return
    parts = {
        stem: {names[split]: file.variables[names[split]] for split in splits}
        for stem, names in stems.items()
    }
    shapes = [[part.shape for part in of_stem.values()] for of_stem in parts.values()]
    if any(not all(of_stem) or len({shape[1:] for shape in of_stem}) > 1 for of_stem in shapes):
        return
    sizes = [one[0] for one in max(shapes, key=lambda of_stem: len(of_stem[0]))]
    for stem, of_stem in parts.items():
        for name in of_stem:
            del file.variables[name]
        if [array.shape[0] for array in of_stem.values()] == sizes:
            file.variables[stem] = _in_a_row(of_stem)
        else:  # the same for all samples, such as coordinates
            file.variables[stem] = of_stem[next(iter(of_stem))]
    labels = np.repeat(splits, sizes)
    file.variables[SPLIT_VARIABLE] = Variable(labels.shape, labels.__getitem__, kind="text")


def _in_a_row(parts: dict[str, Variable], stack: bool = False) -> Variable:
    """Return the joint variable of arrays, by name, along the sample axis; with `stack`, each is a sample."""
    arrays = list(parts.values())
    first = arrays[0]
    sizes = [1 if stack else array.shape[0] for array in arrays]
    shape = (sum(sizes), *first.shape[0 if stack else 1 :])

    def read(selection: Selection) -> np.ndarray:
        rows, *rest = selection or (slice(None),)
        start, stop, _ = rows.indices(shape[0])
        pieces, begin = [], 0
        for array, size in zip(arrays, sizes, strict=True):
            part = slice(max(start - begin, 0), min(stop - begin, size))
            if part.start < part.stop:
                pieces.append(
                    np.asarray(array.read(tuple(rest)))[None] if stack else array.read((part, *rest))
                )
            begin += size
        return np.concatenate(pieces)

    return Variable(
        shape,
        read,
        kind=next((part.kind for part in arrays if part.kind), None),
        single=all(part.single for part in arrays),
        in_memory=sum(part.in_memory for part in arrays),
        dims=lambda: ("sample", *(first.dims() or ("",) * len(shape))[1 - len(shape) or len(shape) :]),
        attributes=first.attributes,
        parts=parts,
    )
