"""Latent functions beside eigenfunctions: Figure 13 of Cao 2021 (arXiv:2105.14995).

`resolvent/evaluation/latent_basis.py` says what is singled out of a layer's columns, and what roughness is.
"""

import numpy as np
import pandas as pd

from resolvent.figures.common.fields import draw_colour_bar, draw_field, scale_of, symmetric_scale_of
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.style import ATTENTIONS, INK, MUTED, error_limits, grid_lines, new_stack, title


def draw_latent_basis(latent_basis: dict[str, np.ndarray]):
    """Draw two functions of each layer and of the differential operator, and the roughness of all columns.

    All functions have norm 1, and each has a colour scale of its own about zero. In the lower panel the line
    is the median over the columns, the band their quartiles; dots are the columns.
    """
    found = latent_basis
    width, rows = len(found["layers"]) + 1, found["basis"].shape[1]
    figure, (pictures, ((left, right),)) = new_stack(
        {"nrows": rows, "ncols": width, "height": 5.8},
        {"nrows": 1, "ncols": 2, "height": 3, "width_ratios": (1, 2.2)},
        size=(2.9 * width, 9.2),
    )
    for column, layer in enumerate(found["layers"]):
        words = [
            f"{100 * share:.1f} % of the variance, roughness {rough:.3g}"
            for share, rough in zip(found["share"][column], found["basis_roughness"][column], strict=True)
        ]
        functions = turned(found["basis"][column], found["basis"][0])
        _draw_column(pictures[:, column], f"Encoder layer {layer}", functions, words)
    words = [
        f"λ = {value:.4g}, roughness {rough:.3g}"
        for value, rough in zip(found["eigenvalues"], found["eigenfunction_roughness"], strict=True)
    ]
    _draw_column(pictures[:, -1], "Eigenfunctions of -∇·(a∇)", found["eigenfunctions"], words)
    image = draw_field(left, found["coefficient"], scale_of(found["coefficient"]))
    draw_colour_bar(figure, image, [left], fraction=0.04)
    title(left, f"a, test sample {int(found['sample'])}")
    _draw_roughness(right, found)
    return figure


def turned(functions: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return functions (count, n, n) with the signs that correlate them positively with `others`."""
    products = (functions * others).sum(axis=(1, 2), keepdims=True)
    return np.where(products < 0, -functions, functions)


def smoothing(found: dict[str, np.ndarray]) -> str:
    """Return the median roughness of the columns of the first and the last layer shown, in words."""
    medians = {layer: _quartiles(found["roughness"])[1, layer - 1] for layer in found["layers"]}
    if not all(np.isfinite(list(medians.values()))):
        return "Roughness: the run diverged"
    return "Median roughness: " + ", ".join(f"{one:.3g} in layer {layer}" for layer, one in medians.items())


def _draw_column(panels, heading: str, functions: np.ndarray, words: list[str]) -> None:
    for panel, function, about in zip(panels, functions, words, strict=True):
        draw_field(panel, function, symmetric_scale_of(function))
        panel.set_title(about if np.isfinite(function).all() else "diverged", loc="left", fontsize=8)
    panels[0].text(0, 1.1, heading, transform=panels[0].transAxes, color=INK, fontweight="bold")


def _draw_roughness(panel, found: dict[str, np.ndarray]) -> None:
    labels = []
    for name, words, colour, shift in (
        ("initial_roughness", "initial weights", MUTED, -0.06),
        ("roughness", "trained", ATTENTIONS["galerkin"][0], 0.06),
    ):
        columns = found[name]
        numbers = np.arange(1, len(columns) + 1)
        low, median, high = _quartiles(columns)
        panel.plot(numbers + shift, columns, ".", color=colour, ms=3, alpha=0.3, mew=0)
        panel.fill_between(numbers, low, high, color=colour, alpha=0.15, lw=0)
        panel.plot(numbers, median, color=colour, lw=1.8, marker="o", ms=4)
        if np.isfinite(median[-1]):
            labels.append((median[-1], words, colour))
    for number, rough in enumerate(found["eigenfunction_roughness"], start=1):
        panel.axhline(rough, color=INK, lw=0.8, ls=(0, (4, 3)))
        labels.append((rough, f"eigenfunction {number}", INK))
    drawn = [found["roughness"], found["initial_roughness"], found["eigenfunction_roughness"]]
    error_limits(panel, np.concatenate([values.ravel() for values in drawn]), margin=1.15)
    panel.yaxis.set_major_formatter("{x:g}")
    panel.set(xlabel="encoder layer", ylabel="roughness of the columns")
    panel.set_xticks(numbers)
    panel.set_xlim(0.6, len(numbers) + 0.4)
    grid_lines(panel)
    title(panel, smoothing(found))
    label_right(panel, labels)


def _quartiles(columns: np.ndarray) -> np.ndarray:
    """Return quartiles (3, layers) of (layers, width); columns that are constant have no roughness."""
    return pd.DataFrame(columns.T).quantile([0.25, 0.5, 0.75]).to_numpy()
