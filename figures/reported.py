"""The numbers a paper printed, and whether they may stand beside ours.

A printed number is a measurement of one setting. It stands beside a run only if the facts of the run are the
paper's; otherwise the comparison is refused and says what differs.

One difference always remains and is told wherever these numbers are shown: the paper's public code reports
the best epoch on the test samples; here the checkpoint is chosen on validation samples.
"""

import csv
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCE = "Cao 2021, arXiv:2105.14995, Table 2a"
TABLE = Path(__file__).parent / "reported" / "cao2021_table2a.csv"
UNIT = 1e-3  # of the numbers printed in Table 2a

# Sections C.1 and C.2: u0 ~ N(0, 25² (-Δ + 25 I)^-2), ν = 0.1/(2π), observed at t = 1.
SETTING = {
    "viscosity": 0.1 / (2 * math.pi),
    "final_time": 1.0,
    "sigma": 25.0,
    "tau": 5.0,
    "gamma": 2.0,
    "train_samples": 1024,
    "epochs": 100,
}
BATCH_SIZE = {512: 8, 2048: 8, 8192: 4}  # section C.1
# Table 5: 550k for FNO, 523k-530k for the transformers, taken to the last printed digit. The number of
# parameters stands for the widths: it is the paper's own description of them.
PARAMETERS = {"fno1d": (549_500, 550_500), "transformer1d": (522_500, 530_500)}


@dataclass(frozen=True)
class Reported:
    """A printed number; `value` is None where it may not stand beside ours, and `reason` says why."""

    value: float | None
    printed: str
    reason: str


@cache
def printed_numbers() -> dict[tuple[str, str, str, int], str]:
    """Table 2a: (architecture, attention, layer_norm, resolution) -> the number as printed, times 1e3."""
    with TABLE.open() as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {
            (row["architecture"], row["attention"], row["layer_norm"], int(row["resolution"])): row["printed"]
            for row in rows
        }


def lookup(architecture: str, attention: str | None, layer_norm: str | None, resolution: int) -> str | None:
    """The number as printed, or None if the paper has no such row."""
    return printed_numbers().get((architecture, attention or "", layer_norm or "", resolution))


def differences(facts: dict, cost: dict) -> list[str]:
    """What the run `facts` (a run.json) and `cost` (its cost.json) has that the paper's setting has not."""
    recorded = {**_leaves(facts["dataset_settings"]), **facts["training"]}
    resolution = int(facts["resolution"])
    expected = dict(SETTING)
    if resolution in BATCH_SIZE:
        expected["batch_size"] = BATCH_SIZE[resolution]
    told = []
    for name, paper in expected.items():
        ours, words = recorded.get(name), name.replace("_", " ")
        if ours is None:
            told.append(f"{words} not recorded (paper {paper:.6g})")
        elif not _same(ours, paper):
            told.append(f"{words} {ours:.6g} (paper {paper:.6g})")
    low, high = PARAMETERS.get(facts["architecture"], (0, math.inf))
    if not low <= cost["parameters"] <= high:
        told.append(f"{cost['parameters']:,} parameters (paper {low:,} to {high:,})")
    return told


def matches(facts: dict, cost: dict) -> bool:
    """Whether the paper's number may stand beside this run."""
    return not differences(facts, cost)


def reported_beside(facts: dict, cost: dict) -> Reported:
    """The paper's number for this run, or the reason why there is none."""
    settings = facts.get("settings", {})
    key = (facts["architecture"], settings.get("attention"), settings.get("layer_norm"))
    printed = lookup(*key, int(facts["resolution"]))
    if printed is None:
        return Reported(None, "", f"{SOURCE} has no such row")
    told = differences(facts, cost)
    if told:
        return Reported(None, printed, "not comparable: " + "; ".join(told))
    return Reported(float(printed) * UNIT, printed, SOURCE)


def _leaves(settings: dict) -> dict:
    """Nested settings with their inner names alone: `initial_law: {sigma: 25}` is `sigma: 25`."""
    flat = {}
    for name, value in settings.items():
        flat |= _leaves(value) if isinstance(value, dict) else {name: value}
    return flat


def _same(ours: object, paper: float) -> bool:
    return isinstance(ours, int | float) and math.isclose(ours, paper, rel_tol=1e-4)
