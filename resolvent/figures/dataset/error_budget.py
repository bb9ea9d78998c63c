"""How wrong the stored solutions are: every check of the card on one scale."""

from pathlib import Path

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.results import read_json
from resolvent.figures.common.style import INK, MUTED, grid_lines, new_figure, save

SOLVER, DISCRETISATION = "#00805e", "#d55e00"
SMALLEST = 1e-17  # where an error of zero is drawn


def draw_error_budget(card: str | Path, output: str | Path) -> list[Path]:
    """Draw a row for each check: a dot for the median error over its samples, a bar up to the largest.

    Green are errors of the solver, held to the stated accuracy (dashed). Orange is what the discretisation
    itself costs, which no solver on this grid can avoid, and how imported solutions differ from our solver's.
    """
    facts = read_json(card)
    checks = {
        name: entry
        for name, entry in facts["error_budget"].items()
        if isinstance(entry, dict) and "largest_relative_l2" in entry
    }
    if not checks:
        raise ResultError(f"{card} has no measured error in its error budget")
    figure, ((panel,),) = new_figure(1, 1, size=(8.6, 1.1 + 0.42 * len(checks)))
    for row, (name, entry) in enumerate(checks.items()):
        colour = SOLVER if name.startswith("against_") else DISCRETISATION
        median, largest = (max(entry[f"{word}_relative_l2"], SMALLEST) for word in ("median", "largest"))
        panel.plot([median, largest], [row, row], color=colour, lw=6, alpha=0.3, solid_capstyle="round")
        panel.plot([median], [row], "o", color=colour, ms=6)
        panel.annotate(
            f"{entry['largest_relative_l2']:.1e}", (largest, row), (9, 0), textcoords="offset points",
            va="center", fontsize=8, color=colour,
        )  # fmt: skip
    labels = [f"{_words(name)} ({_samples(entry)})" for name, entry in checks.items()]
    panel.set_yticks(range(len(checks)), labels, color=INK)
    panel.set(ylim=(len(checks) - 0.4, -1.2), xscale="log", xlabel="relative L² error")
    panel.margins(x=0.12)
    words = "tolerance" if "imported" in facts else "stated accuracy"
    _line(panel, facts["stated_accuracy"], words, 0)
    if "rounding_to_float32" in facts["error_budget"]:
        _line(panel, facts["error_budget"]["rounding_to_float32"], "rounding to float32", 1)
    panel.spines["left"].set_visible(False)
    panel.tick_params(axis="y", length=0)
    grid_lines(panel, "x")
    return save(figure, output)


def _line(panel, value: float, words: str, height: int) -> None:
    panel.axvline(value, color=MUTED, lw=1, ls=(0, (4, 2)))
    panel.annotate(
        f"{words} {value:.0e}", (value, -1.2), (4, -2 - 11 * height), textcoords="offset points", va="top",
        fontsize=8, color=MUTED,
    )  # fmt: skip


def _samples(entry: dict) -> str:
    if entry.get("of", entry["samples"]) == entry["samples"]:
        return f"{'all ' * ('of' in entry)}{entry['samples']:,} samples"
    return f"{entry['samples']:,} of {entry['of']:,} samples"


def _words(check: str) -> str:
    return check.replace("_", " ")
