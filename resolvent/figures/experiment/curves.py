"""Errors against the test resolution, for models trained on one grid, and against the epoch."""

import numpy as np
import pandas as pd

from resolvent.figures.common import charts, style
from resolvent.figures.common.charts import Looks
from resolvent.figures.common.comparison import errors_of, leading, mean_error
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.numbers import ends, scientific
from resolvent.figures.common.results import Run, resolution_in_words, with_training_noise
from resolvent.figures.experiment.comparison import grouped, status_of

BY_EPOCH = {"train_relative_l2": "training samples", "validation_relative_l2": "validation samples"}


def draw_resolutions(comparison: pd.DataFrame, looks: Looks):
    """Draw one panel per training resolution: a line with an interval per model, dashes for baselines.

    Baselines are fitted on the test grid, so their lines are the same in all panels. Noise is as in training.
    """
    models, baselines = _on_all_grids(comparison)
    trained, tested = sorted(models["trained_resolution"].unique()), models["test_resolution"].unique()
    size = (8.6, 0.4 + 3.6 * len(trained))
    figure, axes = style.new_figure(len(trained), 1, size=size, sharex=True, sharey=True)
    for resolution, panel in zip(trained, axes[:, 0], strict=True):
        places = style.resolution_axis(panel, tested)
        low, high = style.error_limits(panel, models["value"], margin=4)
        style.title(panel, f"trained on {resolution_in_words(resolution)}")
        panel.set_ylabel(mean_error(comparison))
        style.grid_lines(panel)
        if resolution in places:
            panel.axvline(places[resolution], color=style.MUTED, lw=0.6, ls=":")
        labels, outside = [], []
        trained_there = models[models["trained_resolution"] == resolution]
        for _, rows in pd.concat([trained_there, baselines]).groupby(["kind", "key"], sort=False):
            rows = rows.assign(place=rows["test_resolution"].map(places)).sort_values("place")
            rows = rows[np.isfinite(rows["value"])]
            if rows.empty:
                continue
            x, mean, facts = rows["place"], rows["value"], rows.iloc[0]
            if facts["kind"] == "model":
                look, band = looks[facts["key"]], (rows["low"], rows["high"])
                colour = look.colour
                panel.plot(x, mean, color=colour, linestyle=look.dashes, lw=1.5, zorder=3)
                panel.fill_between(x, *band, color=colour, alpha=0.14, lw=0)
                if len(rows) == 1:
                    panel.vlines(x, *band, color=colour, lw=1.2)
                own = rows[rows["test_resolution"] == resolution]
                panel.plot(own["place"], own["value"], ls="", ms=6.5, zorder=4, **look.marks())
            elif mean.between(low, high, inclusive="neither").any():
                colour = style.BASELINE
                panel.plot(x, mean, color=colour, ls=(0, (5, 3)), lw=1.1)
                if len(rows) == 1:
                    panel.plot(x, mean, "_", color=colour, ms=12, mew=1.3)
            else:
                outside.append((facts["label"], float(mean.median())))
                continue
            labels.append((float(mean.iloc[-1]), facts["label"], colour))
        label_right(panel, labels)
        style.name_outside(panel, outside)
        if not np.isfinite(trained_there["value"]).any():
            style.say_no_errors(panel)
    named = any(isinstance(resolution, str) for resolution in tested)
    axes[-1, 0].set_xlabel("times of the test observations" if named else "test resolution (points)")
    return figure


def chart_resolutions(comparison: pd.DataFrame, looks: Looks):
    """Chart the mean error by test resolution: a panel per training resolution, a line per model."""
    models, baselines = (rows[np.isfinite(rows["value"])] for rows in _on_all_grids(comparison))
    trained = sorted(models["trained_resolution"].unique())
    figure = charts.panels_of([f"trained on {resolution_in_words(resolution)}" for resolution in trained])
    named: set[tuple] = set()  # a model has a line only where it finished
    for number, place in enumerate(trained, 1):
        shown = pd.concat([models[models["trained_resolution"] == place], baselines])
        for (kind, key), group in shown.groupby(["kind", "key"], sort=False):
            group = group.sort_values("test_resolution")
            facts = group.iloc[0].to_dict()
            # All baselines are grey: each is named on its line, not in the legend.
            is_model = kind == "model"
            figure.add_scatter(
                x=group["test_resolution"].map(str).to_list(), y=charts.rounded(group["value"].to_list()),
                mode="lines+markers" if is_model else "lines+markers+text", name=facts["label"],
                legendgroup=f"{kind} {key}", showlegend=is_model and (kind, key) not in named,
                text=[facts["label"], *[""] * (len(group) - 1)], textposition="top right",
                textfont={"color": style.BASELINE}, marker=charts.marker_of(facts, looks),
                line=charts.line_of(facts, looks), customdata=[_hover(row) for row in group.itertuples()],
                hovertemplate="%{customdata}<extra></extra>", row=number, col=1,
            )  # fmt: skip
            named.add((kind, key))
    tested = [str(resolution) for resolution in sorted(models["test_resolution"].unique())]
    reach = charts.rounded(np.log10(charts.around(models["value"])))
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=tested)
    figure.update_yaxes(title=mean_error(comparison), range=reach, **charts.LOGARITHMIC)
    figure.update_xaxes(title="test resolution", row=max(1, len(trained)), col=1)
    return figure


def _hover(row) -> str:
    interval = ends(row.low, row.high, row.value)
    error = f"{row.label}<br>tested at {row.test_resolution}: {scientific(row.value)}"
    return f"{error}<br>95 % interval {interval}" if interval else error


def _on_all_grids(comparison: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the mean errors of models, and of baselines under the models' test conditions."""
    table = with_training_noise(errors_of(comparison, leading(comparison), "mean"))
    models, baselines = (table[table["kind"] == kind] for kind in ("model", "baseline"))
    return models, baselines[baselines["test_resolution"].isin(models["test_resolution"])]


def draw_training(runs: list[Run], looks: Looks):
    """Draw a row of panels per training resolution: errors on training and on validation samples.

    Lines are medians over seeds, bands are ranges. A cross ends the line of a diverged seed.
    """
    resolutions = sorted({run.resolution for run in runs})
    size = (8.6, 0.5 + 3.0 * len(resolutions))
    figure, axes = style.new_figure(len(resolutions), 2, size=size, sharex="row", sharey="row")
    for resolution, pair in zip(resolutions, axes, strict=True):
        groups = [group for group in grouped(runs) if group[0].resolution == resolution]
        curves = [run.by_epoch(column) for group in groups for run in group for column in BY_EPOCH]
        for (column, samples), panel in zip(BY_EPOCH.items(), pair, strict=True):
            style.error_limits(panel, pd.concat(curves), margin=2)
            style.title(panel, f"{resolution_in_words(resolution)}: {samples}")
            panel.set_xlabel("epoch")
            panel.xaxis.get_major_locator().set_params(integer=True)
            style.grid_lines(panel)
            for group in groups:
                look = looks[group[0].model]
                line = {"color": look.colour, "linestyle": look.dashes}
                if seeds := [run.by_epoch(column) for run in group if not run.diverged]:
                    table = pd.concat(seeds, axis=1)
                    mark = "o" if len(table) == 1 else ""  # a single epoch is a point
                    panel.plot(table.median(axis=1), lw=1.4, marker=mark, ms=4, **line)
                    band = table.min(axis=1), table.max(axis=1)
                    panel.fill_between(table.index, *band, color=look.colour, alpha=0.15, lw=0)
                for curve in (run.by_epoch(column) for run in group if run.diverged):
                    panel.plot(curve, lw=0.9, **line)
                    panel.plot(curve[-1:], "x", color=look.colour, ms=7, mew=1.6)
        labels, lost = [], []
        for group in groups:
            finished = [run.by_epoch("validation_relative_l2") for run in group if not run.diverged]
            if last := [curve.iloc[-1] for curve in finished if not curve.empty]:
                labels.append((float(np.median(last)), group[0].label, looks[group[0].model].colour))
            if len(finished) < len(group):
                lost.append(f"× {group[0].label}: {status_of(group)}")
        label_right(pair[1], labels)
        pair[0].set_ylabel("relative L² error")
        if lost:
            pair[1].text(
                0.98, 0.98, "\n".join(lost), transform=pair[1].transAxes, ha="right", va="top",
                color=style.MUTED, fontsize=7.5, bbox={"color": "white", "alpha": 0.8, "pad": 1},
            )  # fmt: skip
    return figure


def chart_training(runs: list[Run], looks: Looks):
    """Chart median errors over seeds by epoch, on validation and (fainter) training samples.

    Returns None if no run has finished an epoch.
    """
    places = sorted({run.resolution for run in runs})
    figure = charts.panels_of([f"trained on {resolution_in_words(resolution)}" for resolution in places])
    named: set[str] = set()
    for group in grouped(runs):
        first, row = group[0], 1 + places.index(group[0].resolution)
        line = charts.line_of({"kind": "model", "key": first.model}, looks)
        traces = []
        for column, width, opacity in (("validation_relative_l2", 2, 1.0), ("train_relative_l2", 1.3, 0.6)):
            finished = [run.by_epoch(column) for run in group if not run.diverged]
            curve = pd.concat(finished, axis=1).median(axis=1) if finished else pd.Series(dtype=float)
            curve = curve.dropna()  # without labels there is no error of training samples
            if not curve.empty:
                curve = curve.iloc[charts.picked(len(curve))]
                description = f"{first.label}, {BY_EPOCH[column]}"
                traces.append({
                    "x": curve.index.to_list(), "y": charts.rounded(curve.to_list()), "opacity": opacity,
                    "line": line | {"width": width}, "mode": "lines" if len(curve) > 1 else "markers",
                    "hovertemplate": f"{description}<br>epoch %{{x}}: %{{y:.3e}}<extra></extra>",
                })  # fmt: skip
        for run in group:
            curve = run.by_epoch("validation_relative_l2")
            if run.diverged and not curve.empty:
                description = f"{run.label}, seed {run.seed}: diverged in epoch {run.cost.diverged_epoch}"
                traces.append({
                    "x": [int(curve.index[-1])], "y": charts.rounded([curve.iloc[-1]]), "mode": "markers",
                    "marker": {"symbol": "x", "size": 10, "color": looks[run.model].colour},
                    "hovertemplate": f"{description}<extra></extra>",
                })  # fmt: skip
        for trace in traces:
            figure.add_scatter(
                **trace, name=first.label, legendgroup=first.model, row=row, col=1,
                showlegend=first.model not in named,
            )  # fmt: skip
            named.add(first.model)
    if not figure.data:
        return None
    figure.update_yaxes(title="relative L² error", **charts.LOGARITHMIC)
    # For few epochs, ticks at every epoch, not between.
    figure.update_xaxes(dtick=1 if max(run.record.training["epochs"] for run in runs) <= 8 else None)
    figure.update_xaxes(title="epoch", row=len(places), col=1)
    return figure


RESOLUTION_CURVES = Exhibit(
    "Error on grids other than the training grid",
    "{mean_error} of each trained model at every test resolution ({tested}), for the same {test} functions "
    "on each grid. Bands in the static figure are 95 % intervals. Grey: baselines; zoom out to see those "
    "outside the axis. {dashes}",
    draw_resolutions,
    chart_resolutions,
    only_if="several_resolutions",
)
TRAINING_CURVE = Exhibit(
    "Error by epoch",
    "Mean relative L² error on validation samples (thick) and on training samples with dropout (thin and "
    "pale); a cross is the last epoch of a diverged run.",
    chart=chart_training,
)
TRAINING_CURVES = Exhibit(
    "Training",
    "Mean relative L² error by epoch, median over {seeds}: on the training batches, with dropout, and on the "
    "{validation} validation samples, which select {selected}. {train} training samples, {epochs} "
    "epochs, batch size {batch_size}. In the chart, thick lines are validation, thin and pale ones training. "
    "A cross marks the end of a diverged seed. {dashes}",
    draw_training,
    chart_training,
)
