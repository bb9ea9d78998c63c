"""What the page of a dataset shows of a store: a few samples, spectra, histograms. Small, and an .npz."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from datasets.files import write_arrays
from datasets.layout import grid_from_facts
from datasets.loading import load_arrays, read_card
from solvers.fourier import coefficients_of, coefficients_of_2d
from solvers.grid import Grid, Nodes

SHOWN, MEASURED = 4, 64  # samples in the gallery; samples behind spectra and histograms
BINS = 80
QUANTILES = {"median": 0.5, "low": 0.05, "high": 0.95}


def write_preview(card_path: Path, output: Path) -> None:
    """Write the preview of the dataset at `card_path`.

    Keys of the .npz: `groups`, `samples` (labels); for each variable v of the operator `input/v` or
    `target/v` (samples, ...), `dims/v`, `axis/v/<dim>`, `histogram/v/edges`, `histogram/v/counts` and, for functions on
    uniform grids, `spectrum/v/wavenumber`, `median`, `low` and `high` of |coefficient|² over samples.

    Raises
    ------
    DatasetError
        When the card or the store is missing or damaged.
    """
    card = read_card(card_path)
    split = next(split for split in ("test", "validation", "train") if card["samples"][split])
    count = min(MEASURED, card["samples"][split])
    shown = min(SHOWN, count)
    content = {"groups": np.array(list(card["groups"]))}
    content["samples"] = np.array([f"{split} {index}" for index in range(shown)])
    roles = {**dict.fromkeys(card["inputs"], "input"), **dict.fromkeys(card["targets"], "target")}
    roles |= {name: "target" for group in card["groups"].values() for name in group["variables"]} | roles
    for name, role in roles.items():
        group = _group_of(card, name)
        facts = card["groups"][group]
        grid = grid_from_facts(facts["grid"])
        values = load_arrays(card_path, group, split, count)[name]
        dims = facts["variables"][name]["dimensions"][1:]
        content[f"{role}/{name}"] = values[:shown]
        content[f"dims/{name}"] = np.array(dims, dtype=str)
        content |= {f"axis/{name}/{dim}": grid.coordinates for dim in dims if dim in ("x", "y") or _is_time(grid)}
        counts, edges = np.histogram(values, BINS)
        content |= {f"histogram/{name}/edges": edges, f"histogram/{name}/counts": counts}
        spectra = _spectra(values, grid)
        if spectra is not None:
            content[f"spectrum/{name}/wavenumber"] = np.arange(spectra.shape[1])
            for word, quantile in QUANTILES.items():
                content[f"spectrum/{name}/{word}"] = np.quantile(spectra, quantile, axis=0)
    write_arrays(output, content, compressed=True)


def _group_of(card: dict, name: str) -> str:
    """The first group that holds the variable `name`."""
    return next(group for group, facts in card["groups"].items() if name in facts["variables"])


def _is_time(grid) -> bool:
    return isinstance(grid, Nodes)


def _spectra(values: np.ndarray, grid: Grid | Nodes) -> np.ndarray | None:
    """Power by wavenumber of each sample, (samples, wavenumbers); none where a spectrum makes no sense.

    Of functions on the circle or the torus the Fourier series; on the square the cosine series on cell
    centres and nodes, which any function on it has; in two dimensions summed over |k| rounded.
    """
    if isinstance(grid, Nodes) or values.ndim != 1 + grid.dimension:
        return None
    if grid.dimension == 1:
        return np.abs(coefficients_of(values.astype(np.float64))) ** 2
    if grid.kind == "periodic":
        power = np.abs(coefficients_of_2d(values.astype(np.float64))) ** 2
        power[..., 1:] *= 2  # k_x < 0 is the conjugate of k_x > 0
        rows = np.fft.fftfreq(power.shape[-2], 1 / power.shape[-2])
    else:
        power = _cosine_power(values.astype(np.float64), grid.kind)
        rows = np.arange(power.shape[-2])
    shells = np.rint(np.hypot(rows[:, None], np.arange(power.shape[-1]))).astype(int)
    count = power.shape[-1]
    return np.stack([np.bincount(shells.ravel(), sample.ravel())[:count] for sample in power])


def _cosine_power(values: np.ndarray, kind: str) -> np.ndarray:
    from solvers.cosine_series import cosine_coefficients_of

    return cosine_coefficients_of(values, kind) ** 2
