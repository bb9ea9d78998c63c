"""The page of an experiment: best model, predictions, reliability, costs, and how to repeat it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from resolvent.common.counts import of_few
from resolvent.common.runs import save_table
from resolvent.figures.common import results
from resolvent.figures.common.commands import loading, size_of
from resolvent.figures.common.comparison import mean_error, read_comparison
from resolvent.figures.common.exhibit import Exhibit, Sources
from resolvent.figures.common.page import RUN_DATA, RUN_PAGE, relative, render, without_budget
from resolvent.figures.common.style import appearances
from resolvent.figures.common.table import as_html
from resolvent.figures.dataset.error_budget import checks_of, others
from resolvent.figures.experiment.cost import COST_SCATTER, INFERENCE, inference_table, read_inference
from resolvent.figures.experiment.curves import RESOLUTION_CURVES, TRAINING_CURVES
from resolvent.figures.experiment.error_location import ERROR_LOCATION
from resolvent.figures.experiment.error_table import headline, of_all_metrics, of_every_condition
from resolvent.figures.experiment.estimates import STRESS, estimates_table, read_estimates
from resolvent.figures.experiment.learning_rates import LEARNING_RATES
from resolvent.figures.experiment.rows_of_errors import ERROR_DISTRIBUTIONS, ERROR_INTERVALS
from resolvent.figures.experiment.samples import ROLLOUT, SAMPLES
from resolvent.figures.experiment.scaling import (
    SCALING,
    budget_table,
    exponents_in_words,
    scaling_curves,
    sizes_of,
)
from resolvent.figures.experiment.tuned import tuning_of
from resolvent.figures.experiment.verdict import about_labels, verdicts
from resolvent.figures.published import reported_numbers

EXHIBITS = {
    "error_intervals": ERROR_INTERVALS,
    "resolution_curves": RESOLUTION_CURVES,
    "error_distributions": ERROR_DISTRIBUTIONS,
    "training_curves": TRAINING_CURVES,
    "samples": SAMPLES,
    "error_location": ERROR_LOCATION,
    "cost_scatter": COST_SCATTER,
    "inference": INFERENCE,
    "stress": STRESS,  # only if the experiment requests it, as below
    "scaling": SCALING,
    "learning_rates": LEARNING_RATES,
}
TABLES = (
    "comparison.csv", "models.csv", "inference.csv", "estimates.csv", "scaling.csv", "table.csv", "table.tex",
    "metrics.tex",
)  # fmt: skip
OF_TRAINING = {"train": "train_samples", "epochs": "epochs", "batch_size": "batch_size"}  # in captions
# Sources of the exhibits on this page, also of users' exhibits, by the names of their parameters.
READERS: dict[str, Callable[..., Any]] = {
    "runs": lambda run_folders: results.read_runs(run_folders),
    "looks": lambda runs: appearances(runs),
    "comparison": lambda comparison_file: read_comparison(comparison_file),
    "baselines": lambda baseline_folders: results.read_baselines(baseline_folders),
    "inference": lambda inference_file: read_inference(inference_file),
    "estimates": lambda estimates_file: read_estimates(estimates_file),
    "family": lambda runs, inference: sizes_of(runs, inference),
    "shown": lambda candidates, named: results.choose_shown(candidates, named),
    "rollout": lambda rollout_file: results.read_arrays(rollout_file),
    "facts": lambda planned_facts, runs, shown, comparison: (
        planned_facts
        | {"shown": shown.words, "mean_error": f"M{mean_error(comparison)[1:]}"}
        | {"selected": reported_numbers.chosen_on_validation(runs) or "nothing"}
        # Models and grids may have settings of their own.
        | {name: reported_numbers.values_of(runs, of) for name, of in OF_TRAINING.items()}
    ),
}


def exhibits_of(shifts: object, scaled: bool, rates: bool) -> dict[str, Exhibit]:
    """Return the exhibits of an experiment, with or without shifts, several sizes, several learning rates."""
    left_out = {"stress": not shifts, "scaling": not scaled, "learning_rates": not rates}
    return {name: one for name, one in EXHIBITS.items() if not left_out.get(name)}


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
    root: str | Path,
    paper_pages: Sequence[tuple[str, str]] = (),
) -> None:
    """Draw the figures in the folder `figures` next to `output`, and write the page atomically.

    given        sources of the exhibits: all parameters of `READERS` and of exhibits that no reader makes;
                 `shifts` of the error estimates; whether models are `scaled` to several sizes, or trained at
                 several learning `rates`.
    own          the user's exhibits, by SVG file.
    film         MP4 file for the film of a rollout, in the run's folder; not shown if the run diverged.
    paper_pages  names and links of the pages of papers with tables or figures from these runs.
    """
    sources, folder, card = Sources(READERS, **given), Path(output).parent, Path(card)
    runs, comparison, shown = sources["runs"], sources["comparison"], sources["shown"].run
    estimates, stressed = estimates_table(sources["estimates"]), bool(given["shifts"])
    exhibits = exhibits_of(stressed, given["scaled"], given["rates"])
    curves = scaling_curves(sources["family"]) if given["scaled"] else scaling_curves({})
    if given["scaled"]:
        save_table(curves, folder / "scaling.csv")
    paths: dict[str | Path, Exhibit] = {folder / f"figures/{name}.svg": one for name, one in exhibits.items()}
    drawn = {}
    for path, exhibit in (paths | (own or {}) | ({film: ROLLOUT} if film else {})).items():
        # The page links to the file and does not embed it.
        drawn[Path(path)] = exhibit.shown(sources, path, folder) | {"source": relative(path, folder)}
    errors, facts, samples = headline(comparison), results.read_json(card), int(comparison["samples"].max())
    lost, spread = [run for run in runs if run.diverged], None if shown.diverged else results.spread_of(shown)
    filmed = film and Path(film).parent not in {run.directory for run in lost}
    timed = inference_table(sources["inference"])
    timed_on = sorted(set(sources["inference"]["device"].dropna()))
    choices = {run.directory: run for run in [shown, *results.one_of_each(runs)] if not run.diverged}
    render(
        "report.html.j2",
        output,
        root=root,
        breadcrumbs=[("Experiments", "index.html#experiments"), (title, "")],
        title=title,
        command=command,
        verdicts=verdicts(comparison, facts["targets"]),
        of_errors=mean_error(comparison),
        summary=reported_numbers.summarise(runs),
        labels=about_labels(comparison, facts),
        lost=[(run, run.name, relative(run.directory / RUN_PAGE, folder)) for run in lost],
        differences=reported_numbers.differences_from_paper(runs),
        recipes=reported_numbers.differences_of_recipes(runs),
        example=reported_numbers.example_of(runs[0].record),
        paper_pages=paper_pages,
        headline=as_html(errors),
        heads={column.head for column in errors.columns},
        all_metrics="".join(map(as_html, of_all_metrics(comparison))),
        every_condition=as_html(of_every_condition(comparison)),
        tuning=tuning_of(runs),
        seeds=sorted({run.seed for run in runs}),
        samples=samples,
        few=of_few(samples),
        several_resolutions=comparison["test_resolution"].nunique() > 1,
        several_noises=comparison["test_noise"].nunique() > 1,
        figures={Path(path).stem: drawn[Path(path)] for path in paths},
        own_figures=[drawn[Path(path)] for path in own or {}],
        metrics={name: words for run in runs for name, words in run.record.metrics.items()},
        film=drawn[Path(film)] if film and filmed else None,
        in_time=isinstance(shown.resolution, str),
        shown=[(relative(run.directory / RUN_DATA, folder), run.name) for run in choices.values()],
        maps=spread is not None and spread.dimension == 2,
        card={
            "name": facts["dataset"],
            "link": relative(Path(root) / "datasets" / f"{facts['dataset']}.html", folder),
            "facts": without_budget(facts),
        },
        checks=checks_of(facts["error_budget"]),
        other_checks=others(facts["error_budget"]),
        runs=[
            (
                run,
                relative(run.directory, folder),
                None if run.diverged else results.errors_by_sample(run).mean(),
            )
            for run in runs
        ],
        inference=as_html(timed) if timed.rows else "",
        timed_on=timed_on,
        devices=sorted({run.cost.device for run in runs} | {*timed_on}),
        estimates=as_html(estimates) if estimates.rows else "",
        stressed=stressed,
        exponents=exponents_in_words(curves),
        budgets=as_html(budget_table(sources["family"])) if given["scaled"] else "",
        loading=loading(shown, facts, card.as_posix()),
        tables=[name for name in TABLES if (folder / name).exists()],
        store=(card.with_suffix(".zarr").as_posix(), size_of(card.with_suffix(".zarr"))),
        provenance=provenance,
    )
