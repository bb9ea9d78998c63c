"""How wrong the stored solutions are: every check of the card on one scale."""

import math

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.style import INK, MUTED, grid_lines, new_figure
from resolvent.figures.dataset.checks import LARGEST, MEDIAN, in_words, measured, of_the_solver, samples

SOLVER, DISCRETISATION = "#00805e", "#d55e00"
SMALLEST = 1e-17  # where an error of zero is drawn


def draw(card: dict):
    """Draw a row for each check: a dot for the median error over its samples, a bar up to the largest.

    Green are errors of the solver, held to the stated accuracy (dashed). Orange is what the discretisation
    itself costs, which no solver on this grid can avoid, and how imported solutions differ from our solver's.
    """
    checks = measured(card["error_budget"])
    if not checks:
        raise ResultError(f"the card of {card['dataset']} has no measured error in its error budget")
    figure, ((panel,),) = new_figure(1, 1, size=(8.6, 1.1 + 0.42 * len(checks)))
    for row, (name, entry) in enumerate(checks.items()):
        colour = SOLVER if of_the_solver(name) else DISCRETISATION
        median, largest = (max(entry[key], SMALLEST) for key in (MEDIAN, LARGEST))
        panel.plot([median, largest], [row, row], color=colour, lw=6, alpha=0.3, solid_capstyle="round")
        panel.plot([median], [row], "o", color=colour, ms=6)
        panel.annotate(
            scientific(entry[LARGEST], 2), (largest, row), (9, 0), textcoords="offset points",
            va="center", fontsize=8, color=colour,
        )  # fmt: skip
    labels = [f"{in_words(name)} ({samples(entry)} samples)" for name, entry in checks.items()]
    panel.set_yticks(range(len(checks)), labels, color=INK)
    panel.set(ylim=(len(checks) - 0.4, -1.2), xscale="log", xlabel="relative L² error")
    panel.margins(x=0.12)
    words = "tolerance" if "imported" in card else "stated accuracy"
    _line(panel, card["stated_accuracy"], words, 0)
    if "rounding_to_float32" in card["error_budget"]:
        _line(panel, card["error_budget"]["rounding_to_float32"], "rounding to float32", 1)
    panel.spines["left"].set_visible(False)
    panel.tick_params(axis="y", length=0)
    grid_lines(panel, "x")
    return figure


def chart(card: dict):
    """Draw the same as a chart: hovering a check says its errors and its samples."""
    from plotly.graph_objects import Figure

    figure = Figure()
    checks = measured(card["error_budget"])
    for row, (name, entry) in enumerate(checks.items()):
        colour = SOLVER if of_the_solver(name) else DISCRETISATION
        errors = [max(entry[key], SMALLEST) for key in (MEDIAN, LARGEST)]
        words = [
            f"{word} {scientific(entry[key], 2)}" for word, key in (("median", MEDIAN), ("largest", LARGEST))
        ]
        figure.add_scatter(
            x=errors, y=[row, row], mode="lines+markers", showlegend=False,
            line={"color": colour, "width": 4}, marker={"color": colour, "size": 10},
            text=[f"{in_words(name)}<br>{one}, {samples(entry)} samples" for one in words], hoverinfo="text",
        )  # fmt: skip
    accuracy = card["stated_accuracy"]
    figure.add_vline(x=accuracy, line={"dash": "dash", "color": MUTED})
    figure.update_xaxes(type="log", title="relative L² error", exponentformat="power")
    for row, name in enumerate(checks):
        figure.add_annotation(
            x=0, xref="paper", xanchor="left", y=row - 0.3, text=in_words(name), showarrow=False
        )
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False, range=[len(checks) - 0.5, -1.2])
    figure.add_annotation(
        x=math.log10(accuracy), y=-1, xanchor="right", xshift=-4, showarrow=False,
        text=f"{'tolerance' if 'imported' in card else 'stated accuracy'} {scientific(accuracy, 1)}",
    )  # fmt: skip
    figure.update_layout(margin={"l": 20, "r": 20, "t": 20, "b": 50}, height=max(360, 160 + 44 * len(checks)))
    return figure


def _line(panel, value: float, words: str, height: int) -> None:
    panel.axvline(value, color=MUTED, lw=1, ls=(0, (4, 2)))
    panel.annotate(
        f"{words} {scientific(value, 1)}", (value, -1.2), (4, -2 - 11 * height),
        textcoords="offset points", va="top", fontsize=8, color=MUTED,
    )  # fmt: skip


ERROR_BUDGET = Exhibit(
    "Error budget",
    "Measured relative L² errors of the stored solutions: median and largest over the samples named, "
    "against computations that did not make them. The largest of a random choice is no bound for all "
    "samples: the card says how many may have a larger error. A dataset is finalised only if every check "
    "of its solver stays below the stated accuracy; the error of the discretisation itself, where it is "
    "measured, stands apart. Solutions that were imported are compared with our solver's, and above the "
    "tolerance the page warns.",
    draw,
    chart,
)
