"""The numbers of Cao 2021 as printed, and whether they may stand beside ours.

A printed number is a measurement of one setting. It stands beside a run only if the facts of the run are the
paper's; otherwise the comparison is refused and says what differs.

One difference always remains and is told wherever these numbers are shown: the paper's public code reports
the best epoch on the test samples; here the checkpoint is chosen on validation samples. A run that records
its test error by epoch (training setting record_test_error) has the paper's number as well.
"""

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

SOURCE = "Cao 2021, arXiv:2105.14995"
FOLDER = Path(__file__).parent / "reported"
PRINTED = ("printed", "best_epoch")  # columns that are results; the others say of which run


@dataclass(frozen=True)
class Example:
    """The setting of one of the paper's examples.

    section  where the paper describes it.
    setting  what a run must have recorded, by name; several accepted values are a tuple.
    where    pairs: a run that has recorded the first must have recorded the second.
    """

    section: str
    setting: dict
    where: tuple[tuple[dict, dict], ...] = ()


@dataclass(frozen=True)
class PaperTable:
    """A table of results: `file` in figures/reported/, `unit` of the numbers there, more of its setting."""

    name: str
    file: str
    unit: float
    where: tuple[tuple[dict, dict], ...] = field(default=())

    def row(self, recorded: dict) -> dict[str, str] | None:
        """The row of a run (`recorded`), as printed, or None if the paper has no such row."""
        columns, rows = _by_key(self.file)
        return rows.get(tuple(_text(recorded.get(column)) for column in columns))


@dataclass(frozen=True)
class Reported:
    """A printed number; `value` is None where it may not stand beside ours, and `reason` says why."""

    value: float | None
    printed: str
    reason: str
    best_epoch: str = ""  # where the paper tells it


TRAINED = {"train_samples": 1024, "test_samples": 100, "epochs": 100}  # section C.1
# Section C.3: a = 12 or 3 by the sign of a draw from N(0, (-Δ + 9 I)^-2), on 421 x 421 nodes.
COEFFICIENT = {
    "sigma": 1.0,
    "tau": 3.0,
    "gamma": 2.0,
    "push_forward": "level_set",
    "above": 12.0,
    "below": 3.0,
    "finest": 421,
}
EXAMPLES = {
    # Section C.2: u0 ~ N(0, 25² (-Δ + 25 I)^-2), ν = 0.1/(2π), observed at t = 1; batches as in C.1.
    "burgers": Example(
        section="5.1",
        setting={
            "resolution": (512, 2048, 8192),
            "viscosity": 0.1 / (2 * math.pi),
            "final_time": 1.0,
            "sigma": 25.0,
            "tau": 5.0,
            "gamma": 2.0,
            **TRAINED,
        },
        where=(
            ({"resolution": 512}, {"batch_size": 8}),
            ({"resolution": 2048}, {"batch_size": 8}),
            ({"resolution": 8192}, {"batch_size": 4}),
        ),
    ),
    "darcy": Example(
        section="5.2",
        setting={
            "resolution": (141, 211),
            **COEFFICIENT,
            "grid": "nodes",
            "pressure": "restricted",
            **TRAINED,
            "batch_size": 4,
        },
        where=(
            ({"resolution": 141, "architecture": "transformer2d"}, {"coarse_points": 43}),
            ({"resolution": 211, "architecture": "transformer2d"}, {"coarse_points": 61}),
        ),
    ),
    "darcy_inverse": Example(
        section="5.3",
        setting={"resolution": (141, 211), **COEFFICIENT, **TRAINED},
        where=(
            ({"resolution": 141}, {"coarse_points": 36, "batch_size": 4}),
            ({"resolution": 211}, {"coarse_points": 71, "batch_size": (4, 2)}),  # section C.1; its code
        ),
    ),
}
TABLE_2A = PaperTable(
    "Table 2a",
    "cao2021_table2a.csv",
    1e-3,
    # Eq. 17; the author's command lines start fourier from 1e-3. Dropout of galerkin with the regular norm:
    # Table 7 and section C.2; the public code has 0.5 whatever it is told.
    where=(
        ({"architecture": "transformer1d"}, {"projection_gain": 1e-2, "projection_diagonal": 1e-2}),
        ({"architecture": "transformer1d", "attention": "fourier"}, {"projection_gain": (1e-2, 1e-3)}),
        ({"attention": "galerkin", "layer_norm": "regular"}, {"attention_dropout": (0.1, 0.5)}),
        ({"attention": "galerkin", "layer_norm": "projection"}, {"attention_dropout": (0.0, 0.5)}),
    ),
)
TABLE_2B = PaperTable("Table 2b", "cao2021_table2b.csv", 1e-2)
TABLE_3 = PaperTable("Table 3", "cao2021_table3.csv", 1e-2)
TABLE_6 = PaperTable("Table 6", "cao2021_table6.csv", 1.0)
TABLE_8 = PaperTable("Table 8", "cao2021_table8.csv", 1e-3)
# The tables of errors in which a run is looked up, by the equation of its dataset.
TABLES = {"burgers": (TABLE_2A, TABLE_8), "darcy": (TABLE_2B,), "darcy_inverse": (TABLE_3,)}


def record(facts: dict) -> dict:
    """All that a run.json has recorded, by its inner name alone, and what follows from it."""
    recorded = {**facts.get("settings", {}), **_leaves(facts["dataset_settings"]), **facts["training"]}
    recorded |= {"architecture": facts["architecture"], "resolution": facts["resolution"]}
    recorded |= {"noise": recorded.get("noise", 0.0), "grids": facts.get("grids", "stored")}
    return recorded | {"coarse_points": _coarse_points(recorded)}


def tables_of(facts: dict) -> tuple[PaperTable, ...]:
    """The tables of errors that have runs of this equation."""
    return TABLES.get(facts["dataset_settings"].get("equation"), ())


def differences(facts: dict, cost: dict, table: PaperTable | None = None) -> list[str]:
    """What the run `facts` (a run.json) and `cost` (its cost.json) has that the setting of `table` has not.

    Without a table: of the first one with runs of this equation.
    """
    equation = facts["dataset_settings"].get("equation")
    if equation not in EXAMPLES:
        return [f"equation {equation}, which the paper has not"]
    table = table or TABLES[equation][0]
    recorded = record(facts)
    expected = dict(EXAMPLES[equation].setting)
    for condition, more in (*EXAMPLES[equation].where, *table.where):
        if all(recorded.get(name) == value for name, value in condition.items()):
            expected |= more
    told = list(_told(recorded, expected))
    low, high = parameters(recorded) or (0, math.inf)
    if not low <= cost["parameters"] <= high:
        told.append(f"{cost['parameters']:,} parameters (paper {low:,} to {high:,})")
    return told


def reported_beside(facts: dict, cost: dict, table: PaperTable | None = None) -> Reported:
    """The paper's number for this run, or the reason why there is none.

    Without a table: of the tables with runs of this equation, the first whose number may stand beside it.
    """
    refused = None
    for one in (table,) if table else tables_of(facts):
        row = one.row(record(facts))
        if row is None:
            continue
        told = differences(facts, cost, one)
        best_epoch = row.get("best_epoch", "")
        if not told:
            value = float(row["printed"]) * one.unit
            return Reported(value, row["printed"], f"{SOURCE}, {one.name}", best_epoch)
        refused = refused or Reported(None, row["printed"], "not comparable: " + "; ".join(told), best_epoch)
    names = f"{SOURCE}, {table.name}" if table else SOURCE
    return refused or Reported(None, "", f"{names} has no such row")


@cache
def printed_rows(file: str) -> list[dict[str, str]]:
    """A file of figures/reported/: its rows as printed; lines with # are comments."""
    with (FOLDER / file).open(encoding="utf-8") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def parameters(recorded: dict) -> tuple[int, int] | None:
    """Table 5: the numbers of parameters that are printed as there, lowest and highest.

    The number of parameters stands for the widths: it is the paper's own description of them. None where the
    paper has no such network.
    """
    row = network(recorded)
    if row is None:
        return None
    ends = [_rounded_to(end) for end in row["parameters"].split("-")]
    return ends[0][0], ends[-1][1]


def network(recorded: dict) -> dict[str, str] | None:
    """The row of Table 5 for a run, as printed."""
    if recorded.get("attention") == "none":
        return None
    rows = {row["architecture"]: row for row in printed_rows("cao2021_table5.csv")}
    return rows.get(recorded["architecture"])


def _rounded_to(printed: str) -> tuple[int, int]:
    """The integers that are printed as "550k" or "2.37m", to the last digit: 549,500 and 550,500."""
    digits, size = printed[:-1], {"k": 10**3, "m": 10**6}[printed[-1]]
    last = size / 10 ** len(digits.partition(".")[2])
    return round(float(digits) * size - last / 2), round(float(digits) * size + last / 2)


@cache
def _by_key(file: str) -> tuple[list[str], dict[tuple[str, ...], dict[str, str]]]:
    """The columns that say of which run a row is, and the rows by their values."""
    rows = printed_rows(file)
    columns = [column for column in rows[0] if column not in PRINTED]
    return columns, {tuple(_text(row[column]) for column in columns): row for row in rows}


def _text(value: object) -> str:
    """A value as a key: 0.01, "1e-2" and "0.01" are one."""
    try:
        return f"{float(value):g}"
    except (TypeError, ValueError):
        return "" if value is None else str(value)


def _told(recorded: dict, expected: dict) -> Iterator[str]:
    for name, paper in expected.items():
        accepted = paper if isinstance(paper, tuple) else (paper,)
        ours, words = recorded.get(name), name.replace("_", " ")
        of_paper = f"(paper {' or '.join(_shown(one) for one in accepted)})"
        if ours is None:
            yield f"{words} not recorded {of_paper}"
        elif not any(_same(ours, one) for one in accepted):
            yield f"{words} {_shown(ours)} {of_paper}"


def _coarse_points(recorded: dict) -> int | None:
    """Points a side of the grid on which attention works, or on which the target is (Example 5.3)."""
    points = recorded["resolution"]
    if "coarse" in recorded:
        return dict(zip(recorded["resolutions"], recorded["coarse"], strict=True)).get(points)
    factor = recorded.get("downsampling_factor")
    return int(int(points * factor) * factor) if factor else None


def _leaves(settings: dict) -> dict:
    """Nested settings with their inner names alone: `initial_law: {sigma: 25}` is `sigma: 25`."""
    flat = {}
    for name, value in settings.items():
        flat |= _leaves(value) if isinstance(value, dict) else {name: value}
    return flat


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, int | float) else str(value)


def _same(ours: object, paper: object) -> bool:
    if isinstance(ours, int | float) and isinstance(paper, int | float):
        return math.isclose(ours, paper, rel_tol=1e-4)
    return ours == paper
