"""The equation of a dataset on its page: mathematics (MathML) where the card has LaTeX, else symbols."""

import re
from xml.etree.ElementTree import tostring

from latex2mathml.converter import convert_to_element
from markupsafe import Markup

APART = re.compile(r",\s*\\quad\s*")  # between equations of a system: a narrow page breaks the line there
SHOWN = ("in_words", "in_symbols", "in_latex", "operator", "operator_in_latex", "source")
SAYS_MORE = re.compile("[a-z]{4}")  # a word: than the formula in LaTeX
DISTRIBUTION = "distribution_of_the_"


def mathematics(latex: str | None, symbols: str) -> Markup:
    """Return `latex` as MathML, its parts that stand apart by a quad each an element; else the symbols."""
    if not latex:
        return Markup('<span class="math">{}</span>').format(symbols)
    parts = APART.split(latex)
    shown = [_mathml(part + ("," if part is not parts[-1] else ""), display="block") for part in parts]
    return Markup(" ").join(Markup('<span class="math">{}</span>').format(one) for one in shown)


def _mathml(latex: str, display: str) -> Markup:
    element = convert_to_element(latex, display=display)
    element.set("alttext", latex)
    # The package writes characters as entities already.
    return Markup(tostring(element, encoding="unicode").replace("&amp;#", "&#"))


def equation_of(card: dict) -> dict:
    """Return what the page says of the equation, and of the distributions of what is drawn.

    `equation` and `operator` are marked up; `parameters` are by name; `distributions` have a `title`, the
    formula and further facts.
    """
    facts = card["equation"]
    named = facts.get("parameters", {})
    more = {key: value for key, value in facts.items() if key not in (*SHOWN, "parameters")}
    return {
        "in_words": facts["in_words"],
        "equation": mathematics(facts.get("in_latex"), facts["in_symbols"]),
        "operator": mathematics(facts.get("operator_in_latex"), facts["operator"]),
        "operator_in_words": facts["operator"]
        if facts.get("operator_in_latex") and SAYS_MORE.search(facts["operator"])
        else "",
        "parameters": {**named, **{key.replace("_", " "): value for key, value in more.items()}},
        "source": facts["source"],
        "distributions": [
            _distribution(key.removeprefix(DISTRIBUTION), value)
            for key, value in card.items()
            if key.startswith(DISTRIBUTION)
        ],
    }


def _distribution(of: str, facts: dict) -> dict:
    rest = {key: value for key, value in facts.items() if key not in ("in_symbols", "in_latex")}
    return {
        "title": f"Distribution of the {of.replace('_', ' ')}",
        "formula": mathematics(facts.get("in_latex"), facts["in_symbols"]),
        "facts": rest,
    }
