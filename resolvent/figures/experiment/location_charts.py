"""Charts, to hover over, of where the errors of an experiment are: by wavenumber, and by point or moment."""

import numpy as np
from plotly.graph_objects import Figure

from resolvent.figures.common.location import one_of_each, spectrum_of, spread_of
from resolvent.figures.common.results import Run, resolution_in_words
from resolvent.figures.common.style import INK
from resolvent.figures.common.thinned import CURVE_POINTS, picked, picked_on_log_axis, rounded
from resolvent.figures.experiment.charts import LOGARITHMIC, Looks, line_of, panels_of
from resolvent.figures.experiment.error_location import AMPLITUDE, BY_POINT, lowest_shown


def chart_error_location(runs: list[Run], looks: Looks) -> Figure | None:
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
