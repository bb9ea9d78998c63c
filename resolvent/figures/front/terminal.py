"""Print the leaderboard in a terminal (80 columns or more), and write the front page."""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shutil import which

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from resolvent.common.counts import counted
from resolvent.common.sums import write_sums
from resolvent.figures.common.intervals import Interval
from resolvent.figures.common.numbers import DASH, duration, ratio_in_words, scientific
from resolvent.figures.front.leaderboard import by_error, why_not_ranked, with_interval
from resolvent.figures.front.page import PAGE, write_front_page
from resolvent.figures.front.results import Results, Row, read_results
from resolvent.figures.front.study import read_study

NEXT = {
    "resolvent plan": "time and disk space that the default study needs",
    "resolvent run burgers": "only its dataset and models of Burgers' equation",
    "resolvent import FILE -o mine.yaml": "your own data as a dataset",
}


def show(folder: Path, *, write: bool = True) -> None:
    """Print the leaderboard of a study, finished or not, and the address of its front page.

    write  whether to write the front page first.
    """
    if write:
        results = write_front_page(folder)
        write_sums(folder)
    else:
        results = read_results(read_study(folder), folder)
    print_leaderboard(results)
    print(f"The front page: {(folder / PAGE).resolve().as_uri()}")
    if results.study.name == "demo":
        print("\n".join(_next_steps()))


def _next_steps() -> Iterator[str]:
    """Yield the lines after the demo, which hold in a checkout and where the package is installed."""
    prefix = Path(sys.prefix)
    inside = prefix.relative_to(Path.cwd()) if prefix.is_relative_to(Path.cwd()) else prefix
    active = which("resolvent") or not (prefix / "bin/activate").is_file()
    yield "Next:" if active else f"Next, after `. {inside}/bin/activate`:"
    for command, words in NEXT.items():
        yield f"  {command:36}{words}"
    if (guide := Path("docs/quickstart.md")).is_file():
        yield f"More: {guide}"


def print_leaderboard(results: Results, console: Console | None = None) -> None:
    """Print one table per experiment, lowest error first, and the number of runs."""
    console = console or Console()
    for name, planned in results.study.experiments.items():
        console.print(_table(planned.title, results.of(name), results.is_ranked))
    counts = Counter(run.state for run in results.runs)
    words = ", ".join(f"{counts[state]} {state}" for state in ("finished", "diverged", "missing"))
    console.print(f"{counted(len(results.runs), 'run')}: {words}. {why_not_ranked(results)}")


def _table(title: str, rows: list[Row], ranked: bool) -> Table:
    # As `Text`, in which [words] are no style.
    named = Text(title, "bold")
    table = Table(title=named, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("model")
    for head in ("n", "relative L² error", "ratio", "training"):
        table.add_column(head, justify="right", no_wrap=True)
    if ranked:
        table.add_column("verdict")
    for row in sorted(rows, key=by_error):
        error = with_interval(row.error) if row.error else row.verdict
        cells = [error, ratio_in_words(row.ratio)[0] or DASH, duration(row.seconds)]
        verdict = [row.verdict if row.error else ""] * ranked
        table.add_row(Text(row.planned.label), row.grids.removeprefix("n = "), *cells, *verdict)
    for grids, solver in {row.grids: row.classical for row in rows}.items():
        if isinstance(solver, Interval):
            cells = [grids.removeprefix("n = "), scientific(solver.value), DASH, DASH]
            table.add_row("classical solver, same grid", *cells, style="dim")
    return table
