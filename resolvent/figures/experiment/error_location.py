"""Errors of models by wavenumber, and by point in space or time."""

import numpy as np

from resolvent.figures.common import charts, results, style
from resolvent.figures.common.charts import Looks
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.fields import draw_colour_bar, draw_field, log_scale_of
from resolvent.figures.common.labels import label_right

MAPS = 4  # side by side
AMPLITUDE = "root mean power"
WAVENUMBER = "wavenumber (cycles per side)"
BY_POINT = "RMS error / RMS target"


def draw(runs: list[results.Run], looks: Looks, shown: results.Shown):
    """Draw the spectra of target and errors, and the root mean square error at each point.

    Each model is shown with its first finished seed at the training resolution of `shown`.
    """
    place = shown.run.resolution
    spectra, spreads = _located(runs, place)
    maps = any(spread.dimension == 2 for _, spread in spreads)
    curves = not maps and (bool(spreads) or not spectra)
    rows = -(-len(spreads) // MAPS) if maps else 1
    bands = [{"height": 3.0, "nrows": 1, "ncols": 1}] * (bool(spectra) + curves)
    bands += [{"height": 2.3 * rows, "nrows": rows, "ncols": MAPS}] * maps
    figure, panels = style.new_stack(*bands, size=(8.6, 0.6 + sum(band["height"] for band in bands)))
    where = results.trained_and_tested(place, shown.run.home)
    if spectra:
        panel, ends = panels[0][0, 0], []
        panel.set(xscale="log", yscale="log", xlabel=WAVENUMBER, ylabel=AMPLITUDE)
        style.grid_lines(panel, "both")
        wavenumber, target = spectra[0][1].wavenumber, spectra[0][1].target
        lines: list[tuple] = [(wavenumber, target, style.INK, "-", "target")]
        for run, spectrum in spectra:
            look = looks[run.model]
            lines.append((spectrum.wavenumber, spectrum.error, look.colour, look.dashes, run.label))
        for x, values, colour, dashes, label in lines:
            kept = (x > 0) & (values > 0)
            if kept.any():
                panel.plot(x[kept], values[kept], color=colour, linestyle=dashes, lw=1.3)
                ends.append((float(values[kept][-1]), label, colour))
        panel.set_ylim(bottom=_lowest_shown([spectrum.error for _, spectrum in spectra]))
        label_right(panel, ends)
        style.title(panel, f"by wavenumber, {where}")
    if maps:
        scale = log_scale_of(*(spread.values for _, spread in spreads), decades=3)
        for panel, (run, spread) in zip(panels[-1].flat, spreads, strict=False):
            image = draw_field(panel, spread.values, scale, [*spread.axes.values()])
            style.title(panel, run.label)
            panel.title.set_fontsize(7.5)
        for panel in panels[-1].flat[len(spreads) :]:
            panel.set_axis_off()
        draw_colour_bar(figure, image, panels[-1], label=BY_POINT)
    if curves:
        panel, ends = panels[-1][0, 0], []
        in_time = any("time" in spread.axes for _, spread in spreads)
        style.grid_lines(panel)
        if spreads:
            style.error_limits(panel, np.concatenate([spread.values for _, spread in spreads]), margin=2)
            panel.set_ylabel(BY_POINT)
        else:
            style.say_no_errors(panel)
        for run, spread in spreads:
            ((name, x),), look = spread.axes.items(), looks[run.model]
            values = np.where(spread.values > 0, spread.values, np.nan)
            panel.plot(x, values, color=look.colour, linestyle=look.dashes, lw=1.2)
            panel.set_xlabel(name)
            ends.append((float(spread.values[-1]), run.label, look.colour))
        label_right(panel, ends)
        style.title(panel, f"by {'time' if in_time else 'point'}, {where}")
    return figure


def _located(runs: list[results.Run], place: int | str) -> tuple[list[tuple], list[tuple]]:
    """Return runs at this training resolution with their spectra, and runs with their errors by point."""
    trained_there = [run for run in results.one_of_each(runs) if run.resolution == place]
    spectra = [(run, one) for run in trained_there if (one := results.spectrum_of(run))]
    return spectra, [(run, spread) for run in trained_there if (spread := results.spread_of(run))]


def _lowest_shown(errors: list[np.ndarray]) -> float | None:
    """Return the lower end of the amplitude axis: a decade below the errors, not at the targets' rounding."""
    values = np.concatenate([error[np.isfinite(error) & (error > 0)] for error in errors])
    return float(values.min() / 10) if values.size else None


def chart(runs: list[results.Run], looks: Looks):
    """Chart spectra, and errors by point for functions of one variable: one panel per training resolution.

    Returns None if a run has neither; maps then show the errors.
    """
    panels: list[tuple[str, int | str, list]] = []
    for place in sorted({run.resolution for run in results.one_of_each(runs)}):
        spectra, spreads = _located(runs, place)
        spreads = [(run, spread) for run, spread in spreads if spread.dimension == 1]
        in_time = any("time" in spread.axes for _, spread in spreads)
        panels += [("wavenumber", place, spectra), ("time" if in_time else "point", place, spreads)]
    # Panels by wavenumber come first.
    panels = sorted((panel for panel in panels if panel[2]), key=lambda panel: panel[0] != "wavenumber")
    if not panels:
        return None
    titles = [f"by {kind}, {measured[0][0].where}" for kind, _, measured in panels]
    figure = charts.panels_of(titles)
    named: set[str] = set()

    def add_line(row: int, x: np.ndarray, y: np.ndarray, line: dict, name: str, key: str = "") -> None:
        on_log_axis = panels[row - 1][0] == "wavenumber"
        kept = (y > 0) & ((x > 0) | (not on_log_axis))
        x, y = x[kept], y[kept]
        some = charts.picked(len(x), logarithmic=on_log_axis)
        figure.add_scatter(
            x=charts.resolved(x[some]), y=charts.rounded(y[some]), mode="lines", line=line, name=name,
            legendgroup=key, showlegend=key not in named, row=row, col=1,
            hovertemplate=f"{name}<br>%{{x}}: %{{y:.3e}}<extra></extra>",
        )  # fmt: skip
        named.add(key)

    for row, (kind, _, measured) in enumerate(panels, 1):
        by_wavenumber = kind == "wavenumber"
        if by_wavenumber:
            first = measured[0][1]
            add_line(row, first.wavenumber, first.target, {"color": style.INK, "width": 1.8}, "target")
            if low := _lowest_shown([one.error for _, one in measured]):
                top = max(float(one.target.max()) for _, one in measured)
                figure.update_yaxes(range=charts.rounded(np.log10([low, 3 * top])), row=row, col=1)
            figure.update_xaxes(type="log", title=WAVENUMBER, row=row, col=1)
        figure.update_yaxes(title=AMPLITUDE if by_wavenumber else BY_POINT, row=row, col=1)
        for run, one in measured:
            if by_wavenumber:
                x, values = one.wavenumber, one.error
            else:
                ((name, x),), values = one.axes.items(), one.values
                figure.update_xaxes(title=name, row=row, col=1)
            line = charts.line_of({"kind": "model", "key": run.model}, looks)
            add_line(row, x, values, line, run.label, run.model)
    figure.update_yaxes(**charts.LOGARITHMIC)
    return figure


ERROR_BY_TIME = Exhibit(
    "Error by time",
    "Root mean square error at each time over all test samples, divided by the root mean square of the "
    "targets.",
    chart=chart,
    only_if="in_time",
)
ERROR_BY_WAVENUMBER = Exhibit(
    "Error by wavenumber and by point",
    "Root mean power of target and error by wavenumber, over all test samples. For functions of one "
    "variable, also the root mean square error at each point, divided by the root mean square of the "
    "targets.",
    chart=chart,
    only_if="in_space",
)
ERROR_LOCATION = Exhibit(
    "Errors of each model", "Over all {test} test samples. {located} One seed of each model.", draw, chart
)
