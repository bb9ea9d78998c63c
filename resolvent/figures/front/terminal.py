"""Print the leaderboard in a terminal (80 columns or more), and write the front page."""

from collections import Counter
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from resolvent.common.counts import counted
from resolvent.figures.common.intervals import Interval
from resolvent.figures.common.numbers import DASH, duration, scientific
from resolvent.figures.front.leaderboard import SEEDS, by_error, ratio_in_words, with_interval
from resolvent.figures.front.page import PAGE, write_front_page
from resolvent.figures.front.results import Results, Row


def show(folder: Path) -> None:
    """Write the front page of a study, finished or not, and print its leaderboard and the page's address."""
    print_leaderboard(write_front_page(folder))
    print(f"The front page: {(folder / PAGE).resolve().as_uri()}")


def print_leaderboard(results: Results, console: Console | None = None) -> None:
    """Print one table per experiment, lowest error first, and the number of runs."""
    console = console or Console()
    for name, planned in results.study.experiments.items():
        console.print(_table(planned.title, results.of(name), results.is_ranked))
    counts = Counter(run.state for run in results.runs)
    words = ", ".join(f"{counts[state]} {state}" for state in ("finished", "diverged", "missing"))
    console.print(f"{counted(len(results.runs), 'run')}: {words}. {'' if results.is_ranked else SEEDS}")


def _table(title: str, rows: list[Row], ranked: bool) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("model")
    for head in ("n", "relative L² error", "ratio", "training"):
        table.add_column(head, justify="right", no_wrap=True)
    if ranked:
        table.add_column("verdict")
    for row in sorted(rows, key=by_error):
        error = with_interval(row.error) if row.error else row.verdict
        cells = [error, ratio_in_words(row)[0] or DASH, duration(row.seconds)]
        verdict = [row.verdict if row.error else ""] * ranked
        table.add_row(row.planned.label, str(row.planned.resolution), *cells, *verdict)
    for place, one in {row.planned.resolution: row.classical for row in rows}.items():
        if isinstance(one, Interval):
            cells = [str(place), scientific(one.value), DASH, DASH]
            table.add_row("classical solver, same grid", *cells, style="dim")
    return table
