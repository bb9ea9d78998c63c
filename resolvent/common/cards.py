"""Schemas of dataset cards and receipts, which are read as plain mappings; docs/formats.md defines the keys.

Equations may add keys to a card.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag, with_config
from typing_extensions import TypedDict

STRICT = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)
KINDS = ("periodic", "nodes", "cell_centres", "explicit")  # of a grid that is equal along all its axes
Count = Annotated[int, Field(ge=0)]
Names = Annotated[list[str], Field(min_length=1)]


@with_config(STRICT)
class AxisFacts(TypedDict):
    """A grid that is equal along all its axes, or an axis; uneven points have `positions`."""

    kind: str
    points: NotRequired[Annotated[int, Field(ge=2)]]
    length: NotRequired[Annotated[float, Field(gt=0)]]
    dimension: NotRequired[Annotated[int, Field(ge=1, le=3)]]
    stride: NotRequired[Annotated[int, Field(ge=1)]]
    convention: NotRequired[str]
    positions: NotRequired[Annotated[list[float], Field(min_length=2)]]
    period: NotRequired[Annotated[float, Field(gt=0)]]
    axes: NotRequired[Annotated[list[AxisFacts], Field(min_length=1, max_length=3)]]
    origin: NotRequired[dict[str, float]]


def _complete(grid: AxisFacts) -> AxisFacts:
    """Return the facts of a grid if they are those of its kind. Raises `ValueError` otherwise."""
    if "axes" in grid:
        for axis in grid["axes"]:
            _complete(axis)
        return grid
    points, kind = grid.get("points", 0), grid["kind"]
    if kind not in KINDS:
        raise ValueError(f"'kind' is '{kind}'; accepted: {', '.join(KINDS)}")
    needed = ("positions",) if kind == "explicit" else ("points", "length", "dimension")
    for name in needed:
        if name not in grid:
            raise ValueError(f"a grid of kind '{kind}' has no '{name}'")
    if (kind == "periodic" and points % 2) or (kind in ("nodes", "cell_centres") and points < 3):
        raise ValueError(f"a grid of kind '{kind}' cannot have {points} points")
    if grid.get("stride", 1) > 1 and kind != "cell_centres":
        raise ValueError(f"a grid of kind '{kind}' has no 'stride'")
    positions = grid.get("positions", [])
    if any(left >= right for left, right in pairwise(positions)):
        raise ValueError("'positions' must increase")
    return grid


if TYPE_CHECKING:
    GridFacts = dict[str, Any]  # `grid_from_facts` reads the mapping
else:
    GridFacts = Annotated[AxisFacts, AfterValidator(_complete)]


@with_config(STRICT)
class VariableFacts(TypedDict):
    long_name: str
    units: str
    dimensions: Names
    time: NotRequired[float]
    time_units: NotRequired[str]
    calendar: NotRequired[str]


@with_config(STRICT)
class GroupFacts(TypedDict):
    grid: GridFacts
    variables: dict[str, VariableFacts]


@with_config(STRICT)
class EquationFacts(TypedDict):
    """An equation, or a distribution, in words and symbols; other keys are shown as they are."""

    in_words: Annotated[str, Field(min_length=1)]
    in_symbols: str
    operator: str
    source: str
    in_latex: NotRequired[str | None]
    operator_in_latex: NotRequired[str | None]
    parameters: NotRequired[dict[str, Any]]


@with_config(STRICT)
class ImportedFacts(TypedDict):
    """Facts of samples that were read from files."""

    summary: str
    warnings: list[str]
    files: list[dict[str, Any]]
    source: NotRequired[str]
    licence: NotRequired[str]
    citation: NotRequired[str]


@with_config(STRICT)
class SolverFacts(TypedDict):
    """The solver; other keys are shown as they are."""

    method: str


@with_config(STRICT)
class SettingsFacts(TypedDict):
    """Settings of a dataset, which the class of its equation validates."""

    equation: str


@with_config(STRICT)
class Summary(TypedDict):
    """Statistics of an array."""

    mean: float
    std: float
    min: float
    max: float


@with_config(STRICT)
class Check(TypedDict):
    """An entry of the error budget with measured errors; an own equation may state the largest alone."""

    samples: NotRequired[Count]
    of: NotRequired[Count]
    median_relative_l2: NotRequired[float]
    largest_relative_l2: float


def _kind_of(entry: Any) -> str:
    measured = isinstance(entry, dict) and ("largest_relative_l2" in entry or "median_relative_l2" in entry)
    return "check" if measured else "other"


BudgetEntry = Annotated[
    Annotated[Check, Tag("check")] | Annotated[Any, Tag("other")], Discriminator(_kind_of)
]


@with_config(STRICT)
class Card(TypedDict):
    """The card of a dataset."""

    dataset: str
    settings_hash: str
    content_hash: str
    equation: EquationFacts
    inputs: Names
    targets: Names
    groups: dict[str, GroupFacts]
    samples: dict[str, Count]
    seed: int
    precision: str
    stated_accuracy: float
    error_budget: dict[str, BudgetEntry]
    statistics: dict[str, Summary]
    settings: SettingsFacts
    identity: dict[str, Any]
    library_versions: dict[str, Any]
    solver: NotRequired[SolverFacts]
    imported: NotRequired[ImportedFacts]


DISTRIBUTION = "distribution_of_the_"  # prefix of keys


def _consistent(card: Card) -> Card:
    """Return a card whose parts fit each other. Raises `ValueError` otherwise."""
    stored = {f"{group}/{name}" for group, facts in card["groups"].items() for name in facts["variables"]}
    names = {name.partition("/")[2] for name in stored}
    for key in ("inputs", "targets"):
        if missing := sorted(set(card[key]) - names):
            raise ValueError(f"'{key}' names '{missing[0]}', which none of 'groups' has")
    for key, entry in card.items():
        if key.startswith(DISTRIBUTION) and not _in_symbols(entry):
            raise ValueError(f"'{key}' must have 'in_symbols', and may have 'in_latex', which are text")
    if missing := sorted(stored - card["statistics"].keys()):
        raise ValueError(f"'statistics' lacks '{missing[0]}'")
    return card


def _in_symbols(entry: Any) -> bool:
    """Return whether `entry` describes a distribution."""
    texts = (entry.get("in_symbols"), entry.get("in_latex") or "") if isinstance(entry, dict) else (None,)
    return all(isinstance(text, str) for text in texts)


# The schema of a card: pydantic takes an annotated type, which is no class for a type checker.
WHOLE_CARD: type[Card] = Annotated[Card, AfterValidator(_consistent)]  # type: ignore[assignment]


@with_config(STRICT)
class Receipt(TypedDict):
    """The receipt of a shard."""

    shard: Count
    code_versions: dict[str, Any]
    digests: dict[str, str]
    checksums: dict[str, list[Count]]
    errors: dict[str, list[float]]
