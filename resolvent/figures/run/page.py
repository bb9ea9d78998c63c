"""The page of each run of an experiment, and the page that compares two of them."""

from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from plotly.graph_objects import Figure

from resolvent.figures.common.charts import LOGARITHMIC, epoch_tick, plotly_chart
from resolvent.figures.common.commands import loading, making, size_of
from resolvent.figures.common.comparison import leading, mean_error, with_facts
from resolvent.figures.common.numbers import in_bytes, scientific
from resolvent.figures.common.page import RUN_DATA, RUN_PAGE, relative, render
from resolvent.figures.common.results import Run, errors_by_sample, read_json, read_runs
from resolvent.figures.common.style import Appearance, appearances
from resolvent.figures.common.table import as_html
from resolvent.figures.common.thinned import CURVE_POINTS, picked, rounded
from resolvent.figures.experiment.comparison import compare
from resolvent.figures.experiment.error_location import chart as chart_error_location
from resolvent.figures.experiment.error_table import of_one_run
from resolvent.figures.published.beside import example_of
from resolvent.figures.published.words import differences_from_paper, differences_of_recipes
from resolvent.figures.run.data import write_run_data, write_runs_data

FILES = ("checkpoint.pt", "errors.csv", "history.csv", "predictions.nc", "run.json", "cost.json")
IDENTITY = ("config_hash", "code_digest", "dataset_hash", "versions", "tuning")
CURVES = {
    "train_relative_l2": ("training samples", "dot"),
    "validation_relative_l2": ("validation samples", "solid"),
    "test_relative_l2": ("test samples", "dash"),
}
BINS = 24
FEWEST_TICKS = 6  # of fewer samples every number has a tick, as there are no parts of one


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
    loaded, facts, card = read_runs(runs), read_json(card), Path(card)
    looks, experiment, root = appearances(loaded), Path(experiment), Path(root)
    report, store = experiment / "report.html", card.with_suffix(".zarr")
    above = [("Experiments", "index.html#experiments"), (title, relative(report, root))]
    for run in loaded:
        folder, record, look = run.directory, run.record, looks[run.model]
        write_run_data(run, folder / RUN_DATA, quantities)
        rows, models = compare([run], [])
        training, location = _chart_training(run, look), None
        if not run.diverged:
            location = chart_error_location([run], looks)
        example, stored, errors = example_of(record), run.predictions_at(), errors_by_sample(run)
        render(
            "run.html.j2",
            folder / RUN_PAGE,
            root=root,
            breadcrumbs=[*above, (run.name, "")],
            name=run.name,
            run=run,
            experiment={"title": title, "link": relative(report, folder)},
            compare=f"{relative(experiment / 'compare.html', folder)}#{relative(folder, experiment)}",
            dataset=relative(root / "datasets" / f"{record.dataset}.html", folder),
            summary=_summary(rows, run, leading(models)),
            of_errors=mean_error(models),
            errors=as_html(of_one_run(with_facts(rows, models))),
            training=training and plotly_chart(training),
            histogram=plotly_chart(_chart_histogram(errors.to_numpy(), look))
            if len(errors) and (errors > 0).all()
            else None,
            location=location and plotly_chart(location),
            maps=not run.diverged and "y" in stored.coords and "error_mean_square" in stored,
            data=RUN_DATA,
            differences=differences_from_paper([run]),
            recipes=differences_of_recipes([run]),
            paper=example and example.source.name,
            settings={"architecture": record.architecture, "recipe": record.recipe, **record.settings},
            identity={name: getattr(record, name) for name in IDENTITY},
            cost=asdict(run.cost),
            files=[
                (name, in_bytes((folder / name).stat().st_size)) for name in FILES if (folder / name).exists()
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
    """Return statistics of the metric that leads, as the run was trained, as comparison.csv computes them."""
    here = rows[(rows["metric"] == metric) & (rows["test_resolution"] == run.resolution)]
    here = here[here["test_noise"] == run.noise].set_index("statistic")
    if run.diverged or here["value"].isna().all():
        return None
    return {name: here.loc[name].to_dict() for name in ("mean", "median", "worst")}


def _chart_training(run: Run, look: Appearance) -> Figure | None:
    """Chart the errors by epoch; None of a run that diverged before its first epoch ended."""
    figure = Figure()
    for column, (words, dash) in CURVES.items():
        curve = run.by_epoch(column)
        if curve.empty:
            continue
        curve = curve.iloc[picked(len(curve), CURVE_POINTS)]
        figure.add_scatter(
            x=curve.index.to_list(), y=rounded(curve.to_list()), name=words,
            mode="lines" if len(curve) > 1 else "markers", line={"color": look.colour, "dash": dash},
            hovertemplate=f"{words}, epoch %{{x}}: %{{y:.3e}}<extra></extra>",
        )  # fmt: skip
    if not figure.data:
        return None
    if not run.diverged:
        figure.add_vline(run.cost.best_epoch, line={"width": 1, "dash": "dot", "color": look.colour})
    figure.update_layout(height=380, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    figure.update_yaxes(title="relative L² error", **LOGARITHMIC)
    figure.update_xaxes(title="epoch", dtick=epoch_tick([run]))
    return figure


def _chart_histogram(errors: np.ndarray, look: Appearance) -> Figure:
    """Chart how many test samples have which error, in bins of equal width on a logarithmic axis."""
    counts, edges = np.histogram(np.log10(errors), bins=min(BINS, max(4, len(errors) // 4)))
    ticks = np.linspace(edges[0], edges[-1], 5)
    figure = Figure()
    figure.add_bar(
        x=rounded((edges[1:] + edges[:-1]) / 2), y=counts.tolist(), width=rounded(np.diff(edges)),
        marker={"color": look.colour}, textposition="none",
        text=[f"{scientific(low)} to {scientific(high)}" for low, high in pairwise(10**edges)],
        hovertemplate="error %{text}<br>%{y} test samples<extra></extra>",
    )  # fmt: skip
    figure.update_layout(height=320, bargap=0.02)
    figure.update_xaxes(
        title="relative L² error of a test sample", tickvals=rounded(ticks),
        ticktext=[scientific(tick, 2) for tick in 10**ticks],
    )  # fmt: skip
    figure.update_yaxes(title="test samples", dtick=1 if counts.max() < FEWEST_TICKS else None)
    return figure
