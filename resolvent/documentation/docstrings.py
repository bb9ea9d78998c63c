"""Docstrings as reStructuredText, for the pages of the API: what is aligned or indented stays so."""

from __future__ import annotations

import re

TERM = re.compile(r"(?P<term>\S.{0,40}?) {2,}(?P<words>\S.*)")  # "sigma      σ > 0, amplitude"


def as_restructured_text(lines: list[str]) -> list[str]:
    """Return a docstring's lines so that Sphinx shows them as they were meant.

    An indented block below a paragraph (a formula, code) keeps its lines; a table of names and what they are
    becomes a list of definitions; a bar is a bar, as in |k|, not the mark of a substitution. Sections of
    NumPy's convention stay as they are, for the extension napoleon.
    """
    result: list[str] = []
    before, literal = "", False
    for block in _blocks(lines):
        if block == [""]:
            result.append("")
            continue
        if (
            all(line.startswith("    ") for line in block)
            and before
            and (literal or not before.startswith(" "))
        ):
            result += block if literal else ["::", "", *block]
            literal = True
        else:
            literal = False
            result += (
                _definitions(block) if _is_table(block) else [line.replace("|", "\\|") for line in block]
            )
        before = block[-1]
    return result


def _blocks(lines: list[str]) -> list[list[str]]:
    """Cut lines into runs without a blank one, and the blank lines between them."""
    blocks: list[list[str]] = []
    for line in lines:
        if not line.strip():
            blocks.append([""])
        elif blocks and blocks[-1] != [""]:
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


def _is_table(block: list[str]) -> bool:
    """Say whether every line has a term and words, or goes on with the words of the one above."""
    return bool(TERM.fullmatch(block[0])) and all(
        line.startswith("    ") or TERM.fullmatch(line) for line in block
    )


def _definitions(block: list[str]) -> list[str]:
    result = []
    for line in block:
        if found := TERM.fullmatch(line):
            result += [f"``{found['term']}``", f"    {_escaped(found['words'])}"]
        else:
            result.append(f"    {_escaped(line.strip())}")
    return result


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
