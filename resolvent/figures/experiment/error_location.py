"""Where the errors of the models are: by wavenumber, and by point of space or moment of time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from resolvent.figures.common.charts import LOGARITHMIC, Looks, line_of, panels_of
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.fields import draw_colour_bar, draw_field, log_scale_of
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.results import (
    Run,
    Shown,
    one_of_each,
    resolution_in_words,
    spectrum_of,
    spread_of,
)
from resolvent.figures.common.style import (
    INK,
    grid_lines,
    new_stack,
    say_no_errors,
    title,
)
from resolvent.figures.common.thinned import CURVE_POINTS, picked, picked_on_log_axis, rounded

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MAPS = 4  # side by side
AMPLITUDE = "root mean power"
BY_POINT = "RMS error / RMS target"


def draw(runs: list[Run], looks: Looks, shown: Shown):
    """Draw the spectra of target and errors, and the root mean square error at each point.

    Of each model the first seed that finished, at the training resolution of the run that is shown.
    """
    place = shown.run.resolution
    here = [run for run in one_of_each(runs) if run.resolution == place]
    spectra = {run.model: found for run in here if (found := spectrum_of(run))}
    spreads = {run.model: found for run in here if (found := spread_of(run))}
    labels = {run.model: run.label for run in here}
    maps = any(one.dimension == 2 for one in spreads.values())
    rows = -(-len(spreads) // MAPS) if maps else 1
    curves = not maps and (bool(spreads) or not spectra)
    bands = [{"height": 3.0, "nrows": 1, "ncols": 1}] * (bool(spectra) + curves)
    bands += [{"height": 2.3 * rows, "nrows": rows, "ncols": MAPS}] * maps
    figure, panels = new_stack(*bands, size=(8.6, 0.6 + sum(band["height"] for band in bands)))
    panels = iter(panels)
    where = f"trained and tested on {resolution_in_words(place)}"
    if spectra:
        (panel,) = next(panels).flat
        _draw_spectra(panel, spectra, labels, looks)
        title(panel, f"by wavenumber, {where}")
    if maps:
        _draw_maps(figure, next(panels), spreads, labels)
    if curves:
        (panel,) = next(panels).flat
        _draw_curves(panel, spreads, labels, looks)
        in_time = any("time" in one.axes for one in spreads.values())
        title(panel, f"by {'time' if in_time else 'point'}, {where}")
    return figure


def _draw_spectra(panel, spectra: dict, labels: dict, looks: dict) -> None:
    panel.set(xscale="log", yscale="log", xlabel="wavenumber (cycles along a side)", ylabel=AMPLITUDE)
    grid_lines(panel, "both")
    ends = []
    first = next(iter(spectra.values()))
    for wavenumber, values, colour, dashes, label in [
        (first.wavenumber, first.target, INK, "-", "target"),
        *(
            (one.wavenumber, one.error, looks[model].colour, looks[model].dashes, labels[model])
            for model, one in spectra.items()
        ),
    ]:
        kept = (wavenumber > 0) & (values > 0)
        if kept.any():
            panel.plot(wavenumber[kept], values[kept], color=colour, linestyle=dashes, lw=1.3)
            ends.append((float(values[kept][-1]), label, colour))
    panel.set_ylim(bottom=lowest_shown([one.error for one in spectra.values()]))
    label_right(panel, ends)


def lowest_shown(errors: Iterable[np.ndarray]) -> float | None:
    """Return where the axis of amplitudes ends: a decade below the errors, not where targets round off."""
    values = np.concatenate([one[np.isfinite(one) & (one > 0)] for one in errors])
    return float(values.min() / 10) if values.size else None


def _draw_curves(panel, spreads: dict, labels: dict, looks: dict) -> None:
    grid_lines(panel)
    if not spreads:
        say_no_errors(panel)
        return
    panel.set(yscale="log", ylabel=BY_POINT)
    ends = []
    for model, one in spreads.items():
        ((name, x),) = one.axes.items()
        panel.set_xlabel(name)
        look = looks[model]
        panel.plot(
            x, np.where(one.values > 0, one.values, np.nan), color=look.colour, linestyle=look.dashes, lw=1.2
        )
        ends.append((max(float(one.values[-1]), float(one.values.max()) * 1e-6), labels[model], look.colour))
    label_right(panel, ends)


def _draw_maps(figure, panels, spreads: dict, labels: dict) -> None:
    scale = log_scale_of(*(one.values for one in spreads.values()), decades=3)
    for panel, (model, one) in zip(panels.flat, spreads.items(), strict=False):
        image = draw_field(panel, one.values, scale)
        title(panel, labels[model])
        panel.title.set_fontsize(7.5)
    for panel in panels.flat[len(spreads) :]:
        panel.set_axis_off()
    draw_colour_bar(figure, image, panels, label=BY_POINT)


def chart(runs: list[Run], looks: Looks) -> Figure | None:
    """Chart spectra, and errors by point where functions have one variable: a panel a training resolution.

    None where there is neither: then the maps that come with the predictions show it.
    """
    runs = one_of_each(runs)
    places = sorted({run.resolution for run in runs})
    here = {place: [run for run in runs if run.resolution == place] for place in places}
    spectra = {
        place: [(run, one) for run in some if (one := spectrum_of(run))] for place, some in here.items()
    }
    curves = {
        place: [(run, one) for run in some if (one := spread_of(run)) and one.dimension == 1]
        for place, some in here.items()
    }
    wanted = [("wavenumber", place) for place in places if spectra[place]]
    wanted += [("point", place) for place in places if curves[place]]
    if not wanted:
        return None
    kinds = {kind: kind for kind, _ in wanted}
    if any("time" in one.axes for some in curves.values() for _, one in some):
        kinds["point"] = "time"
    figure = panels_of([f"by {kinds[kind]}, {resolution_in_words(place)}" for kind, place in wanted])
    named = set()
    for row, (kind, place) in enumerate(wanted, 1):
        found = spectra[place] if kind == "wavenumber" else curves[place]
        if kind == "wavenumber":
            first = found[0][1]
            _add_line(
                figure,
                row,
                first.wavenumber,
                first.target,
                {"color": INK, "width": 1.8},
                "target",
                named,
                True,
            )
            low = lowest_shown(one.error for _, one in found)
            top = max(float(one.target.max()) for _, one in found)
            figure.update_yaxes(title=AMPLITUDE, row=row, col=1)
            if low:
                figure.update_yaxes(range=rounded(np.log10([low, 3 * top])), row=row, col=1)
            figure.update_xaxes(type="log", title="wavenumber (cycles along a side)", row=row, col=1)
            for run, one in found:
                line = line_of({"kind": "model", "key": run.model}, looks)
                _add_line(figure, row, one.wavenumber, one.error, line, run.label, named, True)
        else:
            figure.update_yaxes(title=BY_POINT, row=row, col=1)
            for run, one in found:
                ((name, x),) = one.axes.items()
                figure.update_xaxes(title=name, row=row, col=1)
                line = line_of({"kind": "model", "key": run.model}, looks)
                _add_line(figure, row, x, one.values, line, run.label, named, False)
    figure.update_yaxes(**LOGARITHMIC)
    return figure


def _add_line(figure, row, x, y, line, name, named: set, on_log_axis: bool) -> None:
    kept = (y > 0) & ((x > 0) | (not on_log_axis))
    x, y = x[kept], y[kept]
    some = picked_on_log_axis(len(x)) if on_log_axis else picked(len(x), CURVE_POINTS)
    figure.add_scatter(
        x=rounded(x[some]), y=rounded(y[some]), mode="lines", line=line, name=name, legendgroup=name,
        showlegend=name not in named, hovertemplate=f"{name}<br>%{{x}}: %{{y:.3e}}<extra></extra>",
        row=row, col=1,
    )  # fmt: skip
    named.add(name)


ERROR_LOCATION = Exhibit(
    "Where the errors are",
    "Over all {test} test samples. {located} One seed of each model.",
    draw,
    chart,
)
