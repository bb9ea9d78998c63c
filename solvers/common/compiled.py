"""How Numba compiles the functions of these solvers, and keeps them on disk for the next process."""

import inspect
from pathlib import Path

import numba

# Compiled functions of other files have these inside of them.
_SHARED = tuple(Path(__file__).with_name(name) for name in ("compiled.py", "lane_fft.py", "vectors.py"))


def compiled(function):
    """Compile a function. Tests' type checks do not wrap it.

    Sums may be reordered: once, on compilation, never from call to call.
    """
    return _compiled(function, {"contract", "reassoc", "nsz"})


def compiled_exactly(function):
    """Compile a function as `compiled` does, but reorder nothing: it gives the same bits on every machine."""
    return _compiled(function, set())


def _compiled(function, fastmath):
    jit = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=fastmath)(inspect.unwrap(function))
    # Numba looks at the function's own file alone to find out whether what it kept is still true.
    kept = jit._cache._cache_file
    kept._source_stamp = (
        kept._source_stamp,
        *((file.stat().st_mtime, file.stat().st_size) for file in _SHARED),
    )
    return jit
