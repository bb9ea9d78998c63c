"""Reject values that a configuration must not contain: dates, bytes, huge numbers, very long texts."""

from __future__ import annotations

import math
from collections.abc import Iterator

from resolvent.common.errors import Words

LONGEST_TEXT = 500
LARGEST = 2**63


def odd_values(content: dict) -> Iterator[str]:
    """Yield one line for each value or key that is no plain text, number, list or mapping.

    What is left has a short `repr`, and can be hashed, written as JSON and put into a file name.
    """
    yield from _odd(content, "", ())


def _odd(value: object, at: str, above: tuple[int, ...]) -> Iterator[str]:
    if id(value) in above:
        yield f"{at}: contains itself"
    elif isinstance(value, dict):
        for key, entry in value.items():
            words = odd_key(key)
            if words:
                yield f"{at or 'top level'}: {words}"
            else:
                yield from _odd(entry, f"{at}.{key}" if at else str(key), (*above, id(value)))
    elif isinstance(value, list):
        for position, entry in enumerate(value):
            yield from _odd(entry, f"{at}.{position}", (*above, id(value)))
    elif words := _odd_scalar(value):
        yield f"{at}: {words}"


def odd_key(key: object) -> Words | None:
    """Say why a key cannot be one of a configuration; None if it can."""
    if isinstance(key, bool | float) or key is None:
        return f"a key is text, got {key}; put it in quotes"
    words = _odd_scalar(key)
    return f"of a key: {words}" if words else None


def _odd_scalar(value: object) -> Words | None:
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            return f"text of {len(value)} characters, {value[:20]!r}...; accepted: at most {LONGEST_TEXT}"
        if not value.isprintable():
            return f"a line break or another character that cannot be shown, in {value[:60]!r}"
    elif isinstance(value, int):
        if not -LARGEST < value < LARGEST:
            return "an integer of more than 64 bits"
    elif isinstance(value, float):
        if not math.isfinite(value):
            return f"{value} is no finite number"
    elif value is not None:
        return f"a {type(value).__name__}; accepted: text, numbers, lists and mappings (put it in quotes)"
    return None
