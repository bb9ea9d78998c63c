"""Operations and seconds of the attentions by number of points."""

import pandas as pd

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.style import grid_lines, new_figure, resolution_axis, title
from resolvent.figures.theory.collection import NAMES, list_fits, look

PANELS = {
    "flops": ("Counted", "operations of the matrix products"),
    "seconds": ("Measured", "seconds, one thread"),
}


def draw(cost: pd.DataFrame, cost_orders: pd.DataFrame):
    """Draw a line for each attention, and the power of n that was fitted to it."""
    figure, axes = new_figure(1, 2, size=(9.6, 3.9))
    for panel, (quantity, (heading, label)) in zip(axes[0], PANELS.items(), strict=True):
        for attention, group in cost.groupby("attention", sort=False):
            style = look(attention)
            panel.plot(
                group["points"], group[quantity], ls=style.dashes, lw=1.5, ms=5, alpha=0.9, **style.marks()
            )
        of_quantity = cost_orders[cost_orders["quantity"] == quantity].to_dict("records")
        words = [
            (f"{NAMES[fit['attention']]}  $n^{{{fit['fitted']:.2f}}}$", look(fit["attention"]).colour)
            for fit in of_quantity
        ]
        resolution_axis(panel, cost["points"])
        panel.set(yscale="log", xlabel="points n", ylabel=label)
        low, high = panel.get_ylim()
        panel.set_ylim(low, high * (high / low) ** 0.35)  # room for the key
        list_fits(panel, f"fitted from n = {of_quantity[0]['fitted_from']:,}", words, left=0.03, top=0.97)
        grid_lines(panel)
        title(panel, heading)
    return figure


COST = Exhibit(
    "Linear and quadratic cost",
    "One head of {cost_features} features, batch of one, forward pass, single precision, n = "
    "{cost_points}. Left: two operations for each multiplication and addition of the matrix products; "
    "lines lie on each other. Right: median of {cost_repetitions} timings on one CPU thread, all "
    "attentions and sizes in turn; softmax is torch's fused kernel. Seconds differ from run to run.",
    draw,
)
