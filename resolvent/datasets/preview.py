"""Write the data for a dataset's page: a preview (samples, spectra, histograms), and a motion for the film.

The preview is an .npz with entries for each stored variable v, with its role "input" or "target", on the
finest grid that has it (the middle slice in z for three-dimensional fields):

    samples                              labels of the samples shown
    input/v or target/v                  the samples shown, (samples, ...)
    dims/v, axis/v/<dim>                 names of the dimensions after the sample axis, and their coordinates
    histogram/v/edges, counts            over the first MEASURED samples
    spectrum/v/wavenumber, median, low, high   power and its 5 % and 95 % quantiles, for functions on even
                                         grids and at equally spaced times
    spectrum/v/axis                      label of the wavenumber axis

The motion is an .npz with the fields of `Motion` for one sample ("test 0") solved again, in float32.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy

from resolvent.common.digests import save_arrays
from resolvent.datasets.loading import load_arrays, read_card
from resolvent.datasets.spectra import powers, wavenumbers
from resolvent.datasets.storage.layout import grid_from_facts, stored_axes
from resolvent.datasets.tasks.registry import build_task, settings_on
from resolvent.solvers.common.grid import AnyGrid, Nodes

VERSION = 1  # raised whenever the numbers change (docs/jobs.md)
SHOWN, MEASURED = 4, 64  # samples in the gallery; samples for spectra and histograms
BINS = 80
QUANTILES = {"median": 0.5, "low": 0.05, "high": 0.95}


def write_preview(card_path: Path, output: Path) -> None:
    """Write the preview of the dataset at `card_path`. Raises `DatasetError` if it is missing or damaged."""
    card = read_card(card_path)
    split = next(name for name in ("test", "validation", "train") if card["samples"][name])
    count = min(MEASURED, card["samples"][split])
    content = {"samples": np.array([f"{split} {index}" for index in range(min(SHOWN, count))])}
    seen: set[str] = set()
    # The finest grid first; sets of times keep their order, so that the first set is shown.
    grids = {group: grid_from_facts(facts["grid"]) for group, facts in card["groups"].items()}
    sizes = {group: 0 if isinstance(grid, Nodes) else -grid.size for group, grid in grids.items()}
    for group in sorted(grids, key=lambda name: sizes[name]):
        facts, grid = card["groups"][group], grids[group]
        if seen.issuperset(facts["variables"]):
            continue
        arrays = load_arrays(card_path, group, split, count)
        for name in [name for name in facts["variables"] if name not in seen]:
            role = "input" if name in card["inputs"] else "target"
            dims, shown = facts["variables"][name]["dimensions"][1:], arrays[name][:SHOWN]
            if len(dims) == 3 and dims[0] == "z":
                dims, shown = dims[1:], shown[:, grid.shape[0] // 2]
            content[f"{role}/{name}"] = shown
            content |= _facts_of(name, arrays[name], dims, grid)
            axes = stored_axes(facts["grid"])
            content |= {f"axis/{name}/{dim}": axes[dim] for dim in dims if dim in axes}
        seen |= set(facts["variables"])
    save_arrays(output, content)


def _facts_of(name: str, values: np.ndarray, dims: list[str], grid: AnyGrid) -> dict[str, np.ndarray]:
    content = {f"dims/{name}": np.array(dims, dtype=str)}
    content[f"histogram/{name}/counts"], content[f"histogram/{name}/edges"] = np.histogram(
        values, int(np.clip(np.sqrt(values.size), 8, BINS))
    )
    spectra = _spectra(values.astype(np.float64), grid)
    if spectra is not None:
        axis, wavenumbers, power = spectra
        content |= {f"spectrum/{name}/axis": np.array(axis), f"spectrum/{name}/wavenumber": wavenumbers}
        for word, quantile in QUANTILES.items():
            content[f"spectrum/{name}/{word}"] = np.quantile(power, quantile, axis=0)
    return content


def _spectra(values: np.ndarray, grid: AnyGrid) -> tuple[str, np.ndarray, np.ndarray] | None:
    """Return label and values of the wavenumber, and the power of each sample (samples, wavenumbers)."""
    if values.ndim != 1 + grid.dimension or not (grid.even or isinstance(grid, Nodes)):
        return None
    if not isinstance(grid, Nodes):
        at = wavenumbers(grid)
        whole = at <= grid.points / 2  # shorter waves are resolved only along diagonals
        return "wavenumber (cycles along a side)", at[whole], powers(values, grid)[:, whole]
    steps = np.diff(grid.positions)
    if not np.allclose(steps, steps[0]):
        return None
    frequencies, power = scipy.signal.periodogram(values, fs=1 / steps[0], window="hann")
    return "frequency", frequencies, power


def write_motion(card_path: Path, output: Path) -> None:
    """Solve the first sample of the dataset at `card_path` (test, if any) again, and write it at many times.

    Raises `NotImplementedError` if the equation has no film, `SolverError` if the sample cannot be solved.
    """
    card = read_card(card_path)
    split = next(name for name in ("test", "validation", "train") if card["samples"][name])
    motion = build_task(settings_on(card)).motion((split, 0))
    content = {
        "sample": np.array(f"{split} 0"),
        "kind": np.array(motion.kind),
        "times": motion.times,
        "values": motion.values.astype(np.float32),
        "coordinates": motion.coordinates,
        "names": np.array(motion.names),
    }
    save_arrays(output, content)
