"""The page of each run of an experiment, and the page that compares two runs."""

from dataclasses import asdict
from pathlib import Path

import pandas as pd

from resolvent.figures.common.charts import plotly_chart
from resolvent.figures.common.commands import loading, making, size_of
from resolvent.figures.common.comparison import leading, mean_error, with_facts
from resolvent.figures.common.numbers import in_bytes
from resolvent.figures.common.page import RUN_DATA, RUN_PAGE, relative, render
from resolvent.figures.common.results import Run, read_json, read_runs
from resolvent.figures.common.style import appearances
from resolvent.figures.common.table import as_html
from resolvent.figures.experiment.comparison import compare
from resolvent.figures.experiment.curves import chart_training
from resolvent.figures.experiment.error_location import chart as chart_error_location
from resolvent.figures.experiment.error_table import of_one_run
from resolvent.figures.published import reported_numbers
from resolvent.figures.run.data import write_run_data, write_runs_data

FILES = ("checkpoint.pt", "errors.csv", "history.csv", "predictions.nc", "run.json", "cost.json")
IDENTITY = ("config_hash", "code_versions", "dataset_hash", "versions", "tuning")


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
    loaded, facts, card = read_runs(runs), read_json(card), Path(card)
    looks, experiment, root = appearances(loaded), Path(experiment), Path(root)
    report, store = experiment / "report.html", card.with_suffix(".zarr")
    above = [("Experiments", "index.html#experiments"), (title, relative(report, root))]
    for run in loaded:
        folder, record = run.directory, run.record
        write_run_data(run, folder / RUN_DATA, quantities)
        rows, models = compare([run], [])
        training = chart_training([run], looks)
        location = None if run.diverged else chart_error_location([run], looks)
        example, stored = reported_numbers.example_of(record), run.predictions_at()
        render(
            "run.html.j2",
            folder / RUN_PAGE,
            root=root,
            breadcrumbs=[*above, (run.name, "")],
            run=run,
            experiment={"title": title, "link": relative(report, folder)},
            compare=f"{relative(experiment / 'compare.html', folder)}#{relative(folder, experiment)}",
            dataset=relative(root / "datasets" / f"{record.dataset}.html", folder),
            summary=_summary(rows, run, leading(models)),
            of_errors=mean_error(models),
            errors=as_html(of_one_run(with_facts(rows, models))),
            training=plotly_chart(training) if training.data else None,
            location=location and plotly_chart(location),
            maps=not run.diverged and "y" in stored.coords and "error_mean_square" in stored,
            data=RUN_DATA,
            differences=reported_numbers.differences_from_paper([run]),
            recipes=reported_numbers.differences_of_recipes([run]),
            paper=example and example.source.name,
            settings={"architecture": record.architecture, "recipe": record.recipe, **record.settings},
            identity={name: getattr(record, name) for name in IDENTITY},
            cost=asdict(run.cost),
            files=[
                (one.name, in_bytes(one.stat().st_size)) for name in FILES if (one := folder / name).exists()
            ],
            loading=loading(run, facts, card.as_posix()),
            making=making(command, (folder / "errors.csv").as_posix()),
            store=(store.as_posix(), size_of(store)),
            provenance=provenance,
        )
    write_runs_data(loaded, experiment / "runs.js")
    render(
        "compare.html.j2",
        experiment / "compare.html",
        root=root,
        breadcrumbs=[*above, ("Two runs compared", "")],
        title=title,
        runs=[(run.name, relative(run.directory / RUN_PAGE, experiment)) for run in loaded],
    )


def _summary(rows: pd.DataFrame, run: Run, metric: str) -> dict | None:
    """Return statistics of the leading metric with grid and noise of training, as in comparison.csv."""
    here = rows[(rows["metric"] == metric) & (rows["test_resolution"] == run.resolution)]
    here = here[here["test_noise"] == run.noise].set_index("statistic")
    if run.diverged or here["value"].isna().all():
        return None
    return {name: here.loc[name].to_dict() for name in ("mean", "median", "worst")}
