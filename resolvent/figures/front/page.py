"""The front page of a study: what was run, the leaderboard, and the way to every other page."""

from __future__ import annotations

import base64
import io
import statistics
from collections import Counter
from pathlib import Path

import numpy as np

from resolvent.common.counts import counted
from resolvent.common.files import write_text
from resolvent.figures.common.commands import size_of
from resolvent.figures.common.numbers import DASH, absent, times
from resolvent.figures.common.page import render
from resolvent.figures.common.results import read_json
from resolvent.figures.dataset.error_budget import summary
from resolvent.figures.dataset.preview import DatasetPreview
from resolvent.figures.front import leaderboard
from resolvent.figures.front.results import NO_SOLVER, Results, Row, read_results
from resolvent.figures.front.study import PlannedPaper, read_study

PAGE = "index.html"
TABLE = "leaderboard.csv"
SIDE = 96  # pixels of a picture of a field, and units of the other pictures
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
    study = read_study(folder)
    results = read_results(study, folder)
    tables, rows = leaderboard.matrices(results), results.rows
    pages = {name: page for name, page in study.pages.items() if results.there(page)}
    render(
        "front.html.j2",
        folder / PAGE,
        root=folder,
        breadcrumbs=[],
        name=study.name,
        facts={
            "experiments": len(study.experiments),
            "datasets": len(study.datasets),
            "lost": [row for row in rows if any(run.state != "finished" for run in row.runs)],
        }
        | _facts(rows),
        planned=study.experiments,
        matrices=tables,
        not_begun=[study.experiments[name].title for name in results.not_begun],
        no_solver=NO_SOLVER if any(NO_SOLVER in table["classical"] for table in tables) else "",
        rows=by_error(results),
        scale=leaderboard.scale_of(rows),
        strip=leaderboard.strip,
        interval=leaderboard.interval,
        ratio=leaderboard.ratio_in_words,
        filters=_filters(results),
        note="" if results.is_ranked or not any(row.error for row in rows) else leaderboard.SEEDS,
        experiments=[
            {
                "title": planned.title,
                "dataset": planned.dataset,
                "page": planned.page if results.there(planned.page) else "",
                "best": leaderboard.best_in_words(
                    [row for row in results.of(name) if row.planned.resolution == planned.finest]
                ),
            }
            | _facts(results.of(name))
            for name, planned in study.experiments.items()
        ],
        datasets=[_dataset_card(results, name) for name in study.datasets],
        papers=[_paper_card(results, key, paper) for key, paper in study.papers.items() if paper.page],
        theory=THEORY if "theory" in pages else {},
        stability=pages.get("stability", ""),
        there=results.there,
        command=study.command,
        provenance=study.provenance,
    )
    write_text(folder / TABLE, leaderboard.as_csv(results))
    return results


def by_error(results: Results) -> list[Row]:
    """Return all rows by experiment, the lowest error first; those not begun come last."""
    order = sorted(results.study.experiments, key=lambda name: name in results.not_begun)
    return sorted(results.rows, key=lambda row: (order.index(row.experiment), leaderboard.by_error(row)))


def _facts(rows: list[Row]) -> dict:
    """Return how many runs there are in each state, their seconds of training and their machines."""
    runs = [run for row in rows for run in row.runs]
    counts = Counter(run.state for run in runs)
    return {
        "runs": len(runs),
        **{state: counts[state] for state in ("finished", "diverged", "missing")},
        "seconds": sum(run.seconds for run in runs) or None,
        "devices": sorted({run.device for run in runs} - {""}),
    }


def _filters(results: Results) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return name, label and choices (value, words) of each filter of the long table."""
    rows, papers = results.rows, results.study.papers
    found = {row.planned.resolution for row in rows}
    resolutions = sorted(found, key=lambda one: (isinstance(one, str), one))
    choices = {
        ("problem", "Problem"): [(row.experiment, row.title) for row in rows],
        ("paper", "Paper"): [(key, papers[key].name) for row in rows for key in row.papers],
        ("recipe", "Recipe"): [(row.planned.recipe or "none",) * 2 for row in rows],
        ("resolution", "Resolution"): [(str(one),) * 2 for one in resolutions],
        ("seed", "Seed"): [(run.seed,) * 2 for run in results.runs],
    }
    return [(*names, list(dict.fromkeys(pairs))) for names, pairs in choices.items()]


def _dataset_card(results: Results, name: str) -> dict:
    """Return what the page shows of a dataset; one that is not made yet has no facts."""
    planned, folder = results.study.datasets[name], results.folder
    card = {"name": name, "page": planned.page if results.there(planned.page) else "", "picture": ""}
    if not results.there(planned.card):
        return card | {"made": False}
    facts = read_json(folder / planned.card)
    errors = summary(facts)
    if results.there(planned.preview):
        card["picture"] = _picture(DatasetPreview(folder / planned.card, folder / planned.preview))
    return card | {
        "made": True,
        "words": facts["equation"]["in_words"],
        "samples": sum(facts["samples"].values()),
        "accuracy": "" if facts.get("imported") else errors["accuracy"],
        "measured": errors["largest"] or DASH,
        "grid": errors["grid_largest"],
        "size": size_in_words(folder / planned.store),
    }


def size_in_words(store: Path) -> str:
    """Return the size of a store on disk; one that lies in an object store says so."""
    return size_of(store) or ("in an object store" if store.is_file() else "not on this disk")


def _picture(preview: DatasetPreview) -> str:
    """Return the first sample's targets as HTML: curves as SVG, each scaled to it, a field as a small PNG.

    Of a field of more than two dimensions the last two are drawn.
    """
    functions = [one for one in preview.functions if one.role == "target"][:3]
    if not functions:
        return ""
    names, samples = (
        [one.long_name for one in functions],
        [np.asarray(one.samples[0], float) for one in functions],
    )
    if len(functions[0].dims) > 1:
        from matplotlib.image import imsave

        field = samples[0].reshape(-1, *samples[0].shape[-2:])[-1]
        step = max(1, -(-max(field.shape) // (2 * SIDE)))
        file = io.BytesIO()
        imsave(file, field[::step, ::step], cmap="viridis", origin="lower", format="png")
        source = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
        return f'<img class="picture" src="{source}" alt="One sample: {names[0]}" width="192" height="96">'
    lines = []
    for values in samples:
        values = values[:: max(1, len(values) // 256)]
        low, high = float(values.min()), float(values.max())
        y = SIDE * (0.92 - 0.84 * (values - low) / ((high - low) or 1.0))
        x = np.linspace(2, 2 * SIDE - 2, len(values))
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        lines.append(f'<polyline points="{points}"/>')
    return (
        f'<svg class="picture" viewBox="0 0 {2 * SIDE} {SIDE}" preserveAspectRatio="none" role="img" '
        f'aria-label="One sample: {" and ".join(names)}">{"".join(lines)}</svg>'
    )


def _paper_card(results: Results, key: str, paper: PlannedPaper) -> dict:
    """Return the items of a paper, made or not, and how our numbers compare with the reported ones."""
    compared = [
        row.tested.facts["ratio_to_reported"] for row in results.rows if key in row.papers and row.tested
    ]
    ratios, models = [one for one in compared if not absent(one)], counted(len(compared), "model")
    if ratios:
        words = (
            f"{len(ratios)} of {models} {'has' if len(ratios) == 1 else 'have'} a reported number in the "
            f"very same setting; ours is {times(statistics.median(ratios))} times it in the median, "
            f"{times(min(ratios))} to {times(max(ratios))}."
        )
    elif compared:
        words = (
            f"None of {models} has a reported number in the very same setting, so none is compared; the page "
            "of the paper says what differs."
        )
    else:
        words = "No model is compared yet."
    return {
        "name": paper.name,
        "page": paper.page if results.there(paper.page) else "",
        "ratio": words,
        "made": [(name, title) for name, title in paper.items.items() if name in paper.made],
        "absent": [title for name, title in paper.items.items() if name not in paper.made],
    }
