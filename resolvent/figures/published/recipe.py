"""What a reported number was measured with: an expectation for every field that a run has recorded.

A field is named by its block and its key, `data.viscosity`, `model.width`, `training.loss`; a few of a run's
own are `resolution`, `grids` and `coarse_points`. What is said of `data.samples` holds for
`data.samples.train` too, unless that is said apart. A field without an expectation makes a run incomparable,
and a test fails.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from resolvent.common.records import RunRecord

Condition = tuple[dict, dict]  # a run that has recorded the first must have recorded the second


@dataclass(frozen=True)
class Free:
    """A field that a reported number does not depend on, or that its paper leaves open; `reason` says why."""

    reason: str


@dataclass(frozen=True)
class Key:
    """A field that says which row of the table a run is of: another value is another row, or none."""


@dataclass(frozen=True)
class AtMost:
    """A tolerance: any value up to `largest` makes the same data, as far as a model can see."""

    largest: float


@dataclass(frozen=True)
class AtLeast:
    """A number of samples: more of them only know the same error better."""

    least: float


KEY = Key()
UNUSED = Free("what it belongs to is not in use")
CARD = Free("how samples are computed and stored; the card's error budget holds them to `accuracy`")
# What runs had before there was a setting for it, which they could not record.
ONCE_ABSENT = {"training.noise": 0.0, "training.fresh_samples": False}
# What every paper's runs have, unless a paper says otherwise.
EVERY_RUN: Condition = (
    {},
    {
        "architecture": KEY,
        "resolution": KEY,
        "grids": "stored",
        "coarse_points": None,
        "data.equation": KEY,
        "data.samples": Free("those used are counted in the training"),
        "data.samples_per_shard": CARD,
        "data.seed": Free("another draw of the same distribution"),
        "data.resolutions": CARD,
        "training.weight_decay": 0.0,
        "training.gradient_weight": 0.0,
        "training.gradient_coefficient": UNUSED,
        "training.target_gradient": UNUSED,
        "training.batch_reduction": "mean",
        "training.boundary": "free",
        "training.precision": "float32",
        "training.fresh_samples": False,
        "training.loader_seed": Free("another order of the training samples"),
        "training.noise": 0.0,
        # Torch's defaults, which the public codes leave as they are.
        "computation.optimiser": "Adam",
        "computation.betas": [0.9, 0.999],
        "computation.epsilon": 1e-8,
        "computation.amsgrad": False,
        "computation.weights": "float32",
        "computation.products": "float32",
    },
)


def fields_of(facts: RunRecord) -> dict[str, object]:
    """Return all that a run.json has recorded of its setting, by block and key.

    "data.imported" is there, and true, where the samples were read from files.
    """
    recorded: dict[str, object] = {"architecture": facts.architecture, "resolution": facts.resolution}
    recorded |= {"grids": facts.grids, "coarse_points": facts.coarse_points}
    blocks = {
        "data": facts.dataset_settings,
        "model": facts.settings,
        "training": facts.training,
        "computation": facts.computation,
    }
    for block, settings in blocks.items():
        recorded |= _leaves(settings, f"{block}.")
    imported = {"data.imported": True} if "source" in facts.dataset_settings else {}
    return ONCE_ABSENT | recorded | imported


def expected_of(recorded: dict, conditions: tuple[Condition, ...]) -> dict[str, object]:
    """Return what is expected of a run that has `recorded` these fields; later conditions go before."""
    expected: dict[str, object] = {}
    for condition, values in conditions:
        if meets(recorded, condition):
            expected |= values
    return expected


def meets(recorded: dict, condition: dict) -> bool:
    """Say whether a run has recorded these values, or one of several."""
    return all(agrees(recorded.get(name), value) for name, value in condition.items())


def expectation(name: str, expected: dict) -> object:
    """Return what is expected of a field, or of the group of fields that it is in.

    Raises
    ------
    KeyError
        When nobody has said anything of it.
    """
    part = name
    while part not in expected:
        part, dot, _ = part.rpartition(".")
        if not dot:
            raise KeyError(name)
    return expected[part]


def unaccounted(recorded: dict, expected: dict) -> list[str]:
    """List the fields of which nothing is expected."""
    missing = []
    for name in recorded:
        try:
            expectation(name, expected)
        except KeyError:
            missing.append(name)
    return missing


def differing(recorded: dict, expected: dict, made_by: str) -> Iterator[str]:
    """Say of each field in which a run differs what it has and what `made_by` ("paper", "code") has."""
    for name in unaccounted(recorded, expected):
        yield f"{_words(name)} {_shown(recorded[name])} (not compared with the {made_by}'s)"
    for name in dict.fromkeys([*expected, *recorded]):
        if name not in recorded:
            value = expected[name]
            if isinstance(value, Free | Key) or any(one.startswith(f"{name}.") for one in recorded):
                continue
            yield f"{_words(name)} not recorded ({made_by} {_accepted(value)})"
            continue
        try:
            value = expectation(name, expected)
        except KeyError:
            continue
        if not agrees(recorded[name], value):
            yield f"{_words(name)} {_shown(recorded[name])} ({made_by} {_accepted(value)})"


def agrees(ours: object, expected: object) -> bool:
    """Say whether a value is what is expected."""
    if isinstance(expected, Free | Key):
        return True
    if isinstance(expected, AtMost):
        return isinstance(ours, int | float) and ours <= expected.largest
    if isinstance(expected, AtLeast):
        return isinstance(ours, int | float) and ours >= expected.least
    return any(_same(ours, one) for one in (expected if isinstance(expected, tuple) else (expected,)))


def _same(ours: object, paper: object) -> bool:
    if isinstance(ours, bool) or isinstance(paper, bool):
        return ours is paper
    if isinstance(ours, int | float) and isinstance(paper, int | float):
        return math.isclose(ours, paper, rel_tol=1e-4)
    return ours == paper


def _words(name: str) -> str:
    return name.rpartition(".")[2].replace("_", " ")


def _accepted(value: object) -> str:
    if isinstance(value, AtMost):
        return f"at most {value.largest:g}"
    if isinstance(value, AtLeast):
        return f"at least {value.least:g}"
    return " or ".join(_shown(one) for one in (value if isinstance(value, tuple) else (value,)))


def _shown(value: object) -> str:
    if value is None or value == {}:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:.6g}" if isinstance(value, int | float) else str(value)


def _leaves(settings: dict, prefix: str) -> dict[str, object]:
    """Flatten nested settings: `{"samples": {"train": 5}}` is `{prefix}samples.train: 5`."""
    flat: dict[str, object] = {}
    for name, value in settings.items():
        nested = isinstance(value, dict) and value
        flat |= _leaves(value, f"{prefix}{name}.") if nested else {f"{prefix}{name}": value}
    return flat
