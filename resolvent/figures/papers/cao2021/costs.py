"""Tables 1, 5 and 6 of Cao 2021: steps of the four attentions, sizes of the networks, hours of training."""

from pathlib import Path

from resolvent.figures.common.numbers import DASH, in_units
from resolvent.figures.common.results import Run, read_table
from resolvent.figures.common.table import EMPTY, Cell, Table, columns
from resolvent.figures.papers.cao2021.reported import TABLE_6, TABLES, network, parameters
from resolvent.figures.published.beside import record, reported_beside
from resolvent.figures.published.tables import reported_rows
from resolvent.figures.theory.attention import NAMES

STEP_COSTS = TABLES / "table1.csv"
PAPERS_SIZES = {"points": 8192, "batch_size": 4}
SCOPES = {"transformer1d": "Example 1", "encoder": "Encoders only"}
COLUMNS = ["scope", "attention", "contraction", "points", "batch_size", "peak_bytes", "flop", "seconds"]
PARTS = (
    "encoder_layers",
    "encoder_width",
    "heads",
    "spectral_layers",
    "decoder_width",
    "modes",
)  # of Table 5
EXAMPLES = {"burgers": "Burgers", "darcy": "Darcy", "darcy_inverse": "inverse Darcy"}


def draw_step_costs(cost_file: str | Path) -> Table:
    """Return Table 1: ours as measured, and the paper's where the sizes are the paper's."""
    table = read_table(Path(cost_file), [*COLUMNS, "allocated_bytes"])
    paper = {(row["problem"], row["attention"]): row for row in reported_rows(STEP_COSTS)}
    rows = []
    for case in table.to_dict("records"):
        measured = (
            case["peak_bytes"] / 1e9,
            case["allocated_bytes"] / 1e9,
            1 / case["seconds"],
            case["flop"] / 1e9,
        )
        reported, beside = paper[case["scope"], case["attention"]], [EMPTY] * 4
        # The paper computes the n × n matrix of Fourier attention first.
        if not differences(case) and (case["attention"], case["contraction"]) != ("fourier", "linear"):
            beside = [
                Cell(reported[name]) for name in ("memory_gb", "cuda_memory_gb", "steps_per_second", "gflop")
            ]
        digits = [f"{one:,.0f}" if one >= 1000 else f"{one:#.3g}".rstrip(".") for one in measured]
        rows.append([Cell(f"{SCOPES[case['scope']]}: {name_of(case)}"), *map(Cell, digits), *beside])
    heads = columns(
        ("", ["attention"]),
        ("ours", ["peak GB", "allocated GB", "steps/s", "GFLOP"]),
        ("Cao 2021", ["memory, GB", "CUDA memory, GB", "steps/s", "GFLOP"]),
    )
    return Table(heads, rows)


def name_of(case: dict) -> str:
    """Return the attention, and for fourier the order of its products."""
    order = f"_{case['contraction']}" if case["attention"] == "fourier" else ""
    return NAMES[f"{case['attention']}{order}"]


def differences(case: dict) -> list[str]:
    """List sizes that are not the paper's."""
    return [
        f"{name.replace('_', ' ')} {case[name]} (paper {size})"
        for name, size in PAPERS_SIZES.items()
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


def draw_sizes(experiments: list[list[Run]]) -> Table:
    """Return Table 5: the sizes of each model, the paper's below where they differ, and its parameters."""
    rows = []
    for run in {run.model: run for runs in experiments for run in runs}.values():  # of the finest grid
        recorded, count = record(run.record), run.cost.parameters
        reported, paper_count = network(recorded), Cell(DASH, note="no such network")
        entries = [Cell(run.label)]
        for name, ours in sizes_of(recorded).items():
            paper = reported[name] if reported else ""
            same = reported is None or paper.partition("x")[0] == ours  # "32x32" is the width 32
            entries.append(Cell(ours or DASH, note="" if same else f"paper {paper or DASH}"))
        if reported:
            low, high = parameters(recorded) or (0, 0)
            paper_count = Cell(reported["parameters"], note="" if low <= count <= high else "differs")
        rows.append([*entries, Cell(f"{count:,}"), paper_count])
    heads = columns(
        ("", ["model"]),
        ("encoder", ["layers", "width", "heads"]),
        ("decoder", ["spectral layers", "width", "modes"]),
        ("parameters", ["ours", "Cao 2021"]),
    )
    return Table(heads, rows)


def sizes_of(recorded: dict) -> dict[str, str]:
    """Return our sizes in the words of Table 5, empty where the network has no such part."""
    decoder = ("decoder_layers", "decoder_width", "modes")
    if recorded["architecture"].startswith("fno"):
        values = [0, None, None, *map(recorded.get, ("num_layers", "width", "modes"))]
    else:
        encoder = map(recorded.get, ("num_layers", "width", "num_heads"))
        values = [*encoder, *(map(recorded.get, decoder) if "modes" in recorded else (0, None, None))]
    return dict(zip(PARTS, ("" if value is None else str(value) for value in values), strict=True))


def draw_hours(experiments: list[list[Run]]) -> Table:
    """Return Table 6: a pair of columns (ours, the paper's) for each example and resolution.

    Ours is the mean over the runs that finished, whatever their seed and noise.
    """
    cells: dict[str, dict[tuple, list[Run]]] = {}  # by label, and by example and resolution
    for run in (run for runs in experiments for run in runs):
        place = (list(EXAMPLES).index(run.record.dataset_settings["equation"]), run.resolution)
        cells.setdefault(run.label, {}).setdefault(place, []).append(run)
    places = sorted({place for by_place in cells.values() for place in by_place})
    rows = []
    for label, by_place in cells.items():
        rows.append([Cell(label)])
        for runs in (by_place.get(place, []) for place in places):
            beside = reported_beside(runs[0].record, runs[0].cost, TABLE_6) if runs else None
            hours = [run.cost.train_seconds / 3600 for run in runs if not run.diverged]
            ours = Cell("diverged", lost=True) if runs else EMPTY
            if hours:
                ours = Cell(in_units(sum(hours) / len(hours), TABLE_6.unit))
            rows[-1] += [ours, EMPTY if beside is None or beside.value is None else Cell(beside.digits)]
    names = list(EXAMPLES.values())
    groups = ((f"{names[equation]}, n = {points}", ["ours", "Cao 2021"]) for equation, points in places)
    return Table(columns(("", ["model"]), *groups), rows)
