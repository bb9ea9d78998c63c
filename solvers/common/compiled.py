"""How Numba compiles the functions of these solvers, and keeps them on disk for the next process."""

import hashlib
import inspect
from pathlib import Path

import numba

# Compiled functions have those of other files inside of them.
_SOURCES = sorted(Path(__file__).parents[1].rglob("*.py"))
_DIGEST = hashlib.sha256(b"".join(file.read_bytes() for file in _SOURCES)).hexdigest()


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
    kept._source_stamp = (kept._source_stamp, _DIGEST)
    return jit
