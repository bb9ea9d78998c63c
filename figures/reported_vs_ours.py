"""The documentation page "reported, ours, why they differ", from the result files of a paper's runs."""

from __future__ import annotations

from pathlib import Path

from figures.bootstrap import mean_interval
from figures.reported import SOURCE, TABLE_2A, reported_beside
from figures.results import Run, error_matrix, read_runs
from figures.table import DASH, duration

HEADER = """\
# Reported and ours

Written by `make docs` from the result files of the runs; do not edit. The reported numbers are {source},
the best epoch on the test samples; ours are the mean relative L² error of 100 test samples with its 95 %
bootstrap interval over these samples (one seed: it does not know how a second seed would end), at the epoch
that the validation samples chose. "Ours, paper's protocol" is our best epoch on the test samples, where runs
have recorded it; it is then the one compared with the reported number.

| model | n | reported | ours | ours, paper's protocol | ours / reported | best epoch | training | per step |
|---|---|---|---|---|---|---|---|---|
"""


def write_reported_vs_ours(runs: list[Path], why: Path, command: str, output: Path) -> None:
    """Write the page: a row a run, then `why` (Markdown, by hand), then the command and the machine."""
    loaded = read_runs(runs)
    rows = "".join(_row(run) for run in loaded)
    facts = loaded[0].facts["training"]
    machines = sorted({f"{run.cost['device']}, {run.cost['threads']} thread(s) a run" for run in loaded})
    sizes = ", ".join(f"{facts[f'{split}_samples']} {split}" for split in ("train", "validation", "test"))
    text = f"""{HEADER.format(source=f"{SOURCE}, {TABLE_2A.name}")}{rows}
Samples: {sizes}. {facts["epochs"]} epochs, batches of {facts["batch_size"]}.
Machine: {"; ".join(machines)}, shared with other work while it ran. Command:

    {command}

{why.read_text(encoding="utf-8")}"""
    output.write_text(text, encoding="utf-8")


def _row(run: Run) -> str:
    cost = run.cost
    beside = reported_beside(run.facts, cost, TABLE_2A)
    reported = f"{beside.printed}e-3" if beside.printed else "no such row"
    tested, mean = cost.get("best_test_relative_l2"), None
    if run.diverged:
        ours = f"diverged (epoch {cost['diverged_epoch']})"
    else:
        errors = error_matrix([run.errors], run.resolution, run.noise).to_numpy()
        interval = mean_interval(errors)
        mean = interval.mean
        ours = f"{mean * 1e3:.3f}e-3 [{interval.low * 1e3:.3f}, {interval.high * 1e3:.3f}]"
    protocol = f"{tested * 1e3:.3f}e-3 (epoch {cost['best_test_epoch']})" if tested else DASH
    compared = tested or mean
    ratio = f"{compared / beside.value:.2f}" if beside.value and compared else DASH
    return (
        f"| {run.label} | {run.resolution} | {reported} | {ours} | {protocol} | {ratio} | "
        f"{cost['best_epoch']} of {cost['epochs']} | {duration(cost['train_seconds'])} | "
        f"{cost['seconds_per_step'] * 1e3:.0f} ms |\n"
    )
