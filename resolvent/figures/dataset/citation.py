"""What to cite for a dataset, and its licence."""

import re
from pathlib import Path

REFERENCES = Path(__file__).parents[1] / "templates/references.bib"
PROGRAM = "resolvent"  # key of the entry of this program
FILES = "li2021fourier"  # who published the files that can be imported
ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5})")
MIT = "https://opensource.org/license/mit"
OURS = "The samples have the licence of the program that computes them, Resolvent's."
IMPORTED = "The samples are those of files made elsewhere; their licence is what their source says."
THEIRS = "The samples are computed by a program of their authors; their licence is what those say."


def bibtex(card: dict) -> str:
    """Return the entries of the papers that a card names as the source of its equation, then Resolvent's."""
    wanted = set(ARXIV.findall(card["equation"]["source"]))
    entries = _entries()
    chosen = [key for key, entry in entries.items() if wanted & set(ARXIV.findall(entry))]
    if "imported" in card and FILES not in chosen and card["settings"]["equation"] != "arrays":
        chosen.append(FILES)
    return "\n\n".join(entries[key] for key in [*chosen, PROGRAM])


def licence(card: dict) -> tuple[str, str]:
    """Return the name of the licence and a sentence."""
    stated = card.get("imported", {}).get("licence", "unknown")
    if stated != "unknown":
        return stated, "As who imported the samples states it."
    if "imported" in card:
        return "unknown", IMPORTED
    return ("unknown", THEIRS) if ":" in card["settings"]["equation"] else ("MIT", OURS)


def _entries() -> dict[str, str]:
    """Return the entries of references.bib by key."""
    text = REFERENCES.read_text(encoding="utf-8").strip()
    return {re.match(r"@\w+\{(\w+),", entry)[1]: entry.strip() for entry in re.split(r"\n(?=@)", text)}
