"""The page of each run of an experiment, and the page that compares two of them."""

from dataclasses import asdict
from pathlib import Path

from resolvent.figures.common.charts import plotly_chart
from resolvent.figures.common.comparison import leading, mean_error, with_facts
from resolvent.figures.common.numbers import in_bytes
from resolvent.figures.common.page import relative, render
from resolvent.figures.common.results import Run, read_json, read_runs
from resolvent.figures.common.style import appearances
from resolvent.figures.common.table import as_html
from resolvent.figures.experiment.comparison import compare
from resolvent.figures.experiment.error_location import chart as chart_error_location
from resolvent.figures.experiment.error_table import of_one_run
from resolvent.figures.published.beside import example_of
from resolvent.figures.published.words import differences_from_paper, differences_of_recipes
from resolvent.figures.run.charts import chart_histogram, chart_training
from resolvent.figures.run.data import errors_by_sample, write_run_data, write_runs_data
from resolvent.figures.run.words import loading, making, size_of

PAGE, DATA = "run.html", "run.js"
FILES = ("checkpoint.pt", "errors.csv", "history.csv", "predictions.nc", "run.json", "cost.json")


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
    """Write, into each run's folder, its page and samples, and the comparison of two runs into `experiment`.

    `title` is the experiment's, `card` the file of the dataset that the runs are tested on, `quantities` are
    what its input and target are called.
    """
    loaded = read_runs(runs)
    looks = appearances(loaded)
    facts = read_json(card)
    experiment, root = Path(experiment), Path(root)
    for run in loaded:
        write_run_data(run, run.directory / DATA, quantities)
        _write_page(run, looks, facts, Path(card), title, experiment, root, command, provenance)
    write_runs_data(loaded, experiment / "runs.js")
    render(
        "compare.html.j2",
        experiment / "compare.html",
        root=root,
        breadcrumbs=[*_above(title, experiment, root), ("Two runs compared", "")],
        title=title,
        runs=[(run.label, run.where, run.seed, relative(run.directory / PAGE, experiment)) for run in loaded],
    )


def name_of_run(run: Run) -> str:
    """Return what a run is called: its model, its training grid and its seed."""
    return f"{run.label}, {run.where}, seed {run.seed}"


def _above(title: str, experiment: Path, root: Path) -> list[tuple[str, str]]:
    return [("Experiments", "index.html#experiments"), (title, relative(experiment / "report.html", root))]


def _write_page(run, looks, card, card_file, title, experiment, root, command, provenance) -> None:
    folder, look = run.directory, looks[run.model]
    rows, models = compare([run], [])
    errors = errors_by_sample(run)
    training = chart_training(run, look)
    location = None if run.diverged else chart_error_location([run], looks)
    samples = run.predictions_at()
    render(
        "run.html.j2",
        folder / PAGE,
        root=root,
        breadcrumbs=[*_above(title, experiment, root), (name_of_run(run), "")],
        name=name_of_run(run),
        run=run,
        experiment={"title": title, "link": relative(experiment / "report.html", folder)},
        compare=relative(experiment / "compare.html", folder)
        + f"#{folder.relative_to(experiment).as_posix()}",
        dataset={
            "name": run.record.dataset,
            "link": relative(root / "datasets" / f"{run.record.dataset}.html", folder),
        },
        summary=_summary(rows, run, leading(models)),
        of_errors=mean_error(models),
        errors=as_html(of_one_run(with_facts(rows, models))),
        metrics=run.record.metrics,
        training=training and plotly_chart(training),
        histogram=None
        if errors.empty or not (errors > 0).all()
        else plotly_chart(chart_histogram(errors.to_numpy(), look)),
        location=location and plotly_chart(location),
        maps=not run.diverged and "y" in samples.coords and "error_mean_square" in samples,
        data=DATA,
        differences=differences_from_paper([run]),
        recipes=differences_of_recipes([run]),
        paper=example_of(run.record) and example_of(run.record).source.name,
        settings={
            "architecture": run.record.architecture,
            "recipe": run.record.recipe,
            **run.record.settings,
        },
        training_settings=run.record.training,
        identity={
            name: getattr(run.record, name)
            for name in ("config_hash", "code_digest", "dataset_hash", "versions", "tuning")
        },
        cost=asdict(run.cost),
        files=[
            (name, in_bytes((folder / name).stat().st_size)) for name in FILES if (folder / name).exists()
        ],
        loading=loading(run, card, card_file.as_posix()),
        making=making(command, (folder / "errors.csv").as_posix()),
        store=(card_file.with_suffix(".zarr").as_posix(), size_of(card_file.with_suffix(".zarr"))),
        provenance=provenance,
    )


def _summary(rows, run: Run, metric: str) -> dict | None:
    """Return statistics of the metric that leads, as the run was trained, as comparison.csv computes them."""
    here = rows[(rows["metric"] == metric) & (rows["test_resolution"] == run.resolution)]
    here = here[here["test_noise"] == run.noise].set_index("statistic")
    if run.diverged or here["value"].isna().all():
        return None
    found = {name: here.loc[name].to_dict() for name in ("mean", "median", "worst")}
    return found | {"samples": int(here.loc["mean", "samples"])}
