"""Convert docstrings to reStructuredText for the API pages, keeping alignment and indentation."""

from __future__ import annotations

import re
from itertools import groupby

TERM = re.compile(r"(?P<term>\S.{0,40}?) {2,}(?P<words>\S.*)")  # "sigma      σ > 0, amplitude"


def as_restructured_text(lines: list[str]) -> list[str]:
    """Return a docstring's lines as reStructuredText.

    An indented block below a paragraph (a formula or code) keeps its lines; a table of names and meanings
    becomes a definition list; vertical bars, as in |k|, are escaped. Sections in NumPy's convention are left
    to the extension napoleon.
    """
    result: list[str] = []
    before, literal = "", False
    for is_text, group in groupby(lines, lambda line: bool(line.strip())):
        block = list(group)
        if not is_text:
            result += [""] * len(block)
            continue
        indented = all(line.startswith("    ") for line in block)
        if indented and before and (literal or not before.startswith(" ")):
            result += block if literal else ["::", "", *block]
            literal = True
        else:
            literal = False
            result += _definitions(block)
        before = block[-1]
    return result


def _definitions(block: list[str]) -> list[str]:
    """Return a table of terms and meanings as a definition list, and any other block unchanged.

    A meaning may continue on the next lines.
    """
    found = [TERM.fullmatch(line) for line in block]
    escaped = [line.replace("|", "\\|") for line in block]
    if not found[0] or not all(
        one or line.startswith("    ") for one, line in zip(found, block, strict=True)
    ):
        return escaped
    result = []
    for one, line in zip(found, escaped, strict=True):
        if one:
            words = one["words"].replace("|", "\\|")
            result += [f"``{one['term']}``", f"    {words}"]
        else:
            result.append(f"    {line.strip()}")
    return result
