"""Compile functions of solvers with Numba, and cache them on disk."""

import hashlib
import inspect
from pathlib import Path

import numba
from numba.core.caching import InTreeCacheLocator, UserProvidedCacheLocator, UserWideCacheLocator

_SOURCES = sorted(Path(__file__).parents[1].rglob("*.py"))
_DIGEST = hashlib.sha256(b"".join(file.read_bytes() for file in _SOURCES)).hexdigest()


class _OfAllSources:
    """Invalidate the cache if any source file changes, since functions inline functions of other files.

    Numba only checks the function's own file.
    """

    def get_source_stamp(self):
        return _DIGEST


class _Chosen(_OfAllSources, UserProvidedCacheLocator): ...


class _BesideTheSource(_OfAllSources, InTreeCacheLocator): ...


class _OfTheUser(_OfAllSources, UserWideCacheLocator): ...


# For NUMBA_CACHE_LOCATOR_CLASSES: in NUMBA_CACHE_DIR, next to the source, or in the user's cache folder.
_LOCATORS = ",".join(f"{__name__}.{one.__name__}" for one in (_Chosen, _BesideTheSource, _OfTheUser))


def compiled(function):
    """Compile a function, without the type checks of tests.

    Sums may be reordered by the compiler, but identically in every call. Where one compiled function calls
    another, Numba compiles it anew for every constant argument: write `np.int64(1)` or `np.bool_(True)`.
    """
    return _compiled(function, {"contract", "reassoc", "nsz"})


def compiled_exactly(function):
    """Compile a function without reordering: results are bit-identical on every machine."""
    return _compiled(function, set())


def _compiled(function, fastmath):
    others, numba.config.CACHE_LOCATOR_CLASSES = numba.config.CACHE_LOCATOR_CLASSES, _LOCATORS
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=fastmath)(
            inspect.unwrap(function)
        )
    finally:
        numba.config.CACHE_LOCATOR_CLASSES = others
