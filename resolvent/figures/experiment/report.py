"""The page of an experiment: who is best, whether to trust it, predictions, costs, how to repeat it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from resolvent.common.counts import of_few
from resolvent.figures.common.comparison import mean_error, read_comparison
from resolvent.figures.common.exhibit import Exhibit, Sources
from resolvent.figures.common.page import relative, render, without_budget
from resolvent.figures.common.results import (
    Run,
    choose_shown,
    one_of_each,
    read_arrays,
    read_baselines,
    read_json,
    read_runs,
    spread_of,
)
from resolvent.figures.common.style import appearances
from resolvent.figures.common.table import as_html
from resolvent.figures.dataset.error_budget import checks_of, others
from resolvent.figures.experiment.cost_scatter import COST_SCATTER
from resolvent.figures.experiment.error_distributions import ERROR_DISTRIBUTIONS
from resolvent.figures.experiment.error_intervals import ERROR_INTERVALS
from resolvent.figures.experiment.error_location import ERROR_LOCATION
from resolvent.figures.experiment.error_table import (
    BEST_TEST,
    MEDIAN,
    OVER_BEST,
    headline,
    of_all_metrics,
    of_every_condition,
)
from resolvent.figures.experiment.inference import INFERENCE, inference_rows, read_inference
from resolvent.figures.experiment.resolution_curves import RESOLUTION_CURVES
from resolvent.figures.experiment.rollout_film import ROLLOUT
from resolvent.figures.experiment.samples import SAMPLES
from resolvent.figures.experiment.training_curves import TRAINING_CURVES
from resolvent.figures.experiment.tuned import tuning_of
from resolvent.figures.experiment.verdict import about_labels, verdicts
from resolvent.figures.published.beside import example_of
from resolvent.figures.published.words import differences_from_paper, differences_of_recipes, summarise
from resolvent.figures.run.data import errors_by_sample
from resolvent.figures.run.page import DATA, PAGE, name_of_run
from resolvent.figures.run.words import loading, size_of

EXHIBITS = {
    "error_intervals": ERROR_INTERVALS,
    "resolution_curves": RESOLUTION_CURVES,
    "error_distributions": ERROR_DISTRIBUTIONS,
    "training_curves": TRAINING_CURVES,
    "samples": SAMPLES,
    "error_location": ERROR_LOCATION,
    "cost_scatter": COST_SCATTER,
    "inference": INFERENCE,
}
FILM = ROLLOUT
TABLES = ("comparison.csv", "models.csv", "inference.csv", "table.csv", "table.tex")
# What exhibits on this page, a user's own among them, may be made from: the names of their parameters.
READERS = {
    "runs": lambda run_folders: read_runs(run_folders),
    "looks": lambda runs: appearances(runs),
    "comparison": lambda comparison_file: read_comparison(comparison_file),
    "baselines": lambda baseline_folders: read_baselines(baseline_folders),
    "inference": lambda inference_file: read_inference(inference_file),
    "shown": lambda candidates, named: choose_shown(candidates, named),
    "rollout": lambda rollout_file: read_arrays(rollout_file),
    "facts": lambda planned_facts, shown, comparison: (
        planned_facts | {"shown": shown.words, "mean_error": f"M{mean_error(comparison)[1:]}"}
    ),
}


def write_report(
    output: str | Path,
    *,
    title: str,
    command: str,
    given: dict[str, Any],
    card: str | Path,
    own: dict[str | Path, Exhibit] | None = None,
    film: str | Path | None = None,
    provenance: dict[str, str],
    predicted: list[tuple[float, float]],
    root: str | Path,
    paper_pages: Sequence[tuple[str, str]] = (),
) -> None:
    """Draw the figures in the folder `figures` beside `output`, and write the page, all at once.

    Parameters
    ----------
    given
        What the exhibits are made from: `run_folders`, `candidates` of which one is shown first and whether
        it is `named` (`resolvent.figures.common.results.choose_shown`), `comparison_file`,
        `baseline_folders`, `inference_file`, `quantities`, `planned_facts` that captions quote, and with a
        film `rollout_file`.
    card
        The dataset card.
    own
        Exhibits of the user's own, by the SVG files to draw.
    film
        MP4 file for the film of a rollout, in the folder of its run; not shown of a run that diverged.
    provenance
        What only the caller knows: git revision, machine, …
    predicted
        What each run was predicted to take: seconds of training and bytes of memory.
    paper_pages
        Names and links of the pages of papers whose tables or figures these runs give.
    """
    sources, folder = Sources(READERS, **given), Path(output).parent
    loaded, comparison, shown = sources["runs"], sources["comparison"], sources["shown"].run
    exhibits = {folder / f"figures/{name}.svg": exhibit for name, exhibit in EXHIBITS.items()}
    films = {} if film is None else {Path(film): FILM}
    drawn = {}
    for path, exhibit in (exhibits | (own or {}) | films).items():
        exhibit.write(sources, path)
        # The file lies beside the page, which need not hold it, too.
        drawn[Path(path)] = exhibit.on_page(sources, path, folder) | {"source": relative(path, folder)}
    errors, facts = headline(comparison), read_json(card)
    heads = {column.head for column in errors.columns}
    paper = paper_of(loaded)
    lost = [run for run in loaded if run.diverged]
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
        lost=[_entry(run, folder) for run in lost],
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
        figures={path.stem: drawn[path] for path in exhibits},
        own_figures=[drawn[Path(path)] for path in own or {}],
        metrics={name: words for run in loaded for name, words in run.record.metrics.items()},
        film=next((drawn[one] for one in films if one.parent not in {run.directory for run in lost}), None),
        in_time=isinstance(shown.resolution, str),
        shown=_choices(loaded, shown, folder),
        maps=not shown.diverged and (spread := spread_of(shown)) is not None and spread.dimension == 2,
        card={
            "name": facts["dataset"],
            "link": relative(Path(root) / "datasets" / f"{loaded[0].record.dataset}.html", folder),
            "facts": without_budget(facts),
        },
        checks=checks_of(facts["error_budget"]),
        other_checks=others(facts["error_budget"]),
        runs=[_entry(run, folder) for run in loaded],
        inference=inference_rows(sources["inference"]),
        predicted_costs=costs_beside_prediction(given["run_folders"], predicted),
        loading=loading(shown, facts, Path(card).as_posix()),
        tables=[name for name in TABLES if (folder / name).exists()],
        store=(Path(card).with_suffix(".zarr").as_posix(), size_of(Path(card).with_suffix(".zarr"))),
        provenance=provenance,
    )


def _choices(runs: list[Run], shown: Run, folder: Path) -> list[tuple[str, str]]:
    """Return file and name of the runs whose samples can be looked at: one of each model, `shown` first."""
    choices = {run.directory: run for run in [shown, *one_of_each(runs)] if not run.diverged}
    return [(relative(run.directory / DATA, folder), name_of_run(run)) for run in choices.values()]


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
