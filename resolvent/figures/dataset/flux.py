"""Darcy flow as a flow: the coefficient, the pressure, and the flux -a∇p that they drive."""

import numpy as np

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.style import new_figure, title
from resolvent.figures.dataset.gallery import add_field, colours_of, field_panels
from resolvent.figures.dataset.preview import DatasetPreview

TITLES = ("permeability a", "pressure p", "flux |a∇p|")


def draw(dataset: DatasetPreview):
    """Draw the first sample of the preview; lines in the last panel follow the flux."""
    x, y, coefficient, pressure, flux = _flow(dataset)
    figure, (panels,) = new_figure(1, 3, size=(8.6, 2.9))
    speed = np.hypot(*flux)
    for panel, words, field in zip(panels, TITLES, (coefficient, pressure, speed), strict=True):
        extent = (x[0], x[-1], y[0], y[-1])
        image = panel.imshow(field, origin="lower", extent=extent, **colours_of(field))
        bar = figure.colorbar(image, ax=panel, fraction=0.046, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=7)
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
        title(panel, words)
    stride = max(1, len(x) // 100)
    thinned = (slice(None, None, stride),) * 2
    evenly = [np.linspace(one[::stride][0], one[::stride][-1], len(one[::stride])) for one in (x, y)]
    lines = {"color": "white", "linewidth": 0.6, "arrowsize": 0.6, "density": 0.9}
    panels[2].streamplot(*evenly, flux[0][thinned], flux[1][thinned], **lines)
    panels[2].set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    return figure


def chart(dataset: DatasetPreview):
    """Draw the same three fields as a chart, without the lines."""
    x, y, coefficient, pressure, flux = _flow(dataset)
    figure = field_panels(len(TITLES))
    for column, field in enumerate((coefficient, pressure, np.hypot(*flux))):
        add_field(figure, (column, len(TITLES)), TITLES[column], y, x, field, colours_of(field))
    return figure


def _flow(dataset: DatasetPreview) -> tuple:
    """Return x, y, coefficient, pressure [y, x] and flux (2, y, x) of the first sample."""
    shown = {variable.name: variable for variable in dataset.functions}
    if not {"coefficient", "pressure"} <= set(shown):
        raise ResultError(f"{dataset.card['dataset']} has no coefficient and pressure: it is no Darcy flow")
    coefficient, pressure = (shown[name].samples[0].astype(float) for name in ("coefficient", "pressure"))
    if coefficient.shape != pressure.shape:
        raise ResultError(f"{dataset.card['dataset']}: coefficient and pressure are not on one grid")
    x, y = (shown["pressure"].axes[dim] for dim in ("x", "y"))
    mean = dataset.card["settings"]["face_mean"]
    flux = np.stack(
        [_along_rows(coefficient, pressure, x, mean), _along_rows(coefficient.T, pressure.T, y, mean).T]
    )
    return x, y, coefficient, pressure, flux


def _along_rows(
    coefficient: np.ndarray, pressure: np.ndarray, positions: np.ndarray, mean: str
) -> np.ndarray:
    """Return -a ∂p along the last axis: on the faces as the solver has it, averaged to the points."""
    left, right = coefficient[:, :-1], coefficient[:, 1:]
    face = (left + right) / 2 if mean == "arithmetic" else 2 * left * right / (left + right)
    flux = -face * np.diff(pressure, axis=1) / np.diff(positions)
    return np.concatenate([flux[:, :1], (flux[:, :-1] + flux[:, 1:]) / 2, flux[:, -1:]], axis=1)


FLUX = Exhibit(
    "The flow of a sample",
    "The first sample of the gallery: the permeability, the pressure, and the size of the flux -a∇p that "
    "they drive; in the printed figure lines follow its direction. Fluid enters everywhere in the square "
    "at the same rate, flows through the permeable material and leaves at the boundary.",
    draw,
    chart,
)
