"""Settings of reported numbers: the expected value of every recorded field of a run.

A field is named by block and key, such as `data.viscosity`, `model.width` or `training.loss`; some fields
belong to the run: `resolution`, `grids` and `coarse_points`. An expectation for `data.samples` also holds for
`data.samples.train`, unless that has its own. A field without an expectation makes a run incomparable, and a
test fails.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from resolvent.common.records import RunRecord


@dataclass(frozen=True)
class PublicCode:
    """Files of a public repository at a commit, all listed in tests/figures/public_code.csv.

    repository  account and name on GitHub.
    commit      first seven digits of the commit.
    files       paths in the repository.
    """

    repository: str
    commit: str
    files: tuple[str, ...]

    def __str__(self) -> str:
        return f"{', '.join(self.files)} of {self.repository} at {self.commit}"


# Public code, or a place in the paper ("section C.1", "Table 7"), or "not found: " and what is missing.
Origin = PublicCode | str


@dataclass(frozen=True)
class Condition:
    """If a run has the values `marks`, it must also have `values`, which stand in `source`."""

    marks: dict
    values: dict
    source: tuple[Origin, ...]


@dataclass(frozen=True)
class Free:
    """A field without influence on a reported number, or unspecified in the paper; `reason` says why."""

    reason: str


@dataclass(frozen=True)
class Key:
    """A field that selects the row of the table: another value belongs to another row, or none."""


@dataclass(frozen=True)
class AtMost:
    """A tolerance: for a model, data with any value up to `largest` are the same."""

    largest: float


@dataclass(frozen=True)
class AtLeast:
    """A number of samples: more samples only estimate the same error more precisely."""

    least: float


def when(
    marks: dict, /, *, source: Origin | tuple[Origin, ...], run: dict | None = None, **blocks: dict
) -> Condition:
    """Return the condition that a run with the values `marks` must have the values `run` and `blocks`.

    `source` says where these values stand. If several sources disagree, the values list what each has.
    """
    values = dict(run or {})
    for block, settings in blocks.items():
        values |= {f"{block}.{name}": value for name, value in settings.items()}
    return Condition(marks, values, source if isinstance(source, tuple) else (source,))


KEY = Key()
UNUSED = Free("it belongs to an option that is not used")
CARD = Free("a setting of the solver or the store; the error budget checks its effect against `accuracy`")
# Values for runs of versions without the setting, which did not record it.
ONCE_ABSENT = {
    "training.noise": 0.0, "training.fresh_samples": False, "training.optimiser": "adam",
    "training.augment": "none",
}  # fmt: skip
# Settings of all papers' runs, unless a paper differs: torch's defaults, unchanged in the public codes.
EVERY_RUN = when(
    {},
    source=(
        PublicCode("scaomath/galerkin-transformer", "f9e7d6a", ("examples/ex1_burgers.py",)),
        PublicCode("EdoardoCalvello/TransformerNeuralOperators", "a546ae0", ("models/TNO/TNO_lightning.py",)),
    ),
    run={"architecture": KEY, "resolution": KEY, "grids": "stored", "coarse_points": None},
    data={
        "equation": KEY,
        "samples": Free("the numbers used are compared as settings of the training"),
        "samples_per_shard": CARD,
        "seed": Free("another draw of the same distribution"),
        "resolutions": CARD,
    },
    training={
        "weight_decay": 0.0, "gradient_weight": 0.0, "gradient_coefficient": UNUSED,
        "target_gradient": UNUSED, "batch_reduction": "mean", "boundary": "free", "precision": "float32",
        "optimiser": "adam", "fresh_samples": False, "noise": 0.0, "augment": "none",
        "loader_seed": Free("another order of the training samples"),
    },
    computation={
        "optimiser": "Adam", "betas": [0.9, 0.999], "epsilon": 1e-8, "amsgrad": False, "weights": "float32",
        "products": "float32",
    },
)  # fmt: skip


def fields_of(facts: RunRecord) -> dict[str, object]:
    """Return all recorded settings of a run.json by block and key.

    "data.imported" is present, and true, if the samples were read from files.
    """
    own = {name: getattr(facts, name) for name in ("architecture", "resolution", "grids", "coarse_points")}
    blocks = {
        "data": facts.dataset_settings,
        "model": facts.settings,
        "training": facts.training,
        "computation": facts.computation,
    }
    imported = {"data.imported": True} if "source" in facts.dataset_settings else {}
    return ONCE_ABSENT | own | _leaves(blocks) | imported


def _leaves(settings: dict, prefix: str = "") -> dict[str, object]:
    """Flatten nested settings: `{"samples": {"train": 5}}` is `{"samples.train": 5}`; {} stays a value."""
    flat: dict[str, object] = {}
    for name, value in settings.items():
        nested = isinstance(value, dict) and (value or not prefix)
        flat |= _leaves(value, f"{prefix}{name}.") if nested else {f"{prefix}{name}": value}
    return flat


def expected_of(recorded: dict, conditions: Iterable[Condition]) -> dict[str, object]:
    """Return the expected values for a run with the `recorded` fields; later conditions override."""
    expected: dict[str, object] = {}
    for condition in conditions:
        if meets(recorded, condition.marks):
            expected |= condition.values
    return expected


def sources_of(recorded: dict, conditions: Iterable[Condition]) -> dict[str, str]:
    """Return where the values of `expected_of` stand, in words."""
    sources: dict[str, str] = {}
    for condition in conditions:
        if meets(recorded, condition.marks):
            sources |= dict.fromkeys(condition.values, " and ".join(map(str, condition.source)))
    return sources


def meets(recorded: dict, marks: dict) -> bool:
    """Return whether a run has recorded these values, or one of several alternatives."""
    return all(agrees(recorded.get(name), value) for name, value in marks.items())


def accounted(name: str, expected: dict) -> str | None:
    """Return the field, or its group of fields, that has an expected value, or None."""
    while name not in expected and "." in name:
        name = name.rpartition(".")[0]
    return name if name in expected else None


def differing(recorded: dict, expected: dict, made_by: str, sources: dict[str, str]) -> Iterator[str]:
    """Yield a text per differing field: the run's value, and that of `made_by` with its source.

    `made_by` is "paper" or "code"; `sources` are those of `sources_of`.
    """
    for name, value in recorded.items():
        if accounted(name, expected) is None:
            yield f"{_words(name)} {_shown(value)} (not compared with the {made_by}'s)"
    for name in dict.fromkeys([*expected, *recorded]):
        if (group := accounted(name, expected)) is None:
            continue
        value = expected[group]
        theirs = f"({made_by} {_accepted(value)}) [{sources[group]}]"
        if name in recorded:
            if not agrees(recorded[name], value):
                yield f"{_words(name)} {_shown(recorded[name])} {theirs}"
        elif not isinstance(value, Free | Key) and not any(one.startswith(f"{name}.") for one in recorded):
            yield f"{_words(name)} not recorded {theirs}"


def agrees(ours: object, expected: object) -> bool:
    """Return whether a value equals the expected value or one of several; numbers to a relative 1e-4."""
    match expected:
        case Free() | Key():
            return True
        case AtMost(largest):
            return isinstance(ours, int | float) and ours <= largest
        case AtLeast(least):
            return isinstance(ours, int | float) and ours >= least
        case tuple():
            return any(agrees(ours, one) for one in expected)
    if isinstance(ours, bool) or isinstance(expected, bool):
        return ours is expected
    if isinstance(ours, int | float) and isinstance(expected, int | float):
        return math.isclose(ours, expected, rel_tol=1e-4)
    return ours == expected


def _words(name: str) -> str:
    return name.rpartition(".")[2].replace("_", " ")


def _accepted(value: object) -> str:
    match value:
        case AtMost(largest):
            return f"at most {largest:g}"
        case AtLeast(least):
            return f"at least {least:g}"
        case tuple():
            return " or ".join(map(_shown, value))
    return _shown(value)


def _shown(value: object) -> str:
    if value is None or value == {}:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:.6g}" if isinstance(value, int | float) else str(value)
