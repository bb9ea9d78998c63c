"""Operations and seconds of the attentions by number of points."""

from pathlib import Path

from resolvent.figures.common.results import read_table
from resolvent.figures.common.style import grid_lines, new_figure, resolution_axis, save, title
from resolvent.figures.theory.collection import NAMES, list_fits, look

PANELS = {
    "flops": ("Counted", "operations of the matrix products"),
    "seconds": ("Measured", "seconds, one thread"),
}


def draw_theory_cost(costs: str | Path, orders: str | Path, output: str | Path) -> list[Path]:
    """Draw a line for each attention, and the power of n that was fitted to it."""
    table = read_table(Path(costs), ["attention", "points", "flops", "seconds"])
    fits = read_table(Path(orders), ["attention", "quantity", "fitted", "theory", "fitted_from"])
    figure, axes = new_figure(1, 2, size=(9.6, 3.9))
    for panel, (quantity, (heading, label)) in zip(axes[0], PANELS.items(), strict=True):
        for attention, group in table.groupby("attention", sort=False):
            style = look(attention)
            panel.plot(
                group["points"], group[quantity], ls=style.dashes, lw=1.5, ms=5, alpha=0.9, **style.marks()
            )
        of_quantity = fits[fits["quantity"] == quantity].to_dict("records")
        words = [
            (f"{NAMES[fit['attention']]}  $n^{{{fit['fitted']:.2f}}}$", look(fit["attention"]).colour)
            for fit in of_quantity
        ]
        resolution_axis(panel, table["points"])
        panel.set(yscale="log", xlabel="points n", ylabel=label)
        low, high = panel.get_ylim()
        panel.set_ylim(low, high * (high / low) ** 0.35)  # room for the key
        list_fits(panel, f"fitted from n = {of_quantity[0]['fitted_from']:,}", words, left=0.03, top=0.97)
        grid_lines(panel)
        title(panel, heading)
    return save(figure, output)
