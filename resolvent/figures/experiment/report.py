"""The page of an experiment: best model, predictions, reliability, costs, and how to repeat it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from resolvent.common.counts import of_few
from resolvent.common.runs import save_table
from resolvent.figures.common import results
from resolvent.figures.common.commands import loading, making, size_of
from resolvent.figures.common.comparison import by_condition, mean_error, read_comparison
from resolvent.figures.common.exhibit import Exhibit, Section, Sources, draw_sections
from resolvent.figures.common.page import RUN_PAGE, relative, render, without_budget
from resolvent.figures.common.style import appearances
from resolvent.figures.common.table import as_html
from resolvent.figures.dataset.error_budget import checks_of, others
from resolvent.figures.experiment import scaling
from resolvent.figures.experiment.cost import COST_SCATTER, INFERENCE, inference_table, read_inference
from resolvent.figures.experiment.curves import RESOLUTION_CURVES, TRAINING_CURVES
from resolvent.figures.experiment.error_location import ERROR_LOCATION
from resolvent.figures.experiment.error_table import by_grids, headline, of_all_metrics, of_every_condition
from resolvent.figures.experiment.estimates import STRESS, estimates_table, read_estimates
from resolvent.figures.experiment.learning_rates import LEARNING_RATES
from resolvent.figures.experiment.rows_of_errors import ERROR_DISTRIBUTIONS, ERROR_INTERVALS
from resolvent.figures.experiment.samples import ROLLOUT, SAMPLES_OF_RUNS, SPREAD_OF_RUNS
from resolvent.figures.experiment.tuned import tuning_of
from resolvent.figures.experiment.verdict import about_labels, verdicts
from resolvent.figures.published import reported_numbers

TABLES = (
    "comparison.csv", "models.csv", "inference.csv", "estimates.csv", "scaling.csv", "table.csv", "table.tex",
    "metrics.tex",
)  # fmt: skip
ESTIMATED = ("Errors without labels", "Shifted distributions, and errors without labels")
DASHED = "Dashed coloured lines are models with the regular layer norm."
OF_TRAINING = {"train": "train_samples", "epochs": "epochs", "batch_size": "batch_size"}  # in captions
# Sources of the exhibits on this page, also of users' exhibits, by the names of their parameters.
READERS: dict[str, Callable[..., Any]] = {
    "runs": lambda run_folders: results.read_runs(run_folders),
    "looks": lambda runs: appearances(runs),
    "comparison": lambda comparison_file: read_comparison(comparison_file),
    "baselines": lambda baseline_folders: results.read_baselines(baseline_folders),
    "inference": lambda inference_file: read_inference(inference_file),
    "estimates": lambda estimates_file: read_estimates(estimates_file),
    "sizes": lambda runs, inference: scaling.sizes_of(runs, inference),
    "curves": lambda sizes: scaling.curves_of(sizes),
    "shown": lambda candidates, named: results.choose_shown(candidates, named),
    "rollout": lambda rollout_file: results.read_arrays(rollout_file),
    # Grids of training and test in words, by training resolution.
    "grids": lambda runs: {run.resolution: run.where for run in runs},
    "viewed": lambda runs, shown: list(
        {run.directory: run for run in [shown.run, *results.one_of_each(runs)] if not run.diverged}.values()
    ),
    "several_resolutions": lambda comparison: comparison["test_resolution"].nunique() > 1,
    "estimated": lambda estimates: not estimates.empty,
    "has_map": lambda shown: results.has_map(shown.run),
    "lost": lambda runs: {run.directory: run for run in runs if run.diverged},
    # The run of the film is chosen before training, so it may have diverged.
    "filmed": lambda lost, rollout_file: rollout_file and Path(rollout_file).parent not in lost,
    "facts": lambda planned_facts, runs, shown, comparison, shifts, looks: (
        planned_facts
        | {"shown": shown.words, "mean_error": f"M{mean_error(comparison)[1:]}"}
        | {"home": results.home_in_words(runs)}
        | {"selected": reported_numbers.chosen_on_validation(runs) or "nothing"}
        # Models and grids may have settings of their own.
        | {name: reported_numbers.values_of(runs, of) for name, of in OF_TRAINING.items()}
        | {"domain": "time" if isinstance(shown.run.resolution, str) else "frequency and in space"}
        | {"estimates": ESTIMATED[bool(shifts)]}
        | {"dashes": DASHED * any(look.dashes != "-" for look in looks.values())}
    ),
}


OWN = Section("own", "Figures of this study", only_if="own_figures")
SECTIONS = (
    Section("table", "Best model"),
    Section("predictions", "Predictions", {"samples": SAMPLES_OF_RUNS, "rollout": ROLLOUT}),
    Section("trust", "Reliability", {
        "error_intervals": ERROR_INTERVALS,
        "error_distributions": ERROR_DISTRIBUTIONS,
        "resolution_curves": RESOLUTION_CURVES,
        "training_curves": TRAINING_CURVES,
        "learning_rates": LEARNING_RATES,
    }),
    Section("where", "Location of the error", {
        "error_location": ERROR_LOCATION,
        "spread": SPREAD_OF_RUNS,
    }, heading="Location of the error, in {domain}"),
    Section("estimates", "Errors without labels", {"stress": STRESS}, "{estimates}", only_if="estimated"),
    OWN,
    Section("cost", "Cost", {"cost_scatter": COST_SCATTER, "inference": INFERENCE}),
    Section("scaling", "Scaling", {"scaling": scaling.SCALING}, only_if="scaled"),
    Section("runs", "Runs", heading="All runs"),
    Section("again", "Load and reproduce"),
    Section("cite", "Cite", heading="How to cite"),
)  # fmt: skip


def write_report(
    output: str | Path,
    *,
    title: str,
    command: str,
    sources: dict[str, Any],
    card: str | Path,
    own: dict[str, Exhibit] | None = None,
    provenance: dict[str, str],
    root: str | Path,
    paper_pages: Sequence[tuple[str, str]] = (),
) -> None:
    """Draw the figures in the folder `figures` next to `output`, and write the page atomically.

    sources      sources of the exhibits: all parameters of `READERS` and of exhibits that no reader makes.
    own          the user's exhibits, by name.
    paper_pages  names and links of the pages of papers with tables or figures from these runs.
    """
    output, card = Path(output), Path(card)
    read, folder = Sources(READERS, **sources, own_figures=own), output.parent
    runs, comparison, shown = read["runs"], read["comparison"], read["shown"].run
    own_exhibits = {f"{OWN.name}_{name}": exhibit for name, exhibit in (own or {}).items()}
    own_section = replace(OWN, exhibits=own_exhibits)
    sections = [own_section if section is OWN else section for section in SECTIONS]
    curves = scaling.scaling_table(read["curves"] if read["scaled"] else [])
    if read["scaled"]:
        save_table(curves, folder / "scaling.csv")
    errors, facts, samples = headline(comparison), results.read_card(card), int(comparison["samples"].max())
    timed = inference_table(read["inference"], read["grids"])
    estimates = estimates_table(read["estimates"], read["grids"])
    timed_on = sorted(set(read["inference"]["device"].dropna()))
    render(
        "report.html.j2",
        output,
        root=root,
        breadcrumbs=[("Experiments", "index.html#experiments"), (title, "")],
        sections=draw_sections(sections, read, output, linked=True),
        title=title,
        command=making(command, Path(output).as_posix()),
        verdicts=verdicts(comparison, facts["targets"]),
        of_errors=mean_error(comparison),
        summary=reported_numbers.summarise(runs),
        labels=about_labels(comparison, facts),
        lost=[(run, run.name, relative(path / RUN_PAGE, folder)) for path, run in read["lost"].items()],
        differences=reported_numbers.differences_from_paper(runs),
        recipes=reported_numbers.differences_of_recipes(runs),
        example=reported_numbers.example_of(runs[0].record),
        paper_pages=paper_pages,
        headline=as_html(errors),
        heads={column.head for column in errors.columns},
        all_metrics="".join(map(as_html, of_all_metrics(comparison))),
        all_grids=as_html(by_grids(by_condition(results.with_training_noise(comparison)))),
        every_condition=as_html(of_every_condition(comparison)),
        tuning=tuning_of(runs),
        seeds=sorted({run.seed for run in runs}),
        samples=samples,
        few=of_few(samples),
        home=results.home_in_words(runs),
        several_resolutions=read["several_resolutions"],
        several_noises=comparison["test_noise"].nunique() > 1,
        metrics={name: words for run in runs for name, words in run.record.metrics.items()},
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
        estimates=as_html(estimates),
        stressed=bool(read["shifts"]),
        exponents=scaling.exponents_in_words(curves),
        budgets=as_html(scaling.budget_table(read["sizes"], read["curves"])) if read["scaled"] else "",
        loading=loading(shown, facts, card.as_posix()),
        tables=[name for name in TABLES if (folder / name).exists()],
        store=(card.with_suffix(".zarr").as_posix(), size_of(card.with_suffix(".zarr"))),
        provenance=provenance,
    )
