"""Consent to what a run names: code of its authors, and addresses. Nothing else runs, or is contacted.

A run may be of anyone, so its files are never believed to be one's own: `allow` has the folders whose modules
may run, and the addresses that may be contacted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import invalidate_caches
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from resolvent.common.errors import FileError
from resolvent.datasets.imported.readers.source import is_remote

Allowed = Sequence[Path | str]


def check_allowed(folder: Path, code: Iterable[str], allow: Allowed, addresses: Iterable[str] = ()) -> None:
    """Let the modules that a run in `folder` names be imported, where they are in a folder of `allow`.

    Nothing is imported here. `code` are names of an architecture or an equation, of which those with a colon
    are "module:name".
    Raises a FileError when `allow` lacks the folder of a module or one of the `addresses`, or when Python
    would find another module of that name.
    """
    places = {str(Path(one).resolve()) for one in allow if not is_remote(str(one))}
    own = list(dict.fromkeys(location for location in code if ":" in location))
    homes = {location: _home_of(location, places) for location in own}
    unknown = [location for location, home in homes.items() if home is None]
    closed = [one for one in dict.fromkeys(addresses) if one not in map(str, allow)]
    missing = []
    if unknown:
        near = _home_of(unknown[0], [str(one.resolve()) for one in (folder, folder.parent, Path())])
        missing.append(
            f"needs code of its authors, {' and '.join(unknown)}: read it, and allow the folder that it is "
            f"in, --allow {near or 'FOLDER'}"
        )
    if closed:
        ways = " ".join(f"--allow {one}" for one in closed)
        missing.append(f"would contact {' and '.join(closed)}: allow it, {ways}")
    if missing:
        raise FileError(
            f"{folder} {'; it '.join(missing)} (in Python allow=[…]); nothing was run or contacted"
        )
    for location, home in homes.items():
        _let_be_found(location, str(home))


def addresses_in(source: Any) -> Iterator[str]:
    """Yield every text in the `source` of a dataset, of whatever form, that is written as an address."""
    if isinstance(source, str):
        if is_remote(source):
            yield source
    elif isinstance(source, dict | list):
        for one in source.values() if isinstance(source, dict) else source:
            yield from addresses_in(one)


def _home_of(location: str, places: Iterable[str]) -> str | None:
    """Return which of `places` has the module of "module:name"; its top-level package is looked for."""
    top = location.partition(":")[0].partition(".")[0]
    return next((place for place in places if PathFinder.find_spec(top, [place])), None)


def _let_be_found(location: str, home: str) -> None:
    """Put a folder behind all others that modules are imported from, if the module is then that in it."""
    if home not in sys.path:
        sys.path.append(home)
        invalidate_caches()
    top = location.partition(":")[0].partition(".")[0]
    try:
        spec = find_spec(top)  # of a name without a dot, which imports nothing
    except ValueError:  # a module without a specification, such as __main__
        spec = None
    found = [spec.origin] if spec and spec.origin else list((spec and spec.submodule_search_locations) or [])
    if not found or not all(Path(one).resolve().is_relative_to(home) for one in found):
        raise FileError(
            f"the module {top} is found in {', '.join(found) or 'no file'}, not in {home}, which was "
            "allowed: rename one of them; nothing was run"
        )
