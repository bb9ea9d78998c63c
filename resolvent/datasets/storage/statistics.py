"""Statistics of a whole store by dask, lazily and in bounded memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray

from resolvent.datasets.storage.addresses import located
from resolvent.datasets.storage.object_store import opened

BLOCK_BYTES = 2**26  # about 64 MB at a time


def statistics(store: Path) -> dict[str, dict[str, float]]:
    """Compute the mean, the standard deviation, the least and the largest value of every array.

    Rounded to six decimals of the largest magnitude, far above what the order of summation changes (adding
    0.0 turns -0.0 into 0.0).
    """
    result = {}
    place: Any = opened(located(store))
    tree = xarray.open_datatree(place, engine="zarr", chunks=None, consolidated=False, zarr_format=3)
    for group in sorted(
        tree.children.values(), key=lambda group: str(group.name)
    ):  # on disk they have no order
        for name, values in sorted(group.data_vars.items()):
            per_sample = values.dtype.itemsize * int(np.prod(values.shape[1:]))
            blocks = values.chunk(sample=max(1, BLOCK_BYTES // per_sample)).astype("float64")
            lazy = {"mean": blocks.mean(), "std": blocks.std(), "min": blocks.min(), "max": blocks.max()}
            computed = xarray.Dataset(lazy).compute(scheduler="synchronous")
            numbers = {key: float(computed[key]) for key in lazy}
            unit = 10.0 ** np.ceil(np.log10(max(abs(numbers["min"]), abs(numbers["max"]), 1e-300)))
            rounded = {
                key: float(f"{round(number / unit, 6) * unit + 0.0:.6g}") for key, number in numbers.items()
            }
            result[f"{group.name}/{name}"] = rounded
    return result
