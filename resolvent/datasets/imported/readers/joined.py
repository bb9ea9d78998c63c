"""Join arrays that a file stores sample by sample, or split by split, into arrays with a sample axis.

Only names decide: `sample_12/u`, `traj_12`, groups that are numbered from 0 or 1; `x_train` with `x_test`.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from resolvent.datasets.imported.readers.arrays_file import ArraysFile, Selection, Variable
from resolvent.datasets.storage.layout import SPLITS

# A path with a component that ends in a number: `data/demo_12/u`, `0012/u`, `sample_12`.
NUMBERED = re.compile(r"(?P<before>(?:[^/]+/)*?)(?P<prefix>[^/]*?)(?P<number>\d+)(?:/(?P<rest>.+))?")
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
    # Names by number, then by the rest of the path; in groups, the rest is not empty.
    families: dict[tuple[str, str, bool], dict[str, dict[str, str]]] = {}
    for name in file.variables:
        if (part := NUMBERED.fullmatch(name)) is not None:
            family = families.setdefault((part["before"], part["prefix"], part["rest"] is not None), {})
            family.setdefault(part["number"], {})[part["rest"] or ""] = name
    for (before, prefix, grouped), family in families.items():
        numbers = sorted(map(int, family))
        counted = numbers in ([*range(len(numbers))], [*range(1, len(numbers) + 1)])
        if len(numbers) > 1 and (SAMPLE.fullmatch(prefix) or (grouped and not prefix and counted)):
            begin, end = f"{before}{prefix}{numbers[0]}", f"{before}{prefix}{numbers[-1]}"
            for missing in sorted({*range(numbers[0], numbers[-1])} - {*numbers})[:1]:
                file.notes[f"'{before}{prefix}{missing}' is missing between {begin} and {end}"] = None
            _join_samples(file, before, prefix, dict(sorted(family.items(), key=lambda item: int(item[0]))))
            if grouped and file.version == "HDF5":
                file.version = "HDF5, a group for each sample"
    _join_splits(file)
    return file


def _join_samples(file: ArraysFile, before: str, prefix: str, family: dict[str, dict[str, str]]) -> None:
    """Join variables of samples, in order: names by number, then by the rest of the path."""
    group, stacked = prefix.strip("_-"), dict[str, Variable]()
    for rest in dict.fromkeys(rest for names in family.values() for rest in names):
        parts = {names[rest]: _row(file.variables[names[rest]]) for names in family.values() if rest in names}
        sizes = [" × ".join(map(str, part.shape[1:])) or "one value" for part in parts.values()]
        sizes = list(dict.fromkeys(sizes + ["none"] * (len(parts) < len(family))))
        name = before + (rest or group)
        name = f"{before}{group}/{rest}" if rest and name in file.variables else name
        ragged = Variable((), kind=f"ragged ({' or '.join(sizes[:3])} in a sample)")
        stacked[name] = _in_a_row(parts) if len(sizes) == 1 else ragged
    for names in family.values():
        for name in names.values():
            del file.variables[name]
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
    joint: dict[str, Variable] = {}
    for stem, names in stems.items():
        parts = {names[split]: file.variables[names[split]] for split in splits}
        shapes = [part.shape for part in parts.values()]
        if () in shapes or len({shape[1:] for shape in shapes}) > 1:
            return
        joint[stem] = _in_a_row(parts)
    longest = max(joint.values(), key=lambda one: len(one.shape))
    sizes = [part.shape[0] for part in longest.parts.values()]
    for stem, one in joint.items():
        if [part.shape[0] for part in one.parts.values()] != sizes:
            joint[stem] = next(iter(one.parts.values()))  # the same for all samples, such as coordinates
    for names in stems.values():
        for split in splits:
            del file.variables[names[split]]
    labels = np.repeat(splits, sizes)
    file.variables |= joint | {SPLIT_VARIABLE: Variable(labels.shape, labels.__getitem__, kind="text")}


def _row(variable: Variable) -> Variable:
    """Return a variable as the only row of an array with a sample axis."""
    return replace(
        variable,
        shape=(1, *variable.shape),
        read=lambda selection: np.asarray(variable.read(selection[1:]))[None],
        dims=lambda: ("sample", *(variable.dims() or ("",) * len(variable.shape))),
    )


def _in_a_row(parts: dict[str, Variable]) -> Variable:
    """Return the joint variable of arrays, by name, along their sample axes."""
    arrays = list(parts.values())
    starts = np.cumsum([0, *(array.shape[0] for array in arrays)]).tolist()

    def read(selection: Selection) -> np.ndarray:
        rows, *rest = selection or (slice(None),)
        first, last, _ = rows.indices(starts[-1])
        pieces = []
        for array, start in zip(arrays, starts, strict=False):
            if start < last and first < start + array.shape[0]:
                part = slice(max(first - start, 0), min(last - start, array.shape[0]))
                pieces.append(array.read((part, *rest)))
        return np.concatenate(pieces)

    return Variable(
        (starts[-1], *arrays[0].shape[1:]),
        read,
        kind=next((array.kind for array in arrays if array.kind), None),
        single=all(array.single for array in arrays),
        in_memory=sum(array.in_memory for array in arrays),
        dims=lambda: ("sample", *(arrays[0].dims() or ("",) * len(arrays[0].shape))[1:]),
        attributes=arrays[0].attributes,
        parts=parts,
    )
