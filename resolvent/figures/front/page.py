"""The front page of a study: what was run, the leaderboard, and the way to every other page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from resolvent.common.files import write_text
from resolvent.figures.common.page import render
from resolvent.figures.front.cards import dataset_cards, paper_cards
from resolvent.figures.front.leaderboard import (
    SEEDS,
    as_csv,
    best_in_words,
    interval,
    matrices,
    not_begun,
    ratio_in_words,
    scale_of,
    strip,
)
from resolvent.figures.front.results import NO_SOLVER, Results, Row, read_results
from resolvent.figures.front.study import read_study

PAGE = "index.html"
TABLE = "leaderboard.csv"
THEORY = {  # sections of the page of the theory
    "projection": "Galerkin attention is a projection, if the bases allow",
    "cost": "linear against quadratic cost",
    "convergence": "from sums to integrals",
    "continuum": "attention between functions",
    "invariance": "the same operator on every grid",
}


def write_front_page(folder: str | Path) -> Results:
    """Write index.html and leaderboard.csv into the folder of a study, from its study.json and the rest.

    Returns what was found. Raises a FileError where study.json is missing, or any file is damaged.
    """
    folder = Path(folder)
    results = read_results(read_study(folder), folder)
    scale = scale_of(results.rows)
    tables = matrices(results)
    study = results.study
    render(
        "front.html.j2",
        folder / PAGE,
        root=folder,
        breadcrumbs=[],
        name=study.name,
        facts=facts(results),
        planned=study.experiments,
        matrices=tables,
        not_begun=[study.experiments[name].title for name in not_begun(results)],
        no_solver=NO_SOLVER if any(NO_SOLVER in table.classical for table in tables) else "",
        rows=by_error(results),
        scale=scale,
        strip=strip,
        interval=interval,
        ratio=ratio_in_words,
        filters=filters(results),
        note="" if results.is_ranked or not any(row.error for row in results.rows) else SEEDS,
        experiments=[experiment(results, name) for name in study.experiments],
        datasets=dataset_cards(results),
        papers=paper_cards(results),
        theory=THEORY if results.there(study.pages.get("theory", "-")) else {},
        stability=study.pages.get("stability", "")
        if results.there(study.pages.get("stability", "-"))
        else "",
        there=results.there,
        command=study.command,
        provenance=study.provenance,
    )
    write_text(folder / TABLE, as_csv(results))
    return results


def facts(results: Results) -> dict:
    """Return the numbers of the first lines: runs by state, seconds of training, machines."""
    runs = [run for run in results.runs if run.state != "missing"]
    return {
        "experiments": len(results.study.experiments),
        "datasets": len(results.study.datasets),
        "runs": len(results.runs),
        **{state: results.counts[state] for state in ("finished", "diverged", "missing")},
        "seconds": sum(run.seconds for run in runs),
        "devices": sorted({run.device for run in runs}),
        "lost": [row for row in results.rows if any(run.state != "finished" for run in row.runs)],
    }


def experiment(results: Results, name: str) -> dict:
    """Return what the page says of an experiment."""
    planned, rows = results.study.experiments[name], results.of(name)
    runs = [run for row in rows for run in row.runs]
    states = {state: sum(run.state == state for run in runs) for state in ("finished", "diverged", "missing")}
    return {
        "name": name,
        "title": planned.title,
        "dataset": planned.dataset,
        "page": planned.page if results.there(planned.page) else "",
        "runs": len(runs),
        "lost": ", ".join(
            f"{count} {state}" for state, count in states.items() if count and state != "finished"
        ),
        **states,
        "seconds": sum(run.seconds for run in runs) or None,
        "best": best_in_words([row for row in rows if row.planned.resolution == planned.finest]),
    }


def filters(results: Results) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return name, label and choices (value, words) of each filter of the long table."""
    rows, papers = results.rows, results.study.papers
    return [
        ("problem", "Problem", _choices((row.experiment, row.title) for row in rows)),
        ("paper", "Paper", _choices((key, papers[key].name) for row in rows for key in row.papers)),
        ("recipe", "Recipe", _choices((recipe(row), recipe(row)) for row in rows)),
        ("resolution", "Resolution", _choices((str(r), str(r)) for r in resolutions(rows))),
        ("seed", "Seed", _choices((run.seed, run.seed) for row in rows for run in row.runs)),
    ]


def by_error(results: Results) -> list[Row]:
    """Return all rows by experiment, the lowest error first; those not begun come last."""
    waiting = not_begun(results)
    order = sorted(results.study.experiments, key=lambda name: name in waiting)
    return sorted(
        results.rows,
        key=lambda row: (order.index(row.experiment), row.error.value if row.error else float("inf")),
    )


def recipe(row: Row) -> str:
    """Return the recipe that a model starts from, or "none"."""
    return row.planned.recipe or "none"


def resolutions(rows: list[Row]) -> list[int | str]:
    """Return all training resolutions, numbers in their order."""
    found = {row.planned.resolution for row in rows}
    return sorted(found, key=lambda one: (isinstance(one, str), one))


def _choices(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return list(dict.fromkeys(pairs))
