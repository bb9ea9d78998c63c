"""Run all benchmarks at their documented sizes, and the summary: `make bench`.

    python -m benchmarks

Takes three hours on an idle machine. Finished parts are recorded in build/benchmarks: an interrupted call
resumes there, and a complete call starts again. Failed parts are listed at the end.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

COMMANDS = [
    *(f"training --only {part}" for part in ("one-dimension", "two-dimensions", "dropout")),
    *(f"attention --only {part}" for part in ("trajectories", "square", "patches", "full-size")),
    *(f"profiles --only {part}" for part in ("step-profiles", "solver-profiles")),
    *(
        f"solvers --only {part} --processor-time"
        for part in ("burgers", "darcy", "ode", "kolmogorov", "fields")
    ),
    "kolmogorov_threads",
    "gpu",
    "precision",
    "streaming --only reading --rounds 9",
    "streaming --only object-store",
    "streaming --only training-streamed --samples 8 --rounds 2",
    "scale",
    "accuracy",
    *(f"jobs --only {part}" for part in ("planning", "overhead")),
    "front_page",
]
PAGE = "docs/performance.md"
MEASURED = Path("build/benchmarks")


def measured(command: str) -> bool:
    """Run a part, which prints its table and writes it to the page; return whether it succeeded."""
    words = f"benchmarks.{command} --output {PAGE}"
    print(f"python -m {words}", flush=True)
    return subprocess.run([sys.executable, "-m", *words.split()]).returncode == 0


if __name__ == "__main__":
    MEASURED.parent.mkdir(exist_ok=True)
    done = MEASURED.read_text().splitlines() if MEASURED.exists() else []
    for command in COMMANDS:
        if command not in done and measured(command):
            done.append(command)
            MEASURED.write_text("\n".join(done))
    failed = [command for command in COMMANDS if command not in done]
    if not measured("summary") or failed:
        sys.exit(f"Not measured: {', '.join(failed) or 'summary'}. The same call tries again.")
    MEASURED.unlink()
