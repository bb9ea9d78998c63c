"""Table 1 of Cao (2021, arXiv:2105.14995): costs of the four attentions, with the paper's numbers."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import torch
from tqdm import tqdm

from benchmarks.runner import digits, table
from benchmarks.steps.cases import AS_PUBLIC_CODE, Case, cost
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
PRINTED = ("memory_gb", "cuda_memory_gb", "steps_per_second", "gflop")
TEXT = """\
Forward and backward pass at n = {n}, batch {batch}, on {device}, rounds: {rounds}. "Example 1" is the whole
operator. "Encoders only" means four layers of width 128 with one head on points in the plane, as in the
profiling instructions of the public code. The paper's numbers are as printed, from an RTX 3090 with dropout.
Ours and the public code's were measured here, without dropout.

- Peak GB: peak memory minus weights and data. The paper's "memory" is nvidia-smi's value for the process.
- Allocated GB: sum of all allocations, from torch's profiler. The paper's "CUDA memory" sums the same column.
- GFLOP: matrix products, convolutions and attention, counted by `FlopCounterMode`. It omits the FFTs in the
  public code's decoder. The profiler omits fused attention and counts elementwise additions and products; the
  paper used an earlier version of the profiler.

Data: [{csv}](measured/{csv})."""


def paper_table(given: Namespace) -> str:
    """Measure Table 1 on the CPU and, if there is one, the GPU, every case in a separate process.

    Also write a CSV file with one line per case, in bytes, seconds and operations.
    """
    n, parts = given.table1_points, []
    printed = pd.read_csv(PAPER, comment="#", dtype=str).set_index(["problem", "attention"])
    for device in ["cpu"] + ["cuda"] * torch.cuda.is_available():
        rounds = 1 if device == "cpu" else given.rounds
        name, file = device_name(torch.device(device)), f"cao2021_table1_{device}.csv"
        parts.append(TEXT.format(n=n, batch=BATCH, device=name, rounds=rounds, csv=file))
        lines = []
        for scope, title in SCOPES.items():
            rows = []
            for attention, order in tqdm(ROWS, desc=f"Table 1 on {device}, {scope}", leave=False):
                settings = {"attention": attention, "contraction": order or "linear", **AS_PUBLIC_CODE}
                found = cost(
                    Case(scope, n, BATCH, settings, peer=order is None), rounds=rounds, device=device
                )
                code = "public" if order is None else "resolvent"
                facts = {"problem": scope, "attention": attention, "code": code, "contraction": order or ""}
                lines.append(facts | {"n": n, "batch": BATCH} | asdict(found))
                words = f", {order} order" if attention == "fourier" else ""
                numbers = (found.peak_bytes / 1e9, found.allocated_bytes / 1e9, 1 / found.seconds)
                operations = (found.flop / 1e9, found.profiler_flop / 1e9)
                rows.append(
                    (
                        attention,
                        "public code" if order is None else f"**Resolvent{words}**",
                        *map(digits, numbers + operations),
                        *printed.loc[(scope, attention), list(PRINTED)],
                    )
                )
            parts.append(f"#### {title}\n\n{table(HEADER, rows)}")
        MEASURED.mkdir(parents=True, exist_ok=True)
        with (MEASURED / file).open("w", newline="") as written:
            version = f"torch {torch.__version__}"
            written.write(f"# Written by `python -m benchmarks.training` on {name}, {version}.\n")
            pd.DataFrame(lines).to_csv(written, index=False)
    return "\n\n".join(parts)
