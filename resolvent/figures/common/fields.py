"""Draw functions of two variables as images in one style."""

from collections.abc import Sequence

import numpy as np

LONGEST_SIDE = 6  # maximum aspect ratio of an image


def scale_of(*fields: np.ndarray, colours: str = "viridis") -> dict:
    """Return a colour map, and limits that include all finite values of `fields`."""
    values = np.concatenate([field[np.isfinite(field)] for field in fields])
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    return {"cmap": colours, "vmin": low, "vmax": high}


def symmetric_scale_of(*fields: np.ndarray) -> dict:
    """Return a colour map and limits symmetric about zero, for errors and functions of either sign."""
    bound = max(np.abs(field[np.isfinite(field)]).max(initial=0) for field in fields) or 1.0
    return {"cmap": "RdBu_r", "vmin": -float(bound), "vmax": float(bound)}


def log_scale_of(*fields: np.ndarray, decades: int = 4) -> dict:
    """Return a logarithmic scale for absolute values, from the largest to at most `decades` below."""
    from matplotlib.colors import LogNorm

    values = np.concatenate([field[np.isfinite(field) & (field > 0)] for field in fields])
    high = float(values.max()) if values.size else 1.0
    low = max(float(values.min(initial=high / 10)), high * 10.0**-decades)
    return {"cmap": "magma", "norm": LogNorm(low, high, clip=True)}


def draw_field(panel, field: np.ndarray, scale: dict, axes: Sequence[np.ndarray] = ()):
    """Draw the image of `field` (y, x) without axes; `axes` are its coordinates y and x, empty for a square.

    Values that are not finite are white. The image has the domain's aspect ratio, limited by `LONGEST_SIDE`.
    """
    y, x = axes or (np.arange(2.0),) * 2
    if np.array_equal(x, y) and np.allclose(np.diff(x, 2), 0, atol=1e-6 * np.ptp(x)):
        image = panel.imshow(field, origin="lower", interpolation="nearest", extent=(0, 1, 0, 1), **scale)
    else:
        image = panel.pcolormesh(x, y, field, shading="nearest", rasterized=True, **scale)
        panel.set_aspect("equal" if 1 / LONGEST_SIDE <= np.ptp(y) / np.ptp(x) <= LONGEST_SIDE else "auto")
    panel.set(xticks=[], yticks=[])
    panel.spines[:].set_visible(False)
    return image


def draw_colour_bar(figure, image, panels, **place) -> None:
    bar = figure.colorbar(image, ax=panels, **{"fraction": 0.02, "pad": 0.01, **place})
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=7)
