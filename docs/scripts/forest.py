"""Draw the ratios of our errors to reported errors, with intervals, one panel per table (a forest plot)."""

from collections.abc import Mapping, Sequence

from common_ratio import MARGIN, Comparison

from resolvent.figures.common.style import ATTENTIONS, GRID, INK, MUTED, grid_lines, new_figure, title

WIDTH = 4.5  # inches, so that letters are legible on a telephone
ROW, EDGE = 0.36, 0.75  # inches of a row, and of a panel's title and axis
COLOUR = ATTENTIONS["galerkin"][0]
OF_COMMON = ATTENTIONS["fourier"][0]


def draw_forest(tables: Mapping[str, tuple[Sequence[str], Comparison]]):
    """Return a figure with a panel for each table: names of its rows, and their comparison."""
    heights = [EDGE + ROW * (len(names) + (len(names) > 1)) for names, _ in tables.values()]
    size = (WIDTH, sum(heights))
    figure, axes = new_figure(len(tables), 1, size=size, sharex=True, height_ratios=heights)
    reached = [1 / MARGIN, MARGIN]
    for panel, (name, (names, comparison)) in zip(axes[:, 0], tables.items(), strict=True):
        panel.axvspan(1 / MARGIN, MARGIN, color=GRID, zorder=0)
        panel.axvline(1, color=MUTED, lw=0.8, zorder=1)
        for place, (label, row) in enumerate(zip(names, comparison.rows, strict=True)):
            look = {"lw": 2.2 if row.seeds_known else 0.9, "color": COLOUR}
            panel.plot([row.ratio.low, row.ratio.high], [place, place], zorder=2, **look)
            face = COLOUR if row.seeds_known else "white"
            mark = {"marker": "o", "ms": 5, "mfc": face, "mec": COLOUR}
            panel.plot(row.ratio.value, place, ls="", zorder=3, **mark)
            _name(panel, place, label)
            reached += [row.ratio.low, row.ratio.high]
        if len(names) > 1:
            place, common = len(names), comparison.common
            x = [common.low, common.value, common.high, common.value]
            y = [place, place - 0.16, place, place + 0.16]
            panel.fill(x, y, color=OF_COMMON, zorder=3)
            panel.axvline(common.value, color=OF_COMMON, lw=0.9, ls=(0, (4, 2)), zorder=1)
            _name(panel, place, "common ratio", fontweight="bold")
        panel.set_ylim(len(names) + (len(names) > 1) - 0.6, -0.75)
        panel.set_yticks([])
        panel.spines["left"].set_visible(False)
        panel.tick_params(labelbottom=True)
        grid_lines(panel, "x")
        title(panel, name)
    lowest, highest = min(reached) / 1.05, max(reached) * 1.05
    ticks = [tick for tick in (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.4, 2, 3, 5, 10) if lowest <= tick <= highest]
    lower = axes[-1, 0]
    lower.set(xscale="log", xlim=(lowest, highest), xlabel="our error / reported error")
    lower.xaxis.minorticks_off()
    lower.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    return figure


def _name(axes, place: int, text: str, **look) -> None:
    """Write the name of a row above its interval, at the left edge."""
    place_of_text = {"transform": axes.get_yaxis_transform(), "ha": "left", "va": "center"}
    axes.text(0.0, place - 0.36, text, color=INK, fontsize=9, **place_of_text, **look)
