"""How Numba compiles the functions of these solvers, and keeps them on disk for the next process."""

import hashlib
import inspect
from pathlib import Path

import numba
from numba.core.caching import InTreeCacheLocator, UserProvidedCacheLocator, UserWideCacheLocator

_SOURCES = sorted(Path(__file__).parents[1].rglob("*.py"))
_DIGEST = hashlib.sha256(b"".join(file.read_bytes() for file in _SOURCES)).hexdigest()


class _OfAllSources:
    """Hold what is kept against all files, for compiled functions have those of other files inside of them.

    Numba alone would look at the function's own file.
    """

    def get_source_stamp(self):
        return _DIGEST


class _Chosen(_OfAllSources, UserProvidedCacheLocator): ...


class _BesideTheSource(_OfAllSources, InTreeCacheLocator): ...


class _OfTheUser(_OfAllSources, UserWideCacheLocator): ...


# For NUMBA_CACHE_LOCATOR_CLASSES: in NUMBA_CACHE_DIR, or beside the source, or in the user's own folder.
_LOCATORS = ",".join(f"{__name__}.{one.__name__}" for one in (_Chosen, _BesideTheSource, _OfTheUser))


def compiled(function):
    """Compile a function. Tests' type checks do not wrap it.

    Sums may be reordered: once, on compilation, never from call to call.
    """
    return _compiled(function, {"contract", "reassoc", "nsz"})


def compiled_exactly(function):
    """Compile a function as `compiled` does, but reorder nothing: it gives the same bits on every machine."""
    return _compiled(function, set())


def _compiled(function, fastmath):
    others, numba.config.CACHE_LOCATOR_CLASSES = numba.config.CACHE_LOCATOR_CLASSES, _LOCATORS
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=fastmath)(
            inspect.unwrap(function)
        )
    finally:
        numba.config.CACHE_LOCATOR_CLASSES = others
