"""The page of an experiment: who is best, whether to trust it, predictions, costs, how to repeat it."""

from pathlib import Path

from resolvent.common.counts import of_few
from resolvent.figures.common.charts import plotly_chart
from resolvent.figures.common.comparison import mean_error, read_comparison
from resolvent.figures.common.film import film_of
from resolvent.figures.common.location import one_of_each, spread_of
from resolvent.figures.common.page import inlined_figure, relative, render, without_budget
from resolvent.figures.common.results import Run, read_baselines, read_json, read_runs
from resolvent.figures.common.shown import choose_shown
from resolvent.figures.common.style import appearances
from resolvent.figures.common.table import as_html
from resolvent.figures.common.words import differences_from_paper, differences_of_recipes, summarise
from resolvent.figures.dataset import checks
from resolvent.figures.experiment import charts
from resolvent.figures.experiment.error_table import (
    BEST_TEST,
    MEDIAN,
    OVER_BEST,
    headline,
    of_all_metrics,
    of_every_condition,
)
from resolvent.figures.experiment.inference import inference_rows
from resolvent.figures.experiment.location_charts import chart_error_location
from resolvent.figures.experiment.tuned import tuning_of
from resolvent.figures.experiment.verdict import about_labels, verdicts
from resolvent.figures.published.beside import example_of
from resolvent.figures.run.data import errors_by_sample
from resolvent.figures.run.page import DATA, PAGE, name_of_run
from resolvent.figures.run.words import loading, size_of

TABLES = ("comparison.csv", "models.csv", "inference.csv", "table.csv", "table.tex")


def write_report(
    output: str | Path,
    *,
    title: str,
    command: str,
    table: str | Path,
    runs: list[str | Path],
    candidates: list[str | Path],
    named: bool = True,
    baselines: list[str | Path],
    inference: str | Path,
    card: str | Path,
    figures: list[tuple[str | Path, str, str]],
    film: tuple[str | Path, str, str] | None = None,
    provenance: dict[str, str],
    predicted: list[tuple[float, float]],
    root: str | Path,
    paper_pages: list[tuple[str, str]] = (),
    own_figures: list[tuple[str | Path, str, str]] = (),
) -> None:
    """Write the page, all at once.

    Parameters
    ----------
    table
        comparison.csv.
    runs, baselines
        Their folders.
    candidates, named
        Run folders of which one is shown first, as `resolvent.figures.common.shown.choose_shown` takes them.
    inference
        inference.csv.
    card
        The dataset card.
    figures
        SVG file, title and caption of every figure of an experiment.
    film
        MP4 file, title and caption of the film of a rollout, in the folder of its run. That of a run that
        diverged is not shown.
    provenance
        What only the caller knows: git revision, machine, …
    predicted
        What each run was predicted to take: seconds of training and bytes of memory.
    paper_pages
        Names and links of the pages of papers whose tables or figures these runs give.
    own_figures
        The same as `figures`, of the user's own.
    """
    folder, loaded = Path(output).parent, read_runs(runs)
    comparison = read_comparison(table)
    errors, facts = headline(comparison), read_json(card)
    heads = {column.head for column in errors.columns}
    paper, shown = paper_of(loaded), choose_shown(candidates, named).run
    interactive = _charts(comparison, loaded, baselines)
    render(
        "report.html.j2",
        output,
        root=root,
        breadcrumbs=[("Experiments", "index.html#experiments"), (title, "")],
        title=title,
        command=command,
        verdicts=verdicts(comparison),
        of_errors=mean_error(comparison),
        summary=summarise(loaded),
        labels=about_labels(comparison, facts.get("stated_accuracy")),
        lost=[_entry(run, folder) for run in loaded if run.diverged],
        differences=differences_from_paper(loaded),
        recipes=differences_of_recipes(loaded),
        paper=paper,
        paper_pages=paper_pages,
        headline=as_html(errors),
        has_ratio=OVER_BEST in heads,
        has_reported=bool(paper) and paper["name"] in heads,
        has_best_test=BEST_TEST in heads,
        has_median=MEDIAN in heads,
        all_metrics="".join(map(as_html, of_all_metrics(comparison))),
        every_condition=as_html(of_every_condition(comparison)),
        tuning=tuning_of(loaded),
        seeds=sorted({run.seed for run in loaded}),
        samples=int(comparison["samples"].max()),
        few=of_few(int(comparison["samples"].max())),
        several_resolutions=comparison["test_resolution"].nunique() > 1,
        several_noises=comparison["test_noise"].nunique() > 1,
        figures={
            Path(figure[0]).stem: _figure(figure, folder, interactive.get(Path(figure[0]).stem))
            for figure in figures
        },
        own_figures=[_figure(figure, folder, None) for figure in own_figures],
        metrics={name: words for run in loaded for name, words in run.record.metrics.items()},
        film=None if film is None or _diverged(film[0], loaded) else film_of(*film, folder=folder),
        in_time=isinstance(shown.resolution, str),
        shown=_choices(loaded, shown, folder),
        maps=not shown.diverged and (spread := spread_of(shown)) is not None and spread.dimension == 2,
        card={
            "name": facts["dataset"],
            "link": _dataset_page(loaded, root, folder),
            "facts": without_budget(facts),
        },
        checks=checks.rows(facts["error_budget"]),
        other_checks=checks.others(facts["error_budget"]),
        runs=[_entry(run, folder) for run in loaded],
        inference=inference_rows(inference),
        predicted_costs=costs_beside_prediction(runs, predicted),
        loading=loading(shown, facts, Path(card).as_posix()),
        tables=[name for name in TABLES if (folder / name).exists()],
        store=(Path(card).with_suffix(".zarr").as_posix(), size_of(Path(card).with_suffix(".zarr"))),
        provenance=provenance,
    )


def _figure(figure: tuple[str | Path, str, str], folder: Path, interactive: dict | None) -> dict:
    """Return a figure as the macros take it. Its file lies beside the page, which need not hold it, too."""
    return inlined_figure(*figure, folder=folder, interactive=interactive) | {
        "source": relative(figure[0], folder)
    }


def _diverged(film: str | Path, runs: list[Run]) -> bool:
    return any(run.diverged for run in runs if run.directory == Path(film).parent)


def _charts(comparison, runs: list[Run], baselines: list[str | Path]) -> dict[str, dict]:
    """Return the charts to hover over, by the name of the figure that shows the same."""
    looks = appearances(runs)
    found = {
        "error_intervals": charts.chart_error_intervals(comparison, looks),
        "resolution_curves": charts.chart_resolution_curves(comparison, looks),
        "cost_scatter": charts.chart_cost(comparison, looks),
        "error_distributions": charts.chart_error_distributions(runs, read_baselines(baselines), looks),
        "training_curves": charts.chart_training_curves(runs, looks),
        "error_location": chart_error_location(runs, looks),
    }
    return {name: plotly_chart(figure) for name, figure in found.items() if figure is not None}


def _choices(runs: list[Run], shown: Run, folder: Path) -> list[tuple[str, str]]:
    """Return file and name of the runs whose samples can be looked at: one of each model, `shown` first."""
    choices = {run.directory: run for run in [shown, *one_of_each(runs)] if not run.diverged}
    return [(relative(run.directory / DATA, folder), name_of_run(run)) for run in choices.values()]


def _dataset_page(runs: list[Run], root: str | Path, folder: Path) -> str:
    return relative(Path(root) / "datasets" / f"{runs[0].record.dataset}.html", folder)


def _entry(run: Run, folder: Path) -> dict:
    """Return what the page lists of a run."""
    errors = errors_by_sample(run)
    return {
        "label": run.label,
        "name": name_of_run(run),
        "where": run.where,
        "seed": run.seed,
        "link": relative(run.directory / PAGE, folder),
        "folder": relative(run.directory, folder),
        "error": None if run.diverged or errors.empty else float(errors.mean()),
        "epoch": run.cost.diverged_epoch,
        "best_epoch": run.cost.best_epoch,
        "seconds": run.cost.train_seconds,
    }


def costs_beside_prediction(runs: list[str | Path], predicted: list[tuple[float, float]]) -> list[dict]:
    """Return seconds of all runs and gigabytes of one, measured and predicted, by model and resolution.

    A ratio is None where a diverged run ended early.
    """
    rows: dict[tuple[str, str], dict] = {}
    for folder, (seconds, size) in zip(runs, predicted, strict=True):
        (run,) = read_runs([folder])
        row = rows.setdefault(
            (run.label, run.where),
            {"seconds": 0.0, "predicted_seconds": 0.0, "gigabytes": 0.0, "whole": True},
        )
        row["seconds"] += run.cost.train_seconds
        row["predicted_seconds"] += seconds
        row["gigabytes"] = max(row["gigabytes"], run.cost.peak_memory_bytes / 1e9)
        row["predicted_gigabytes"] = size / 1e9
        row["whole"] &= not run.diverged
    for row in rows.values():
        row["ratio"] = row["seconds"] / row["predicted_seconds"] if row["whole"] else None
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
