"""Table 1 of Cao 2021: memory, speed and operations of the four attentions."""

from pathlib import Path

from resolvent.figures.common.results import read_table
from resolvent.figures.common.table import EMPTY, Cell, Table, columns
from resolvent.figures.published.tables import reported_rows
from resolvent.figures.theory.attention import NAMES

FILE = "cao2021_table1.csv"
POINTS, BATCH_SIZE = 8192, 4
SCOPES = {"transformer1d": "Example 1", "encoder": "Encoders only"}
REPORTED = ("memory_gb", "cuda_memory_gb", "steps_per_second", "gflop")
MEASURED = ["peak GB", "allocated GB", "steps/s", "GFLOP"]
COLUMNS = ["scope", "attention", "contraction", "points", "batch_size", "peak_bytes", "flop", "seconds"]


def draw_step_costs(cost_file: str | Path) -> Table:
    """Return Table 1: ours as measured, and the paper's where the sizes are the paper's."""
    table = read_table(Path(cost_file), [*COLUMNS, "allocated_bytes"])
    paper = {(row["problem"], row["attention"]): row for row in reported_rows(FILE)}
    rows = [
        [
            Cell(f"{SCOPES[case['scope']]}: {name_of(case)}"),
            Cell(_digits(case["peak_bytes"] / 1e9)),
            Cell(_digits(case["allocated_bytes"] / 1e9)),
            Cell(_digits(1 / case["seconds"])),
            Cell(_digits(case["flop"] / 1e9)),
            *_beside(case, paper[case["scope"], case["attention"]]),
        ]
        for case in table.to_dict("records")
    ]
    reported = ["memory, GB", "CUDA memory, GB", "steps/s", "GFLOP"]
    return Table(columns(("", ["attention"]), ("ours", MEASURED), ("Cao 2021", reported)), rows)


def name_of(case: dict) -> str:
    """Return the attention, and for fourier the order of its products."""
    order = f"_{case['contraction']}" if case["attention"] == "fourier" else ""
    return NAMES[f"{case['attention']}{order}"]


def differences(case: dict) -> list[str]:
    """List sizes that are not the paper's."""
    sizes = {"points": POINTS, "batch_size": BATCH_SIZE}
    return [
        f"{name.replace('_', ' ')} {case[name]} (paper {size})"
        for name, size in sizes.items()
        if case[name] != size
    ]


def remark(case: dict) -> tuple[str, list[str]]:
    """Return what was measured, and how it differs from the paper."""
    timings = "1 timing" if case["rounds"] == 1 else f"the median of {case['rounds']} timings"
    run = (
        f"One forward and backward pass at n = {case['points']:,}, batch {case['batch_size']}, no dropout, "
        f"on {case['device']}; {timings}, each attention in a process of its own."
    )
    return run, [*differences(case), "the machine (paper: one RTX 3090)"]


def _beside(case: dict, reported: dict[str, str]) -> list[Cell]:
    differing = differences(case)
    if case["attention"] == "fourier" and case["contraction"] != "quadratic":
        differing.append("the paper computes the n × n matrix first")
    if differing:
        return [EMPTY] * len(REPORTED)
    return [Cell(reported[name]) for name in REPORTED]


def _digits(value: float) -> str:
    """Return three significant digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:#.3g}".rstrip(".")
