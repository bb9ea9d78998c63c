"""Split batches into blocks of fixed size, so that results do not depend on the batch.

XLA vectorises across the batch and may sum in another order for another number of samples. Therefore every
compiled call gets exactly as many samples as there are lanes; the last block is filled up.
"""

from collections.abc import Callable, Mapping, Sequence

import jax
import numpy as np
from jaxtyping import ArrayLike, Shaped


def in_lanes(
    function: Callable[..., Sequence[ArrayLike]],
    lanes: int,
    *inputs: Shaped[np.ndarray, "batch ..."],
    fill: float = 0.0,
) -> tuple[Shaped[np.ndarray, "batch ..."], ...]:
    """Apply `function` to `lanes` samples at a time, in JAX's double precision.

    function  maps blocks of `inputs`, each (lanes, ...), to a sequence of arrays (lanes, ...).
    lanes     number of samples in every call.
    inputs    arrays (batch, ...). The computation has their precision: float32 stays float32.
    fill      value of filled-in samples, which `function` must accept.

    Returns the arrays of `function` for the whole batch.
    """
    batch, blocks, begun = len(inputs[0]), [], None
    # Solutions promise relative errors of 1e-7 and less: more than single precision holds over many steps.
    with jax.enable_x64(True):
        for start in range(0, max(batch, 1), lanes):  # an empty batch gets its shapes from a filled-in block
            missing = max(0, start + lanes - batch)
            block = [values[start : start + lanes] for values in inputs]
            if missing:
                ends = [[(0, missing)] + [(0, 0)] * (one.ndim - 1) for one in block]
                block = [np.pad(*both, constant_values=fill) for both in zip(block, ends, strict=True)]
            before, begun = begun, function(*block)
            if before is not None:  # fetched while a GPU computes the next one
                blocks.append([np.asarray(values) for values in before])
        blocks.append([np.asarray(values) for values in begun or ()])
    return tuple(np.concatenate(parts)[:batch] for parts in zip(*blocks, strict=True))


def lanes_here(lanes: Mapping[str, int]) -> int:
    """Return the entry of `lanes` for JAX's default backend: "gpu", or "cpu" for any other."""
    return lanes["gpu" if jax.default_backend() == "gpu" else "cpu"]
