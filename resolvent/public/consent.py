"""Permission to run the code, and contact the addresses, that are named in a run.

Nothing is run or contacted without it. A run may come from anyone, so its files are not trusted: `allow`
lists the folders of modules that may run and the addresses that may be contacted.
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
    """Make the modules named in a run in `folder` importable if they are in a folder in `allow`.

    Nothing is imported here. `code` has names of architectures and equations; a name with a colon has the
    form "module:name". Raises `FileError` if `allow` lacks the folder of a module or one of the `addresses`,
    or if Python would import another module of the same name.
    """
    places = {str(Path(place).resolve()) for place in allow if not is_remote(str(place))}
    own = list(dict.fromkeys(location for location in code if ":" in location))
    homes = {location: _home_of(location, places) for location in own}
    unknown = [location for location, home in homes.items() if home is None]
    closed = [address for address in dict.fromkeys(addresses) if address not in map(str, allow)]
    missing = []
    if unknown:
        near = _home_of(unknown[0], [str(place.resolve()) for place in (folder, folder.parent, Path())])
        code_of = f"needs code by its authors, {' and '.join(unknown)}"
        missing.append(f"{code_of}: read it, then allow its folder with --allow {near or 'FOLDER'}")
    if closed:
        ways = " ".join(f"--allow {address}" for address in closed)
        missing.append(f"would contact {' and '.join(closed)}: allow it with {ways}")
    if missing:
        problems = "; it ".join(missing)
        raise FileError(f"{folder} {problems} (in Python allow=[…]); nothing was run or contacted")
    for location, home in homes.items():
        _let_be_found(location, str(home))


def addresses_in(source: Any) -> Iterator[str]:
    """Yield every address in the `source` of a dataset, at any depth."""
    if isinstance(source, str) and is_remote(source):
        yield source
    elif isinstance(source, dict | list):
        for part in source.values() if isinstance(source, dict) else source:
            yield from addresses_in(part)


def _home_of(location: str, places: Iterable[str]) -> str | None:
    """Return the folder in `places` with the top-level package of "module:name", or None."""
    top = location.partition(":")[0].partition(".")[0]
    return next((place for place in places if PathFinder.find_spec(top, [place])), None)


def _let_be_found(location: str, home: str) -> None:
    """Append the folder `home` to the import path. Raises `FileError` if the module is found elsewhere."""
    if home not in sys.path:
        sys.path.append(home)
        invalidate_caches()
    top = location.partition(":")[0].partition(".")[0]
    try:
        spec = find_spec(top)  # a name without a dot: nothing is imported
    except ValueError:  # a module without a specification, such as __main__
        spec = None
    files = [spec.origin] if spec and spec.origin else list((spec and spec.submodule_search_locations) or [])
    if not files or not all(Path(place).resolve().is_relative_to(home) for place in files):
        words = f"is found in {', '.join(files) or 'no file'}, not in the allowed {home}"
        raise FileError(f"the module {top} {words}: rename one of them; nothing was run")
