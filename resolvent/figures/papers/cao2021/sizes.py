"""Table 5 of Cao 2021: layers, widths, modes and parameters of the networks."""

from resolvent.figures.common.numbers import DASH
from resolvent.figures.common.results import Run
from resolvent.figures.common.table import Cell, Table, columns
from resolvent.figures.papers.cao2021.reported import network, parameters
from resolvent.figures.published.beside import record

COLUMNS = ("encoder_layers", "encoder_width", "heads", "spectral_layers", "decoder_width", "modes")


def draw_sizes(experiments: list[list[Run]]) -> Table:
    """Return a row for each model: its sizes, with the paper's below where they differ, and its parameters.

    A complex parameter counts as two, as in the paper.
    """
    models = {run.model: run for runs in experiments for run in runs}  # the finest grid's
    heads = columns(
        ("", ["model"]),
        ("encoder", ["layers", "width", "heads"]),
        ("decoder", ["spectral layers", "width", "modes"]),
        ("parameters", ["ours", "Cao 2021"]),
    )
    return Table(heads, [_row(run) for run in models.values()])


def _row(run: Run) -> list[Cell]:
    recorded = record(run.record)
    reported = network(recorded)
    sizes = sizes_of(recorded)
    entries = [Cell(run.label)]
    for column in COLUMNS:
        ours, paper = sizes[column], reported[column] if reported else ""
        same = reported is None or paper.partition("x")[0] == ours  # "32x32" is the width 32
        entries.append(Cell(ours or DASH, note="" if same else f"paper {paper or DASH}"))
    return [
        *entries,
        Cell(f"{run.cost.parameters:,}"),
        _reported(run.cost.parameters, recorded, reported),
    ]


def _reported(count: int, recorded: dict, reported: dict[str, str] | None) -> Cell:
    if reported is None:
        return Cell(DASH, note="no such network")
    low, high = parameters(recorded)
    return Cell(reported["parameters"], note="" if low <= count <= high else "differs")


def sizes_of(recorded: dict) -> dict[str, str]:
    """Return our sizes in the words of Table 5, empty where the network has no such part."""
    if recorded["architecture"].startswith("fno"):
        decoder = [recorded.get(name) for name in ("num_layers", "width", "modes")]
        values = [0, None, None, *decoder]
    else:
        encoder = [recorded.get(name) for name in ("num_layers", "width", "num_heads")]
        spectral = "modes" in recorded
        decoder = [recorded.get(name) for name in ("decoder_layers", "decoder_width", "modes")]
        values = [*encoder, *(decoder if spectral else (0, None, None))]
    return dict(zip(COLUMNS, ("" if value is None else str(value) for value in values), strict=True))
