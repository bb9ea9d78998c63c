"""Training steps of the transformers of Calvello et al. 2024 in ours and in the public code's arithmetic.

    python -m benchmarks.attention [--only trajectories ...] [--rounds 3] [--output docs/performance.md]

Needs 24 GB of memory and a machine with nothing else to do: about half an hour.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from tqdm import tqdm

from benchmarks.attention.cases import Case, learner, peak_bytes
from benchmarks.rounds import gemm_rate, in_turns
from benchmarks.tables import arguments, digits, machine, measure_parts, table, versions
from benchmarks.training.race import relative_difference
from resolvent.measurements.step_cost import seconds, training_step
from resolvent.training.devices import device_name, keep_memory
from resolvent.training.operations import counted

PACKAGES = ("torch", "numpy")
INTRODUCTION = """\
## Continuum attention

The transformers of Calvello et al. (2024) against the same operators with the same weights in the arithmetic
of the public code: on a line e^s for all pairs of points, divided by ½ΣΔ(e_j + e_{j+1}), and two products
with the weighted values; on the plane a softmax; three products for Q, K and V; for every head of every
convolution an FFT there and back; an einsum over the pairs of patches. float32, no dropout.

The machine may be shared: read the ratios."""
RACE = """\
A step is forward, backward, clipping of the gradient and Adam: processor time on one thread, median
(fastest–slowest) of {rounds} interleaved rounds; the speed-up is that of the fastest. Memory is the peak of a
step beyond weights and data, in a process of its own that gives freed memory back. "Difference" is that of
the outputs, relative L² in float32. Our timed process keeps freed memory, as trainings do where they have
enough of it (`resolvent/training/devices.py`); the public code's does not, and "with memory kept" is the
speed-up where it does. GFLOP/s are our products (torch's `FlopCounterMode`) over our fastest step; matrices
of 2048² multiply at {gemm} GFLOP/s here."""
RACE_HEADER = (
    "architecture",
    "points",
    "batch",
    "ours, ms",
    "plain, ms",
    "speed-up",
    "with memory kept",
    "ours, MB",
    "plain, MB",
    "less memory",
    "difference",
    "our GFLOP/s",
    "of GEMM",
)
FULL = """\
One training step at the paper's sizes, ours, on {device}: peak memory beyond weights and data, and seconds
of the second step."""
FULL_HEADER = ("architecture", "points", "batch", "checkpointing", "peak, GB", "seconds")
WARM_UP = 1  # steps, of which no time is taken
LEARNED = {"patches": 13}
TRAJECTORIES = [Case("tno1d", 200, 64, {})]
SQUARE = [Case("tno2d", 64, 1, {"quadrature": "none"}), Case("tno2d", 64, 1, {})]
PATCHES = [
    Case("vit_no", 208, 1, {**LEARNED, "modes": 8}),
    Case("fano", 208, 1, {**LEARNED, "modes": 8, "width": 64}),
]
FULL_SIZE = [
    Case("tno1d", 200, 64, {}),
    Case("tno2d", 64, 2, {}),
    Case("galerkin_encoder2d", 64, 2, {}),
    Case("afno", 416, 1, {"points": 416}),
    Case("neuraloperator2d", 416, 1, {}),
    Case("vit_no", 416, 1, LEARNED),
    Case("vit_no", 416, 1, {**LEARNED, "checkpointing": True}),
    Case("fano", 416, 1, LEARNED),
    Case("fano", 416, 1, {**LEARNED, "checkpointing": True}),
]


def main() -> None:
    options = arguments("Race the transformers against plain forms of them.", PARTS, rounds=3).parse_args()
    torch.set_flush_denormal(True)
    torch.set_num_threads(1)
    parts = {part: partial(described, part, options.rounds) for part in PARTS}
    measure_parts("attention", INTRODUCTION, parts, options.only, options.output)


def described(part: str, rounds: int) -> str:
    """A part as Markdown, with the command that measures it."""
    title, measure = PARTS[part]
    command = f"`python -m benchmarks.attention --only {part} --rounds {rounds}`"
    return f"### {title}\n\n{measure(rounds)}\n\n{command} on {machine()}; {versions(PACKAGES)}."


def raced(cases: list[Case], rounds: int) -> str:
    """Ours and the plain form in turns, a case after the other."""
    rows, gemm = [], gemm_rate()
    for case in tqdm(cases, leave=False):
        pair = (case, replace(case, plain=True))
        learners = [learner(one, torch.device("cpu")) for one in pair]
        with torch.no_grad():
            difference = relative_difference(*(one.predict(one.u) for one in learners))
        ours, plain, kept = in_turns(
            [partial(_step, one, keeps) for one, keeps in ((case, True), (pair[1], False), (pair[1], True))],
            rounds,
            warm_up=WARM_UP,
        )
        rate = counted(training_step(learners[0])) / (1e-3 * ours.fastest)
        memory = [peak_bytes(one) for one in pair]
        points = f"{case.points}²" if case.architecture != "tno1d" else str(case.points)
        rows.append(
            (
                _name(case), points, str(case.batch), str(ours), str(plain),
                digits(plain.fastest / ours.fastest), digits(kept.fastest / ours.fastest),
                *(digits(one / 1e6) for one in memory), digits(memory[1] / memory[0]), f"{difference:.0e}",
                digits(rate / 1e9), f"{rate / gemm:.0%}",
            )
        )  # fmt: skip
    return f"{RACE.format(rounds=rounds, gemm=digits(gemm / 1e9))}\n\n{table(RACE_HEADER, rows)}"


def _step(case: Case, keeps: bool) -> Callable[[], object]:
    """Take a step of a case, in a process that keeps its memory, as those of trainings do, or does not."""
    if keeps:
        keep_memory(large=True)
    return training_step(learner(case, torch.device("cpu")))


def _name(case: Case) -> str:
    settings = [f"{key} {value}" for key, value in case.settings.items() if key not in ("patches", "points")]
    return ", ".join([f"`{case.architecture}`", *settings])


def full_size(rounds: int) -> str:
    """Measure on the GPU where there is one; the number of rounds does not matter."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rows = []
    for case in tqdm(FULL_SIZE, leave=False):
        step = training_step(learner(case, device))
        seconds(step, device)
        checkpointing = "yes" if case.settings.get("checkpointing") else "no"
        points = f"{case.points}²" if case.architecture != "tno1d" else str(case.points)
        rows.append(
            (
                f"`{case.architecture}`", points, str(case.batch), checkpointing,
                digits(peak_bytes(case, device.type) / 1e9), digits(seconds(step, device)),
            )
        )  # fmt: skip
    return f"{FULL.format(device=device_name(device))}\n\n{table(FULL_HEADER, rows)}"


PARTS = {
    "trajectories": ("Trajectories (Lorenz-63)", lambda rounds: raced(TRAJECTORIES, rounds)),
    "square": ("The square, 64 × 64", lambda rounds: raced(SQUARE, rounds)),
    "patches": ("Patches", lambda rounds: raced(PATCHES, rounds)),
    "full-size": ("One step at the paper's sizes", full_size),
}


if __name__ == "__main__":
    main()
