"""Statistics of a whole store by dask, lazily and in bounded memory, here or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from resolvent.common.machine import DASK_SCHEDULER
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.storage.addresses import located
from resolvent.datasets.storage.object_store import opened

BLOCK_BYTES = 2**26  # about 64 MB at a time


def statistics(store: Path) -> dict[str, dict[str, float]]:
    """Compute the mean, the standard deviation, the least and the largest value of every array.

    Rounded to six decimals of the largest magnitude, far above what the order of summation changes (adding
    0.0 turns -0.0 into 0.0). The blocks are read by this process, one after the other, or by the workers of
    the dask.distributed scheduler whose address is RESOLVENT_DASK_SCHEDULER; they must see the store. Raises
    `DatasetError` where none answers there.
    """
    place: Any = opened(located(store))
    tree = xarray.open_datatree(place, engine="zarr", chunks=None, consolidated=False, zarr_format=3)
    groups = sorted(tree.children.values(), key=lambda group: str(group.name))  # on disk they have no order
    with _scheduler() as scheduler:
        return {
            f"{group.name}/{name}": _statistics(values, scheduler)
            for group in groups
            for name, values in sorted(group.data_vars.items())
        }


def _statistics(values: xarray.DataArray, scheduler: Any) -> dict[str, float]:
    per_sample = values.dtype.itemsize * int(np.prod(values.shape[1:]))
    blocks = values.chunk(sample=max(1, BLOCK_BYTES // per_sample)).astype("float64")
    lazy = {"mean": blocks.mean(), "std": blocks.std(), "min": blocks.min(), "max": blocks.max()}
    computed = xarray.Dataset(lazy).compute(scheduler=scheduler)
    numbers = {key: float(computed[key]) for key in lazy}
    unit = 10.0 ** np.ceil(np.log10(max(abs(numbers["min"]), abs(numbers["max"]), 1e-300)))
    return {key: float(f"{round(number / unit, 6) * unit + 0.0:.6g}") for key, number in numbers.items()}


@contextmanager
def _scheduler() -> Iterator[Any]:
    """Give what computes a graph of dask."""
    address = os.environ.get(DASK_SCHEDULER)
    if not address:
        yield "synchronous"
        return
    try:
        from distributed import Client

        client = Client(address)
    except ImportError:
        raise DatasetError(f"{DASK_SCHEDULER} needs a package: pip install 'resolvent[dask]'") from None
    except (OSError, ValueError) as error:
        raise DatasetError(f"{DASK_SCHEDULER}: no scheduler answers at '{address}'") from error
    with client:
        yield client
