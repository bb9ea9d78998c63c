"""What a case costs, in a process of its own: memory, operations and speed.

    python -m benchmarks.training.cost '[{"case": {"problem": "encoder", ...}, "rounds": 1, "device": "cpu"}]'

prints a list of `Cost` as JSON.
"""

from __future__ import annotations

from dataclasses import asdict, replace

import torch

from benchmarks.training.cases import Case, learner
from resolvent.measurements.step_cost import Cost, answer, in_new_processes, measured

WARM_UP_POINTS = {"transformer1d": 64, "transformer2d": 49, "encoder": 64}


def cost(case: Case, *, rounds: int = 0, device: str = "cpu") -> Cost:
    """The cost of a case, measured in a new process with one thread; without rounds only the peak memory.

    Raises `RuntimeError` with the process's message where it fails.
    """
    request = {"case": asdict(case), "rounds": rounds, "device": device}
    (answered,) = in_new_processes("benchmarks.training.cost", [request])
    return Cost(**answered)


def measure(request: dict, device: torch.device) -> Cost:
    """The cost of the case of a request in this process."""
    case = Case(**request["case"])
    return measured(
        lambda n, batch: learner(replace(case, n=n, batch=batch), device),
        case.n,
        case.batch,
        request["rounds"],
        device,
        WARM_UP_POINTS[case.problem],
    )


if __name__ == "__main__":
    answer(measure)
