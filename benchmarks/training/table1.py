"""Table 1 of Cao (2021, arXiv:2105.14995): the cost of the four attentions, beside the paper's numbers."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from tqdm import tqdm

from benchmarks.tables import digits, table
from benchmarks.training.cases import Case
from benchmarks.training.cost import cost
from resolvent.measurements.step_cost import Cost

PAPER = Path("resolvent/figures/published/cao2021_table1.csv")
BATCH = 4
SCOPES = {"transformer1d": "Example 1", "encoder": "Encoders only"}
# (attention, ours has this order of products; None: the public code)
ROWS = [
    ("softmax", None), ("softmax", "linear"),
    ("fourier", None), ("fourier", "quadratic"), ("fourier", "linear"),
    ("linear", None), ("linear", "linear"),
    ("galerkin", None), ("galerkin", "linear"),
]  # fmt: skip
HEADER = (
    "attention",
    "code (ours in bold)",
    "peak GB",
    "allocated GB",
    "steps/s",
    "GFLOP",
    "GFLOP, profiler",
    "paper: memory GB",
    "paper: CUDA memory GB",
    "paper: steps/s",
    "paper: GFLOP",
)


@dataclass(frozen=True)
class Measured:
    case: Case
    device: str
    cost: Cost


def cases(n: int) -> list[Case]:
    return [
        Case(scope, attention, n, BATCH, public=order is None, contraction=order or "linear")
        for scope in SCOPES
        for attention, order in ROWS
    ]


def measured(n: int, rounds: int, device: str) -> list[Measured]:
    """Every case in a process of its own."""
    return [
        Measured(case, device, cost(case, rounds=rounds, device=device))
        for case in tqdm(cases(n), desc=f"Table 1 on {device}", leave=False)
    ]


def as_csv(results: list[Measured], path: Path, device_name: str) -> None:
    """One line a case, in bytes, seconds and operations."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        file.write(
            f"# Written by `python -m benchmarks.training` on {device_name}, torch {torch.__version__}.\n"
        )
        rows = [
            {
                "problem": result.case.problem,
                "attention": result.case.attention,
                "code": "public" if result.case.public else "resolvent",
                "contraction": "" if result.case.public else result.case.contraction,
                "n": result.case.n,
                "batch": result.case.batch,
                **asdict(result.cost),
            }
            for result in results
        ]
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def as_markdown(results: list[Measured]) -> str:
    """A table for each of the two scopes."""
    paper = printed_numbers()
    parts = []
    for scope, title in SCOPES.items():
        rows = [row(result, paper) for result in results if result.case.problem == scope]
        parts += [f"#### {title}", table(HEADER, rows)]
    return "\n\n".join(parts)


def row(result: Measured, paper: dict[tuple[str, str], dict[str, str]]) -> tuple[str, ...]:
    case, measurement = result.case, result.cost
    order = f", {case.contraction} order" if case.attention == "fourier" and not case.public else ""
    printed = paper[case.problem, case.attention]
    return (
        case.attention,
        "public code" if case.public else f"**Resolvent{order}**",
        digits(measurement.peak_bytes / 1e9),
        digits(measurement.allocated_bytes / 1e9),
        digits(1 / measurement.seconds),
        digits(measurement.flop / 1e9),
        digits(measurement.profiler_flop / 1e9),
        *(printed[name] for name in ("memory_gb", "cuda_memory_gb", "steps_per_second", "gflop")),
    )


def printed_numbers() -> dict[tuple[str, str], dict[str, str]]:
    """The paper's Table 1: (problem, attention) -> its columns as printed."""
    with PAPER.open() as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {(line["problem"], line["attention"]): line for line in rows}
