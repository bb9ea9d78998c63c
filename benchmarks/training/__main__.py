"""Training steps of the transformers against the public code's, and Table 1 of Cao (2021).

    python -m benchmarks.training [--only one-dimension ...] [--rounds 3] [--output docs/performance.md]

Needs the extra `bench`, 16 GB of memory, and a machine with nothing else to do: about half an hour.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from tqdm import tqdm

from benchmarks.rounds import gemm_rate
from benchmarks.tables import arguments, digits, machine, measure_parts, table, versions
from benchmarks.training import table1
from benchmarks.training.cases import Case
from benchmarks.training.race import Result, peaks, race
from resolvent.training.devices import device_name

PACKAGES = ("galerkin-transformer", "torch", "numpy")
MEASURED = Path("docs/measured")
BATCH = 4
ATTENTIONS = ("galerkin", "linear", "fourier", "softmax")
LINEAR_COST = ("galerkin", "linear")  # of the public code too
INTRODUCTION = """\
## Training steps

The operators of Cao (2021) at the paper's widths, ours and those of the public code
(`galerkin-transformer` on PyPI): the same weights, inputs and scaling, float32, projection layer norms.
All dropout is off in both. The public code drops half of the attention matrix always and has no setting
for it; it was switched off by an attribute of its modules. With dropout of the attention matrix ours
would need that matrix as well: the Fourier type would take the quadratic order, and softmax would not be
fused.

The machine may be shared: read the ratios.
"""
RACE = """\
A step is forward, backward, clipping of the gradient and Adam, batch {batch}: processor time on one thread,
median (fastest–slowest) of {rounds} interleaved rounds, each code in a process of its own; the speed-up is
that of the fastest. Our process keeps freed memory, as trainings do where they have enough of it
(`resolvent/training/devices.py`). Memory is the peak of a step beyond weights and data in a process that does
not; on small grids it is mostly buffers of libraries.
"Difference" is that of the outputs, relative L² in float32. GFLOP/s are our products (torch's
`FlopCounterMode`) over our fastest step; matrices of 2048² multiply at {gemm} GFLOP/s here."""
RACE_HEADER = (
    "{points}",
    "attention",
    "ours, ms",
    "public code, ms",
    "speed-up",
    "ours, MB",
    "public code, MB",
    "less memory",
    "difference",
    "our GFLOP/s",
    "of GEMM",
)
COMPILED = """\
The same with both compiled by `torch.compile`, and both not, in the same rounds. Trainings are not compiled,
although every architecture can be: the kernels, and with them the last bits of every weight, depend on the
C++ compiler and the vector unit of the machine, so that a run resumed on another one would no longer end with
the same bytes; and compilation takes each job longer than many small trainings last."""
COMPILED_HEADER = (
    "n",
    "attention",
    "ours, ms",
    "ours compiled, ms",
    "public code, ms",
    "public code compiled, ms",
    "speed-up, both compiled",
    "ours compiled over public code",
)
TABLE1 = """\
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


def main() -> None:
    parser = arguments("Race training steps against the public code; Table 1.", PARTS, rounds=3)
    parser.add_argument("--points", type=int, nargs="+", default=[512, 2048, 8192])
    parser.add_argument("--sides", type=int, nargs="+", default=[85, 141], help="points a side in 2-D")
    parser.add_argument("--table1-points", type=int, default=8192)
    options = parser.parse_args()
    torch.set_flush_denormal(True)
    parts = {part: partial(described, part, options) for part in PARTS}
    measure_parts("training", INTRODUCTION, parts, options.only, options.output)


def described(part: str, options: Namespace) -> str:
    """A part as Markdown, with the command that measures it."""
    title, measure = PARTS[part]
    command = f"`python -m benchmarks.training --only {part} --rounds {options.rounds}`"
    return f"### {title}\n\n{measure(options)}\n\n{command} on {machine()}; {versions(PACKAGES)}."


def one_dimension(options: Namespace) -> str:
    cases = []
    for n in options.points:
        attentions = ATTENTIONS if n <= 2048 else LINEAR_COST
        cases.append([Case("transformer1d", attention, n, BATCH) for attention in attentions])
        if n > 2048:  # of four samples the public code's matrices would take 13 GB
            cases.append([Case("transformer1d", "fourier", n, 1)])
        else:
            cases[-1].append(Case("transformer1d", "fourier", n, BATCH, contraction="quadratic"))
    return raced(cases, "n", options.rounds)


def two_dimensions(options: Namespace) -> str:
    cases = [
        [Case("transformer2d", attention, side, BATCH)] for side in options.sides for attention in ATTENTIONS
    ]
    return raced(cases, "points a side", options.rounds)


def raced(heats: list[list[Case]], points: str, rounds: int) -> str:
    """The cases of a heat take turns."""
    torch.set_num_threads(1)
    rows, gemm = [], gemm_rate()
    for heat in tqdm(heats, desc=points, leave=False):
        rows += [race_row(result, *peaks(result.case), gemm) for result in race(heat, rounds)]
    header = [column.format(points=points) for column in RACE_HEADER]
    return f"{RACE.format(batch=BATCH, rounds=rounds, gemm=digits(gemm / 1e9))}\n\n{table(header, rows)}"


def race_row(result: Result, ours: int, public: int, gemm: float) -> tuple[str, ...]:
    rate = result.flop / (1e-3 * result.ours.fastest)
    return (
        str(result.case.n),
        result.case.name + (f", batch {result.case.batch}" if result.case.batch != BATCH else ""),
        str(result.ours),
        str(result.public),
        digits(result.public.fastest / result.ours.fastest),
        digits(ours / 1e6),
        digits(public / 1e6),
        digits(public / ours),
        f"{result.difference:.0e}",
        digits(rate / 1e9),
        f"{rate / gemm:.0%}",
    )


def compiled(options: Namespace) -> str:
    torch.set_num_threads(1)
    try:
        torch.compile(lambda x: 2 * x)(torch.ones(1))
    except RuntimeError as error:
        return f"Not measured: torch.compile does not work here ({str(error).splitlines()[0]})."
    rows = []
    for attention in tqdm(ATTENTIONS, desc="compiled", leave=False):
        eager = Case("transformer1d", attention, 2048, BATCH)
        plain, fast = race([eager, replace(eager, compiled=True)], options.rounds)
        times = [plain.ours.middle, fast.ours.middle, plain.public.middle, fast.public.middle]
        ratios = [fast.public.middle / fast.ours.middle, plain.public.middle / fast.ours.middle]
        rows.append((str(eager.n), attention, *map(digits, times + ratios)))
    return f"{COMPILED}\n\n{table(COMPILED_HEADER, rows)}"


def paper_table(options: Namespace) -> str:
    """Measure Table 1 on the CPU, and on the GPU where there is one."""
    parts = []
    for device in ["cpu"] + ["cuda"] * torch.cuda.is_available():
        rounds = 1 if device == "cpu" else options.rounds
        results = table1.measured(options.table1_points, rounds, device)
        name, file = device_name(torch.device(device)), f"cao2021_table1_{device}.csv"
        table1.as_csv(results, MEASURED / file, name)
        n, batch = options.table1_points, table1.BATCH
        introduction = TABLE1.format(n=n, batch=batch, device=name, rounds=rounds, csv=file)
        parts += [introduction, table1.as_markdown(results)]
    return "\n\n".join(parts)


PARTS = {
    "one-dimension": ("One dimension (Example 1)", one_dimension),
    "compiled": ("Compiled", compiled),
    "two-dimensions": ("Two dimensions (Example 2)", two_dimensions),
    "table1": ("Table 1 of the paper", paper_table),
}


if __name__ == "__main__":
    main()
