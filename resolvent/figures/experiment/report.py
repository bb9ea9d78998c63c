"""The report: one self-contained page with the table, the figures, the data behind them and their origin."""

from pathlib import Path

from resolvent.figures.common.comparison import read_comparison
from resolvent.figures.common.page import inlined_figure, render, split_card
from resolvent.figures.common.results import Run, read_json, read_runs
from resolvent.figures.common.table import as_html
from resolvent.figures.common.words import differences_from_paper, differences_of_recipes, summarise
from resolvent.figures.experiment.error_table import (
    BEST_TEST,
    MEDIAN,
    OVER_BEST,
    headline,
    of_all_metrics,
    of_every_condition,
)
from resolvent.figures.experiment.tuned import tuning_of
from resolvent.figures.published.beside import example_of


def write_report(
    output: str | Path,
    *,
    title: str,
    command: str,
    table: str | Path,
    runs: list[str | Path],
    cards: list[str | Path],
    figures: list[tuple[str | Path, str, str]],
    provenance: dict[str, str],
    predicted: list[tuple[float, float]],
    root: str | Path,
    paper_pages: list[tuple[str, str]] = (),
) -> None:
    """Write the page, all at once.

    `table` is the comparison CSV, `runs` the run directories, `cards` the dataset cards (JSON), `figures` are
    (SVG or PNG file, title, caption), `provenance` is what only the caller knows: git revision, machine, ...
    `paper_pages` are names and links of the pages of papers whose tables or figures these runs give,
    `predicted` what each run was predicted to take: seconds of training and bytes of memory.
    """
    loaded = read_runs(runs)
    comparison = read_comparison(table)
    errors = headline(comparison)
    heads = {column.head for column in errors.columns}
    render(
        "report.html.j2",
        output,
        root=root,
        breadcrumbs=[("Experiments", "index.html#experiments"), (title, "")],
        title=title,
        command=command,
        summary=summarise(loaded),
        differences=differences_from_paper(loaded),
        recipes=differences_of_recipes(loaded),
        paper=paper_of(loaded),
        paper_pages=paper_pages,
        headline=as_html(errors),
        has_ratio=OVER_BEST in heads,
        has_best_test=BEST_TEST in heads,
        has_median=MEDIAN in heads,
        all_metrics="".join(map(as_html, of_all_metrics(comparison))),
        every_condition=as_html(of_every_condition(comparison)),
        tuning=tuning_of(loaded),
        seeds=sorted({run.seed for run in loaded}),
        samples=int(comparison["samples"].max()),
        several_resolutions=comparison["test_resolution"].nunique() > 1,
        several_noises=comparison["test_noise"].nunique() > 1,
        figures=[inlined_figure(*figure, folder=Path(output).parent) for figure in figures],
        cards=[split_card(read_json(card), Path(card).name) for card in cards],
        runs=loaded,
        predicted_costs=costs_beside_prediction(runs, predicted),
        provenance=provenance,
    )


def costs_beside_prediction(runs: list[str | Path], predicted: list[tuple[float, float]]) -> list[dict]:
    """Return hours of all runs and gigabytes of one, measured and predicted, by model and resolution.

    A ratio is None where a diverged run ended early.
    """
    rows: dict[tuple[str, str], dict] = {}
    for folder, (seconds, size) in zip(runs, predicted, strict=True):
        (run,) = read_runs([folder])
        row = rows.setdefault(
            (run.label, run.where), {"hours": 0.0, "predicted_hours": 0.0, "gigabytes": 0.0, "whole": True}
        )
        row["hours"] += run.cost.train_seconds / 3600
        row["predicted_hours"] += seconds / 3600
        row["gigabytes"] = max(row["gigabytes"], run.cost.peak_memory_bytes / 1e9)
        row["predicted_gigabytes"] = size / 1e9
        row["whole"] &= not run.diverged
    for row in rows.values():
        row["ratio"] = row["hours"] / row["predicted_hours"] if row["whole"] else None
    return [{"label": label, "where": where, **row} for (label, where), row in rows.items()]


def paper_of(runs: list[Run]) -> dict[str, str] | None:
    """Return the paper that has this example: its name, the section, the tables of errors, its protocol."""
    example = example_of(runs[0].record)
    return example and {
        "name": example.source.name,
        "section": f"Section {example.section}",
        "tables": " or ".join(table.name for table in example.tables),
        "protocol": example.source.protocol,
    }
