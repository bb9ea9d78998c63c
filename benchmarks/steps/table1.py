"""Table 1 of Cao (2021, arXiv:2105.14995): the cost of the four attentions, beside the paper's numbers."""

from __future__ import annotations

import csv
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

import torch
from tqdm import tqdm

from benchmarks.runner import digits, table
from benchmarks.steps.cases import AS_PUBLIC_CODE, Case, cost
from resolvent.measurements.step_cost import Cost
from resolvent.training.devices import device_name

PAPER = Path("resolvent/figures/papers/cao2021/tables/table1.csv")
MEASURED = Path("docs/measured")
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
    "attention", "code (ours in bold)", "peak GB", "allocated GB", "steps/s", "GFLOP", "GFLOP, profiler",
    "paper: memory GB", "paper: CUDA memory GB", "paper: steps/s", "paper: GFLOP",
)  # fmt: skip
TEXT = """\
Forward and backward at n = {n}, batch {batch}, on {device}, rounds: {rounds}. "Example 1" is the whole
operator; "encoders only" are four layers of width 128 with one head on points of the plane, as the public
code's instructions profile them. Ours and the public code's were measured here, without dropout; the
paper's are as printed, from an RTX 3090, with the dropout of the public code.

- Peak GB: beyond weights and data. The paper's "memory" is nvidia-smi's, of the process.
- Allocated GB: what the operators allocated, whether or not they gave it back, by torch's profiler; the
  paper's "CUDA memory" sums up the profiler's column.
- GFLOP: matrix products, convolutions and attention by torch's `FlopCounterMode`, a multiplication and an
  addition being two. FFTs, which the public code's decoder has, are not counted; our products with
  truncated Fourier matrices are. The profiler's count knows no fused attention, but additions and
  products of arrays; the paper's is an earlier version's of that profiler.

As data: [{csv}](measured/{csv})."""


def paper_table(given: Namespace) -> str:
    """Measure Table 1 on the CPU, and on the GPU where there is one, every case in a process of its own."""
    n, parts = given.table1_points, []
    cases = [
        Case(scope, n, BATCH, {"attention": attention, "contraction": order or "linear", **AS_PUBLIC_CODE},
             peer=order is None)
        for scope in SCOPES
        for attention, order in ROWS
    ]  # fmt: skip
    for device in ["cpu"] + ["cuda"] * torch.cuda.is_available():
        rounds = 1 if device == "cpu" else given.rounds
        costs = [
            cost(case, rounds=rounds, device=device)
            for case in tqdm(cases, desc=f"Table 1 on {device}", leave=False)
        ]
        name, file = device_name(torch.device(device)), f"cao2021_table1_{device}.csv"
        _write(cases, costs, MEASURED / file, name)
        parts += [TEXT.format(n=n, batch=BATCH, device=name, rounds=rounds, csv=file), _tables(cases, costs)]
    return "\n\n".join(parts)


def _write(cases: list[Case], costs: list[Cost], path: Path, device: str) -> None:
    """Write one line a case, in bytes, seconds and operations."""
    rows = [
        {
            "problem": case.architecture,
            "attention": case.settings["attention"],
            "code": "public" if case.peer else "resolvent",
            "contraction": "" if case.peer else case.settings["contraction"],
            "n": case.points,
            "batch": case.batch,
            **asdict(found),
        }
        for case, found in zip(cases, costs, strict=True)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        file.write(f"# Written by `python -m benchmarks.training` on {device}, torch {torch.__version__}.\n")
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _tables(cases: list[Case], costs: list[Cost]) -> str:
    """Return a table for each of the two scopes, with the paper's numbers as printed."""
    with PAPER.open() as file:
        lines = csv.DictReader(line for line in file if not line.startswith("#"))
        printed = {(line["problem"], line["attention"]): line for line in lines}
    rows: dict[str, list] = {scope: [] for scope in SCOPES}
    for case, found in zip(cases, costs, strict=True):
        attention = case.settings["attention"]
        order = f", {case.settings['contraction']} order" if attention == "fourier" else ""
        paper = printed[case.architecture, attention]
        numbers = (found.peak_bytes / 1e9, found.allocated_bytes / 1e9, 1 / found.seconds, found.flop / 1e9)
        rows[case.architecture].append(
            (
                attention,
                "public code" if case.peer else f"**Resolvent{order}**",
                *map(digits, (*numbers, found.profiler_flop / 1e9)),
                *(paper[name] for name in ("memory_gb", "cuda_memory_gb", "steps_per_second", "gflop")),
            )
        )
    return "\n\n".join(f"#### {title}\n\n{table(HEADER, rows[scope])}" for scope, title in SCOPES.items())
