"""Power by wavenumber or frequency: how smooth are the inputs and the targets of a dataset?"""

from pathlib import Path

import numpy as np

from resolvent.figures.common.style import MUTED, grid_lines, new_figure, save
from resolvent.figures.dataset.preview import DatasetPreview, PreviewVariable

DECADES = 16  # below the largest power: the rounding of what is stored


def draw_dataset_spectra(card: str | Path, preview: str | Path, output: str | Path) -> list[Path]:
    """Draw the median power over samples and the band of 5 % to 95 % quantiles, of every variable."""
    variables = [variable for variable in DatasetPreview(card, preview).functions if variable.spectrum]
    figure, ((panel,),) = new_figure(1, 1, size=(8.6, 3.4))
    if not variables:
        words = "stored at times that are not equally spaced: no spectrum"
        panel.text(0.5, 0.5, words, transform=panel.transAxes, ha="center", va="center", color=MUTED)
        panel.set_axis_off()
        return save(figure, output)
    highest = max(variable.spectrum["high"][1:].max() for variable in variables)
    lowest = min(_positive(variable.spectrum["low"]).min() for variable in variables)
    for variable in variables:
        _draw(panel, variable)
    panel.set(xscale="log", yscale="log", ylabel="power")
    panel.set_xlabel(str(variables[0].spectrum["axis"]))
    panel.set_ylim(max(lowest, highest / 10**DECADES) / 2, highest * 4)
    grid_lines(panel, "both")
    panel.legend(frameon=False, fontsize=9)
    return save(figure, output)


def _draw(panel, variable: PreviewVariable) -> None:
    """Draw all but the constant, which has no place on a logarithmic axis."""
    spectrum = {word: values[1:] for word, values in variable.spectrum.items() if word != "axis"}
    at = spectrum["wavenumber"]
    panel.fill_between(at, spectrum["low"], spectrum["high"], color=variable.colour, alpha=0.18, lw=0)
    panel.plot(at, spectrum["median"], color=variable.colour, lw=1.5, label=variable.label)


def _positive(values: np.ndarray) -> np.ndarray:
    return values[values > 0]
