"""The page of each run of an experiment, and the page that compares two of them."""

from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from plotly.graph_objects import Figure

from resolvent.figures.common.charts import LOGARITHMIC, Looks, epoch_tick, line_of, panels_of, plotly_chart
from resolvent.figures.common.commands import loading, making, size_of
from resolvent.figures.common.comparison import leading, mean_error, with_facts
from resolvent.figures.common.numbers import in_bytes, scientific
from resolvent.figures.common.page import RUN_DATA, RUN_PAGE, relative, render
from resolvent.figures.common.results import (
    Run,
    errors_by_sample,
    read_json,
    read_runs,
    spectrum_of,
    spread_of,
)
from resolvent.figures.common.style import INK, Appearance, appearances
from resolvent.figures.common.table import as_html
from resolvent.figures.common.thinned import CURVE_POINTS, picked, picked_on_log_axis, rounded
from resolvent.figures.experiment.comparison import compare
from resolvent.figures.experiment.error_location import AMPLITUDE, BY_POINT, WAVENUMBER, lowest_shown
from resolvent.figures.experiment.error_table import of_one_run
from resolvent.figures.published.beside import differences_from_paper, differences_of_recipes, example_of
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
        training = _chart_training(run, look)
        location = None if run.diverged else _chart_location(run, looks)
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


def _chart_location(run: Run, looks: Looks) -> Figure | None:
    """Chart target and error by wavenumber, and the error by point where functions have one variable."""
    line = line_of({"kind": "model", "key": run.model}, looks)
    spectrum, spread = spectrum_of(run), spread_of(run)
    curves = spread if spread is not None and spread.dimension == 1 else None
    kinds = ["wavenumber"] * (spectrum is not None)
    if curves is not None:
        kinds.append("time" if "time" in curves.axes else "point")
    if not kinds:
        return None
    figure = panels_of([f"by {kind}, {run.where}" for kind in kinds])

    def add_line(row: int, x: np.ndarray, y: np.ndarray, line: dict, name: str) -> None:
        on_log_axis = kinds[row - 1] == "wavenumber"
        kept = (y > 0) & ((x > 0) | (not on_log_axis))
        x, y = x[kept], y[kept]
        some = picked_on_log_axis(len(x)) if on_log_axis else picked(len(x), CURVE_POINTS)
        figure.add_scatter(
            x=rounded(x[some]), y=rounded(y[some]), mode="lines", line=line, name=name, legendgroup=name,
            showlegend=row == 1, hovertemplate=f"{name}<br>%{{x}}: %{{y:.3e}}<extra></extra>", row=row, col=1,
        )  # fmt: skip

    if spectrum is not None:
        add_line(1, spectrum.wavenumber, spectrum.target, {"color": INK, "width": 1.8}, "target")
        add_line(1, spectrum.wavenumber, spectrum.error, line, run.label)
        if low := lowest_shown([spectrum.error]):
            reach = [low, 3 * float(spectrum.target.max())]
            figure.update_yaxes(range=rounded(np.log10(reach)), row=1, col=1)
        figure.update_yaxes(title=AMPLITUDE, row=1, col=1)
        figure.update_xaxes(type="log", title=WAVENUMBER, row=1, col=1)
    if curves is not None:
        ((name, x),) = curves.axes.items()
        figure.update_yaxes(title=BY_POINT, row=len(kinds), col=1)
        figure.update_xaxes(title=name, row=len(kinds), col=1)
        add_line(len(kinds), x, curves.values, line, run.label)
    figure.update_yaxes(**LOGARITHMIC)
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
