"""Cost of a training step in a separate process: memory, operations and seconds.

For Table 1 of Cao (2021, arXiv:2105.14995): four attentions, fourier with both orders of its products, in the
full operator of Example 1 and in encoders only, as profiled in the public code's instructions.

    python -m resolvent.measurements.step_cost '[{"case": {...}, "rounds": 1, "device": "cpu"}]'

prints a list of `Cost` as JSON.
"""

from __future__ import annotations

import atexit
import gc
import json
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pandas
import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from resolvent.models.build import build
from resolvent.models.cao2021.encoder import Encoder
from resolvent.models.cao2021.settings import Transformer1dSettings
from resolvent.training.devices import choose_device, device_name
from resolvent.training.operations import counted

# The command line of the public code: --dmodel 128 --head 1 --num-layers 4 --ndim 2. Two versions of the
# paper label the columns l = 10, and the script's defaults are ten layers and four heads. The gradient of a
# softmax layer at n = 8192 and batch size 4 needs the n×n array before and after dropout, 1.07 GB each: 21 GB
# for ten layers, more than the 18.5 GB in the table.
ENCODER_ONLY: dict[str, Any] = {"width": 128, "num_heads": 1, "num_layers": 4, "feedforward_width": 256}
VERSION = 1  # raised whenever the numbers change (docs/jobs.md)
WARM_UP_POINTS = 64
SCOPES = ("transformer1d", "encoder")  # the operator of Example 1, or four layers on points in the plane
CASES = [  # attention and order of the products
    ("softmax", "linear"),
    ("fourier", "quadratic"),  # as in the paper
    ("fourier", "linear"),
    ("linear", "linear"),
    ("galerkin", "linear"),
]


@dataclass(frozen=True)
class Cost:
    """Peak memory beyond weights and data; operations, memory and seconds of forward and backward passes.

    `flop` comes from torch's FlopCounterMode: matrix products, convolutions and fused attention, with a
    multiplication and an addition counted as two. `profiler_flop` and `allocated_bytes` come from torch's
    profiler: the operations it supports, and the sum of all allocations, freed or not. These three values are
    measured for one sample and multiplied by the batch size.
    """

    peak_bytes: int
    flop: int | None = None
    profiler_flop: int | None = None
    allocated_bytes: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Learner:
    """A module `predict`, its input `u`, and a `target` with the shape of the output."""

    module: nn.Module
    predict: Callable[[Tensor], Tensor]
    u: Tensor
    target: Tensor


def step_costs(points: int, batch_size: int, rounds: int, gpus: int) -> pandas.DataFrame:
    """Measure every case in a separate process, on CUDA if `gpus` > 0, else on one CPU thread.

    Columns: the fields of the case and of `Cost`, `rounds` (timings; the median is used) and `device`.
    """
    device = choose_device(gpus)
    size = {"points": points, "batch_size": batch_size}
    cases: list[dict] = [
        {"scope": scope, "attention": attention, "contraction": contraction, **size}
        for scope in SCOPES
        for attention, contraction in CASES
    ]
    requests = [{"case": case, "rounds": rounds, "device": device.type} for case in cases]
    costs = in_new_processes("resolvent.measurements.step_cost", requests)
    table = pandas.DataFrame([case | cost for case, cost in zip(cases, costs, strict=True)])
    return table.assign(rounds=rounds, device=device_name(device))


def in_new_processes(module: str, requests: list[dict]) -> list[dict]:
    """Run `python -m module` with the requests as JSON, and return its JSON answers, one per request.

    Raises `RuntimeError` with the process's error output if it fails.
    """
    command = [sys.executable, "-m", module, json.dumps(requests)]
    finished = subprocess.run(command, capture_output=True, text=True)
    if finished.returncode:
        raise RuntimeError(f"{module} failed ({finished.returncode}): {finished.stderr[-2000:]}")
    return json.loads(finished.stdout.splitlines()[-1])


def answer(measure: Callable[[dict, torch.device], Cost]) -> None:
    """Answer `in_new_processes` with one fork per request, because imports take longer than most requests."""
    import torch._dynamo  # imported once here, otherwise by the profiler in every fork

    atexit.register(gc.freeze)  # skips a garbage collection at exit, which takes a second
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    print(json.dumps([asdict(_forked(measure, request)) for request in json.loads(sys.argv[1])]))


def _forked(measure: Callable[[dict, torch.device], Cost], request: dict) -> Cost:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    device = torch.device(request["device"])
    process = context.Process(target=lambda: sender.send(measure(request, device)))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        process.join()
        raise RuntimeError(f"the process of {request} ended with exit code {process.exitcode}") from None
    finally:
        process.join()


def measured(
    learner: Callable[[int, int], Learner],
    points: int,
    batch_size: int,
    rounds: int,
    device: torch.device,
    warm_up_points: int = WARM_UP_POINTS,
) -> Cost:
    """Return the cost of `learner(points, batch_size)` in this process, before it allocates much memory.

    With `rounds` = 0, only the peak memory of a step with clipping and Adam is measured.
    """
    training_step(learner(warm_up_points, 1), update=not rounds)()  # allocates the libraries' own memory
    step = training_step(learner(points, batch_size), update=not rounds)
    if not rounds:
        return Cost(peak_memory(step, device))
    times: list[float] = []
    peak = peak_memory(lambda: times.extend(seconds(step, device) for _ in range(rounds)), device)
    # Proportional to the batch size. Measured separately: under the counter, the profiler counts operations
    # twice.
    one_sample = training_step(learner(points, 1), update=False)
    profiler_flop, allocated = profiled(one_sample, device)
    flop = counted(one_sample)
    return Cost(peak, batch_size * flop, batch_size * profiler_flop, batch_size * allocated, median(times))


def encoder(settings: dict, points: int) -> tuple[nn.Module, Tensor]:
    """Return four layers of width 128 with one head, and random points in the plane."""
    checked = Transformer1dSettings(**settings, **ENCODER_ONLY)
    names = set(Transformer1dSettings.model_fields) - {
        "in_channels", "out_channels", "decoder_width", "decoder_layers", "modes", "coordinates",
        "input_coordinates",
    }  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Encoder(**checked.model_dump(include=names), coordinate_dim=2), torch.rand(points, 2)


def learner_of(
    scope: str, attention: str, contraction: str, points: int, batch_size: int, device: torch.device
) -> Learner:
    """Return the module of a case with its default settings, without dropout, and random data.

    The data depend only on their sizes. The operator of Example 1 uses its periodic grid.
    """
    settings = {"attention": attention, "contraction": contraction}
    if scope == "encoder":
        (module, x), channels = encoder(settings, points), ENCODER_ONLY["width"]
    else:
        module, x, channels = build(scope, settings, seed=0), torch.arange(points)[:, None] / points, 1
    module, x = module.to(device).train(), x.to(device)
    generator = torch.Generator().manual_seed(0)
    u, target = (torch.randn(batch_size, points, channels, generator=generator).to(device) for _ in range(2))
    return Learner(module, lambda u: module(u, x), u, target)


def training_step(learner: Learner, *, update: bool = True) -> Callable[[], Tensor]:
    """Return a function that does one step (forward, backward, clipping, Adam) and returns the loss.

    Without `update` it does only forward and backward passes, as profiled in Table 1.
    """
    parameters = list(learner.module.parameters())
    optimiser = torch.optim.Adam(parameters, lr=1e-4)

    def step() -> Tensor:
        optimiser.zero_grad()
        loss = (learner.predict(learner.u) - learner.target).square().mean()
        loss.backward()
        if update:
            torch.nn.utils.clip_grad_norm_(parameters, 0.999)
            optimiser.step()
        return loss.detach()

    return step


def seconds(step: Callable[[], object], device: torch.device) -> float:
    """Return the seconds of one call."""
    start = time.perf_counter()
    step()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - start


def profiled(step: Callable[[], object], device: torch.device) -> tuple[int, int]:
    """Return the profiler's counts of operations and allocated bytes."""
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * (device.type == "cuda")
    with profile(activities=activities, profile_memory=True, with_flops=True) as profiler:
        step()
    events = profiler.key_averages()
    memory = "self_device_memory_usage" if device.type == "cuda" else "self_cpu_memory_usage"
    return int(sum(event.flops for event in events)), sum(max(getattr(event, memory), 0) for event in events)


def peak_memory(step: Callable[[], object], device: torch.device) -> int:
    """Return the peak memory of a step minus the memory before it, in bytes (Linux or CUDA)."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        step()
        return torch.cuda.max_memory_allocated(device) - before
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak to the present value
    before = _resident("VmRSS")
    step()
    return _resident("VmHWM") - before


def _resident(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _measure(request: dict, device: torch.device) -> Cost:
    case = request["case"]
    kind = case["scope"], case["attention"], case["contraction"]
    return measured(
        lambda points, batch_size: learner_of(*kind, points, batch_size, device),
        case["points"], case["batch_size"], request["rounds"], device,
    )  # fmt: skip


if __name__ == "__main__":
    answer(_measure)
