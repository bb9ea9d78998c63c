"""Where the errors of the models are: by wavenumber, and by point of space or moment of time."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from resolvent.figures.common.fields import draw_colour_bar, draw_field, log_scale_of
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.location import one_of_each, spectrum_of, spread_of
from resolvent.figures.common.results import read_runs, resolution_in_words
from resolvent.figures.common.shown import choose_shown
from resolvent.figures.common.style import (
    INK,
    appearances,
    grid_lines,
    new_stack,
    save,
    say_no_errors,
    title,
)

MAPS = 4  # side by side
AMPLITUDE = "root mean power"
BY_POINT = "RMS error / RMS target"


def draw_error_location(
    runs: Iterable[str | Path],
    candidates: Iterable[str | Path],
    output: str | Path,
    named: bool = True,
) -> list[Path]:
    """Draw the spectra of target and errors, and the root mean square error at each point.

    runs               all run folders of the experiment: the first seed that finished of each model.
    candidates, named  of which one is shown, as `resolvent.figures.common.shown.choose_shown` takes them: the
                       figure is at its training resolution.
    """
    place = choose_shown(candidates, named).run.resolution
    runs = read_runs(runs)
    looks = appearances(runs)
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
    return save(figure, output)


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
