"""Table 6 of Cao 2021: hours of training."""

from resolvent.figures.common.numbers import DASH, in_units
from resolvent.figures.common.results import Run
from resolvent.figures.common.table import Cell, Table, columns
from resolvent.figures.papers.cao2021.reported import TABLE_6
from resolvent.figures.published.beside import reported_beside

EXAMPLES = {"burgers": "Burgers", "darcy": "Darcy", "darcy_inverse": "inverse Darcy"}


def draw_hours(experiments: list[list[Run]]) -> Table:
    """Return a row for each label, a pair of columns (ours, the paper's) for each example and resolution.

    Ours is the mean over the runs that finished, whatever their seed and noise.
    """
    cells: dict[tuple[str, tuple[str, int]], list[Run]] = {}
    for run in (run for runs in experiments for run in runs):
        place = (run.record.dataset_settings["equation"], run.resolution)
        cells.setdefault((run.label, place), []).append(run)
    labels = list(dict.fromkeys(label for label, _ in cells))
    places = sorted(
        {place for _, place in cells}, key=lambda place: (list(EXAMPLES).index(place[0]), place[1])
    )
    groups = ((f"{EXAMPLES[equation]}, n = {points}", ["ours", "Cao 2021"]) for equation, points in places)
    rows = [
        [Cell(label), *(entry for place in places for entry in _pair(cells.get((label, place), [])))]
        for label in labels
    ]
    return Table(columns(("", ["model"]), *groups), rows)


def _pair(runs: list[Run]) -> list[Cell]:
    if not runs:
        return [Cell(DASH), Cell(DASH)]
    beside = reported_beside(runs[0].record, runs[0].cost, TABLE_6)
    paper = Cell(DASH if beside.value is None else beside.digits)
    hours = [run.cost.train_seconds / 3600 for run in runs if not run.diverged]
    if not hours:
        return [Cell("diverged", lost=True), paper]
    return [Cell(in_units(sum(hours) / len(hours), TABLE_6.unit)), paper]
