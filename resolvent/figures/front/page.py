"""The front page of a study: runs, leaderboard, and links to all other pages."""

import base64
import io
from collections import Counter
from html import escape
from pathlib import Path

import numpy as np

from resolvent.common.files import write_text
from resolvent.figures.common.commands import size_of
from resolvent.figures.common.comparison import STANDARDISED
from resolvent.figures.common.exhibit import Section
from resolvent.figures.common.numbers import DASH, ratio_in_words
from resolvent.figures.common.page import STUDY_PAGES, render
from resolvent.figures.common.results import read_card
from resolvent.figures.common.table import as_html
from resolvent.figures.dataset.error_budget import summary
from resolvent.figures.dataset.preview import DatasetPreview
from resolvent.figures.front import leaderboard
from resolvent.figures.front.results import NO_SOLVER, Results, Row, read_results
from resolvent.figures.front.study import read_study

PAGE = STUDY_PAGES["front_page"].file
SECTIONS = (
    Section("leaderboard", "Leaderboard", parts={"all": "All results"}),
    Section("experiments", "Experiments"),
    Section("datasets", "Datasets"),
    Section("papers", "Papers"),
    Section("again", "Reproduce"),
)
SIDE = 96  # pixels of a field's picture, and units of other pictures


def write_front_page(folder: str | Path) -> Results:
    """Write index.html and leaderboard.csv into a study's folder, from study.json and existing results.

    Returns the results. Raises `FileError` if study.json is missing, or a file is damaged.
    """
    folder = Path(folder)
    study = read_study(folder)
    results = read_results(study, folder)
    tables, rows = leaderboard.matrices(results), results.rows
    render(
        "front.html.j2",
        folder / PAGE,
        root=folder,
        breadcrumbs=[],
        study_pages={file: title for file, title in study.pages.items() if results.there(file)},
        planned=study,
        facts=_facts(rows),
        lost=[row for row in rows if any(run.state != "finished" for run in row.runs)],
        matrices=tables,
        not_begun=[study.experiments[name].title for name in results.not_begun],
        no_solver=NO_SOLVER if any(NO_SOLVER in table["classical"] for table in tables) else "",
        standardised=any(row.tested and row.tested.leads == STANDARDISED for row in rows),
        by_grids="".join(map(as_html, leaderboard.grid_tables(results))),
        rows=leaderboard.by_experiment(results),
        ratio=lambda row: ratio_in_words(row.ratio),
        pays=leaderboard.pays_in_words,
        note=leaderboard.why_not_ranked(results),
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
        papers=[paper for paper in study.papers.values() if paper.page],
        there=results.there,
        sections=SECTIONS,
    )
    table = leaderboard.as_table(results)
    write_text(folder / "leaderboard.csv", table.to_csv(index=False, lineterminator="\n"))
    return results


def _facts(rows: list[Row]) -> dict:
    runs = [run for row in rows for run in row.runs]
    counts, costs = Counter(run.state for run in runs), [run.cost for run in runs if run.cost]
    return {
        "runs": len(runs),
        **{state: counts[state] for state in ("finished", "diverged", "missing")},
        "seconds": sum(cost.train_seconds for cost in costs) or None,
        "devices": sorted({cost.device for cost in costs}),
    }


def _dataset_card(results: Results, name: str) -> dict:
    planned, folder = results.study.datasets[name], results.folder
    card = {"name": name, "page": planned.page if results.there(planned.page) else "", "picture": ""}
    if not results.there(planned.card):
        return card | {"made": False}
    if results.there(planned.preview):
        card["picture"] = _picture(DatasetPreview(folder / planned.card, folder / planned.preview))
    facts, store = read_card(folder / planned.card), folder / planned.store
    errors = summary(facts)
    return card | {
        "made": True,
        "words": facts["equation"]["in_words"],
        "samples": sum(facts["samples"].values()),
        "accuracy": "" if facts.get("imported") else errors["accuracy"],
        "measured": errors["largest"] or DASH,
        "grid": errors["grid_largest"],
        # For a store elsewhere, there is a file with its address.
        "size": size_of(store) or ("in an object store" if store.is_file() else "not on this disk"),
    }


def _picture(preview: DatasetPreview) -> str:
    """Return the first sample's targets as HTML: scaled curves, or a field in its last two dimensions."""
    functions = [function for function in preview.functions if function.role == "target"][:3]
    if not functions:
        return ""
    names = [escape(function.long_name) for function in functions]
    samples = [np.asarray(function.samples[0], float) for function in functions]
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
