"""Content of a card for a page: equation, content of the store, how to read and cite the dataset."""

import re
from pathlib import Path
from xml.etree.ElementTree import tostring

from latex2mathml.converter import convert_to_element
from markupsafe import Markup

from resolvent.common.cards import DISTRIBUTION
from resolvent.common.counts import counted

REFERENCES = Path(__file__).parents[1] / "templates/references.bib"
UNKNOWN_CITATION = (
    "Unknown: cite the authors of the imported files. State it in the configuration: about, citation."
)
ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5})")
APART = re.compile(r",\s*\\quad\s*")  # between equations of a system: line break on a narrow page
SHOWN = {"in_words", "in_symbols", "in_latex", "operator", "operator_in_latex", "source", "parameters"}
SAYS_MORE = re.compile("[a-z]{4}")  # a word, which the formula in LaTeX does not have


def bibtex(card: dict) -> str:
    """Return BibTeX entries of the papers on the card's equation, then Resolvent's.

    For imported data, return the citation that their user states, or else the entries of the papers that are
    their stated source, or else `UNKNOWN_CITATION`.
    """
    imported = card.get("imported")
    if imported and imported.get("citation"):
        return imported["citation"]
    source = card["equation"]["source"] if imported is None else imported.get("source", "")
    text = REFERENCES.read_text(encoding="utf-8").strip()
    entries = {entry.partition("{")[2].partition(",")[0]: entry for entry in re.split(r"\n+(?=@)", text)}
    wanted = set(ARXIV.findall(source))
    chosen = [key for key, entry in entries.items() if wanted & set(ARXIV.findall(entry))]
    if imported is None:
        chosen.append("resolvent")
    return "\n\n".join(entries[key] for key in chosen) or UNKNOWN_CITATION


def licence(card: dict) -> tuple[str, str]:
    """Return the name of the samples' licence, or `unknown`, and a sentence on it."""
    stated = card.get("imported", {}).get("licence", "unknown")
    if stated != "unknown":
        return stated, "Stated by the user who imported the samples."
    if "imported" not in card and ":" not in card["settings"]["equation"]:
        return "MIT", "The samples have the licence of Resolvent, which computed them."
    made = "were read from third-party files" if "imported" in card else "come from their authors' program"
    where = " State it in the configuration: about, licence." if "imported" in card else ""
    return "unknown", f"The samples {made}; see their source for the licence.{where}"


def groups(card: dict) -> list[dict[str, str]]:
    """Return one row per group of the store: name, grid, and variables with dimensions."""
    rows = []
    for name, group in card["groups"].items():
        grid = group["grid"]
        if "axes" in grid:
            named = dict(zip("zyx"[-len(grid["axes"]) :], grid["axes"], strict=True))
            points = " × ".join(f"{points_of(axis):,}" for axis in named.values())
            kinds = ", ".join(f"{axis['kind']} along {along}" for along, axis in named.items())
            description = f"{points}, {kinds.replace('_', ' ').replace('explicit', 'uneven')}"
        elif grid["kind"] == "explicit":
            times = grid["positions"]
            description = f"{counted(len(times), 'time')} from {times[0]:g} to {times[-1]:g}"
        else:
            points = " × ".join([f"{grid['points']:,}"] * grid["dimension"])
            description = f"{points}, {grid['kind'].replace('_', ' ')}"
        stored = group["variables"].items()
        variables = [f"{variable} ({', '.join(facts['dimensions'])})" for variable, facts in stored]
        rows.append({"name": name, "grid": description, "variables": "; ".join(variables)})
    return rows


def points_of(axis: dict) -> int:
    """Return the number of points of an axis, or along each axis of a grid, from its facts."""
    return len(axis["positions"]) if axis["kind"] == "explicit" else axis["points"]


def snippets(card: dict, path: str, store: str) -> dict[str, str]:
    """Return Python code that reads training samples of the card at `path`, or of its `store` with xarray."""
    first, stored = card["inputs"][0], card["groups"].items()
    name, group = next((name, group) for name, group in stored if first in group["variables"])
    resolution = name[1:] if re.fullmatch(r"n\d+", name) else f'"{name}"'
    split = next(split for split, size in card["samples"].items() if size)
    variables = (*card["inputs"], *card["targets"])
    shown = ", ".join(f'{split}["{name}"].values' for name in variables if name in group["variables"])
    return {
        "With Resolvent": f"import resolvent\n\n"
        f'{split} = resolvent.open_dataset("{path}", split="{split}", resolution={resolution})\n{shown}',
        "With xarray alone": f"import xarray\n\n"
        f'samples = xarray.open_dataset("{store}", group="{name}", engine="zarr", consolidated=False)\n'
        f'{split} = samples.isel(sample=samples.split == "{split}")',
    }


def equation_of(card: dict) -> dict:
    """Return the page's content on the equation and on the distributions of random quantities."""
    facts = card["equation"]
    more = {key.replace("_", " "): value for key, value in facts.items() if key not in SHOWN}
    says_more = facts.get("operator_in_latex") and SAYS_MORE.search(facts["operator"])
    return {
        "in_words": facts["in_words"],
        "equation": mathematics(facts.get("in_latex"), facts["in_symbols"]),
        "operator": mathematics(facts.get("operator_in_latex"), facts["operator"]),
        "operator_in_words": facts["operator"] if says_more else "",
        "parameters": facts.get("parameters", {}) | more,
        "source": facts["source"],
        "distributions": [
            {
                "title": f"Distribution of the {of.removeprefix(DISTRIBUTION).replace('_', ' ')}",
                "formula": mathematics(entry.get("in_latex"), entry["in_symbols"]),
                "facts": {key: entry[key] for key in entry if key not in ("in_symbols", "in_latex")},
            }
            for of, entry in card.items()
            if of.startswith(DISTRIBUTION)
        ],
    }


def mathematics(latex: str | None, symbols: str) -> Markup:
    """Return `latex` as MathML, with one element per part between quads; without `latex`, the symbols."""
    parts: list[str | Markup] = [] if latex else [symbols]
    *before, last = APART.split(latex or "")
    for part in (*(f"{equation}," for equation in before), last) if latex else ():
        element = convert_to_element(part, display="block")
        element.set("alttext", part)
        # The package has already written characters as entities.
        parts.append(Markup(tostring(element, encoding="unicode").replace("&amp;#", "&#")))
    return Markup(" ").join(Markup('<span class="math">{}</span>').format(part) for part in parts)
