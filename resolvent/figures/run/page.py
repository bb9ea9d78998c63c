"""The page of each run of an experiment, and the page that compares two runs."""

import math
from pathlib import Path

import pandas as pd

from resolvent.figures.common.commands import loading, making, size_of
from resolvent.figures.common.comparison import leading, mean_error, with_facts
from resolvent.figures.common.exhibit import Section, Sources, draw_sections
from resolvent.figures.common.numbers import in_bytes, scientific, short_duration
from resolvent.figures.common.page import RUN_DATA, RUN_PAGE, relative, render
from resolvent.figures.common.results import Run, has_map, home_in_words, read_card, read_runs
from resolvent.figures.common.style import appearances
from resolvent.figures.common.table import as_html
from resolvent.figures.experiment.comparison import compare
from resolvent.figures.experiment.curves import TRAINING_CURVE
from resolvent.figures.experiment.error_location import ERROR_BY_TIME, ERROR_BY_WAVENUMBER
from resolvent.figures.experiment.error_table import of_one_run
from resolvent.figures.experiment.samples import SAMPLES_OF_RUN, SPREAD_OF_RUN
from resolvent.figures.published import reported_numbers
from resolvent.figures.run.data import write_run_data, write_runs_data

FILES = ("checkpoint.pt", "errors.csv", "history.csv", "predictions.nc", "run.json", "cost.json")
IDENTITY = ("config_hash", "code_versions", "dataset_hash", "versions", "tuning")
OF_OPTIONS = {  # settings of the training without effect while an option is off
    "noise": ("noise_samples",),
    "gradient_clip": ("gradient_clip_by",),
    "gradient_weight": ("target_gradient", "gradient_coefficient"),
}
OF_SCHEDULES = {
    "1cycle": ("peak_fraction", "initial_division", "final_division"),
    "plateau": ("plateau_patience",),
}
SECTIONS = (
    Section("errors", "Errors"),
    Section(
        "training", "Training", {"training_curve": TRAINING_CURVE},
        otherwise="<p>The run diverged before its first epoch ended, so there is no curve.</p>",
    ),
    Section("predictions", "Predictions", {"samples": SAMPLES_OF_RUN}, only_if="finished"),
    Section(
        "where", "Location of the error",
        {"by_time": ERROR_BY_TIME, "by_wavenumber": ERROR_BY_WAVENUMBER, "spread": SPREAD_OF_RUN},
        otherwise="<p>An older version evaluated this run and did not store these errors. Delete its "
        "<code>errors.csv</code> and run snakemake.</p>",
        only_if="finished",
    ),
    Section("settings", "Settings"),
    Section("cost", "Cost"),
    Section("again", "Load and reproduce"),
)  # fmt: skip
COMPARED_SECTIONS = (
    Section("errors", "Errors", heading="Errors of all test samples"),
    Section("samples", "Samples", heading="Largest differences"),
    Section("predictions", "Predictions", heading="Predictions side by side"),
    Section("runs", "Runs", heading="Runs of this experiment"),
)


def write_run_pages(
    runs: list[str | Path],
    *,
    experiment: str | Path,
    root: str | Path,
    title: str,
    card: str | Path,
    quantities: tuple[str, str],
    command: str,
    provenance: dict[str, str],
) -> None:
    """Write each run's page and samples to its folder, and the page that compares two runs to `experiment`.

    `title` is the experiment's, `card` the file of the test dataset, `quantities` its input and target.
    """
    loaded, facts, card = read_runs(runs), read_card(card), Path(card)
    looks, experiment, root = appearances(loaded), Path(experiment), Path(root)
    report, store = experiment / "report.html", card.with_suffix(".zarr")
    above = [("Experiments", "index.html#experiments"), (title, relative(report, root))]
    for run in loaded:
        folder, record = run.directory, run.record
        write_run_data(run, folder / RUN_DATA, quantities)
        rows, models = compare([run], [])
        summary, example = _summary(rows, run, leading(models)), reported_numbers.example_of(record)
        in_time, files = isinstance(run.resolution, str), [folder / name for name in FILES]
        sources = Sources(
            {}, runs=[run], viewed=[run], looks=looks, facts={}, finished=bool(summary), in_time=in_time,
            in_space=not in_time, has_map=has_map(run),
        )  # fmt: skip
        render(
            "run.html.j2",
            folder / RUN_PAGE,
            root=root,
            breadcrumbs=[*above, (run.name, "")],
            run=run,
            experiment={"title": title, "link": relative(report, folder)},
            compare=f"{relative(experiment / 'compare.html', folder)}#{relative(folder, experiment)}",
            dataset=relative(root / "datasets" / f"{record.dataset}.html", folder),
            summary=summary,
            of_errors=mean_error(models),
            errors=as_html(of_one_run(with_facts(rows, models))),
            differences=reported_numbers.differences_from_paper([run]),
            recipes=reported_numbers.differences_of_recipes([run]),
            paper=example and example.source.name,
            training=_with_effect(record.training),
            settings={"architecture": record.architecture, "recipe": record.recipe, **record.settings},
            identity={name: getattr(record, name) for name in IDENTITY},
            cost={
                "epochs": f"{run.cost.epochs}, best epoch {run.cost.best_epoch}",
                "steps": f"{run.cost.steps:,}",
                "time per step": short_duration(run.cost.seconds_per_step),
                "peak memory": in_bytes(run.cost.peak_memory_bytes),
                "operations of a forward pass": scientific(run.cost.forward_flop or math.nan),
                "processes, threads": f"{run.cost.processes}, {run.cost.threads}",
            },
            files=[(file.name, in_bytes(file.stat().st_size)) for file in files if file.exists()],
            loading=loading(run, facts, card.as_posix()),
            making=making(command, (folder / "errors.csv").as_posix()),
            store=(store.as_posix(), size_of(store)),
            provenance=provenance,
            sections=draw_sections(SECTIONS, sources, folder / RUN_PAGE),
        )
    write_runs_data(loaded, experiment / "runs.js")
    render(
        "compare.html.j2",
        experiment / "compare.html",
        root=root,
        breadcrumbs=[*above, ("Two runs compared", "")],
        title=title,
        home=home_in_words(loaded),
        noisy=any(run.noise for run in loaded),
        runs=[(run.name, relative(run.directory / RUN_PAGE, experiment)) for run in loaded],
        sections=COMPARED_SECTIONS,
    )


def _with_effect(training: dict) -> dict:
    """Return the settings of a training without those of options that are off."""
    off = [names for option, names in OF_OPTIONS.items() if not training.get(option)]
    off += [names for schedule, names in OF_SCHEDULES.items() if training["schedule"] != schedule]
    unused = {name for names in off for name in names}
    return {name: value for name, value in training.items() if name not in unused}


def _summary(rows: pd.DataFrame, run: Run, metric: str) -> dict | None:
    """Return statistics of the leading metric on the home grid with the noise of training."""
    statistics = rows[(rows["metric"] == metric) & (rows["test_resolution"] == run.home)]
    statistics = statistics[statistics["test_noise"] == run.noise].set_index("statistic")
    if run.diverged or statistics["value"].isna().all():
        return None
    return {name: statistics.loc[name].to_dict() for name in ("mean", "median", "worst")}
