"""What a case costs, in a process of its own: memory, operations and speed.

    python -m benchmarks.training.cost '{"case": {"problem": "encoder", ...}, "rounds": 1}'

prints a `Cost` as JSON. Without rounds only the peak memory is measured, of a training step.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

from benchmarks.training.cases import Case, backpropagation, learner, training_step

WARM_UP_POINTS = {"transformer1d": 64, "transformer2d": 49, "encoder": 64}


@dataclass(frozen=True)
class Cost:
    """Peak memory beyond weights and data; and, of forward and backward, operations, memory and seconds.

    `flop` is by torch's FlopCounterMode: matrix products, convolutions and fused attention, a multiplication
    and an addition being two. `profiler_flop` and `allocated_bytes` are torch's profiler's: operations that
    it knows, and what all operators together allocated, whether or not they gave it back. The three are of
    one sample, times the batch.
    """

    peak_bytes: int
    flop: int | None = None
    profiler_flop: int | None = None
    allocated_bytes: int | None = None
    seconds: float | None = None


def cost(case: Case, *, rounds: int = 0, device: str = "cpu") -> Cost:
    """The cost of a case, measured in a new process with one thread.

    Raises `RuntimeError` with the process's message where it fails.
    """
    request = {"case": asdict(case), "rounds": rounds, "device": device}
    command = [sys.executable, "-m", "benchmarks.training.cost", json.dumps(request)]
    finished = subprocess.run(command, capture_output=True, text=True)
    if finished.returncode:
        raise RuntimeError(f"{case} failed ({finished.returncode}): {finished.stderr[-2000:]}")
    return Cost(**json.loads(finished.stdout.splitlines()[-1]))


def measure(case: Case, rounds: int, device: torch.device) -> Cost:
    """The cost of a case in this process, which has done nothing large before."""
    make_step = backpropagation if rounds else training_step
    small = replace(case, n=WARM_UP_POINTS[case.problem], batch=1)
    make_step(learner(small, device))()  # libraries' own memory
    step = make_step(learner(case, device))
    if not rounds:
        return Cost(peak_memory(step, device))
    times: list[float] = []
    peak = peak_memory(lambda: times.extend(seconds(step, device) for _ in range(rounds)), device)
    # In proportion to the batch. Not both at once: under the counter the profiler sees operations twice.
    one_sample = make_step(learner(replace(case, batch=1), device))
    profiler_flop, allocated = profiled(one_sample, device)
    flop = counted(one_sample)
    return Cost(peak, case.batch * flop, case.batch * profiler_flop, case.batch * allocated, median(times))


def seconds(step: Callable[[], object], device: torch.device) -> float:
    start = perf_counter()
    step()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return perf_counter() - start


def counted(step: Callable[[], object]) -> int:
    """Operations by FlopCounterMode."""
    with FlopCounterMode(display=False, custom_mapping=CPU_ATTENTION) as counter:
        step()
    return counter.get_total_flops()


def profiled(step: Callable[[], object], device: torch.device) -> tuple[int, int]:
    """Operations by the profiler, and allocated bytes."""
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * (device.type == "cuda")
    with profile(activities=activities, profile_memory=True, with_flops=True) as profiler:
        step()
    events = profiler.key_averages()
    memory = "self_device_memory_usage" if device.type == "cuda" else "self_cpu_memory_usage"
    allocated = sum(max(getattr(event, memory), 0) for event in events)
    return int(sum(event.flops for event in events)), allocated


def _fused_attention_flop(query_shape, key_shape, value_shape, *args, **kwargs) -> int:
    return sdpa_flop_count(query_shape, key_shape, value_shape)


def _fused_attention_backward_flop(
    gradient_shape, query_shape, key_shape, value_shape, *args, **kwargs
) -> int:
    return sdpa_backward_flop_count(gradient_shape, query_shape, key_shape, value_shape)


# FlopCounterMode knows the fused attention of GPUs alone.
CPU_ATTENTION = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _fused_attention_flop,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: _fused_attention_backward_flop,
}


def peak_memory(step: Callable[[], object], device: torch.device) -> int:
    """Bytes in use at the peak of a step beyond those before it (Linux, or CUDA)."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        step()
        return torch.cuda.max_memory_allocated(device) - before
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is the present
    before = _resident("VmRSS")
    step()
    return _resident("VmHWM") - before


def _resident(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def main() -> None:
    request = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    device = torch.device(request["device"])
    print(json.dumps(asdict(measure(Case(**request["case"]), request["rounds"], device))))


if __name__ == "__main__":
    main()
