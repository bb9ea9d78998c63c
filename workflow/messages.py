"""Words of the messages about a configuration."""

import difflib
from collections.abc import Iterable


def unknown(kind: str, name: str, accepted: Iterable[str]) -> str:
    """That a name is unknown, the nearest one that is known, and all of those."""
    accepted = list(accepted)
    near = difflib.get_close_matches(name, accepted, n=1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    return f"unknown {kind} '{name}'; {hint}accepted: {', '.join(accepted)}"
