"""Draw the figure of docs/equations/burgers.md: four samples of the public data and our solutions.

Run `python docs/scripts/public_curves.py`.
"""

from pathlib import Path
from typing import Any

import pandas as pd
from page_parts import ROOT

from resolvent.datasets.tasks.burgers import BurgersDataset
from resolvent.datasets.tasks.registry import build_task
from resolvent.figures.common.style import BASELINE, INK, grid_lines, new_figure, save, title
from resolvent.solvers.common.fourier import coefficients_of

OURS, PRINTED = "#0072b2", "#d55e00"
DRAWN: tuple[tuple[dict[str, Any], str, float], ...] = (
    ({}, OURS, 1.3), ({"final_time": 1.0}, PRINTED, 0.9)
)  # fmt: skip
LABELS = (  # in the first panel: end of the curve, height, side, text, colour
    (0.47, 0.38, "left", "initial velocity", BASELINE),
    (0.60, -0.50, "right", "final velocity in the file (band)", INK),
    (0.60, -0.64, "right", "ours at T = 1/(2π)", OURS),
    (0.62, 0.03, "left", "ours at T = 1", PRINTED),
)


def draw_public_curves(root: Path) -> None:
    curves = pd.read_csv(root / "docs/measured/burgers_public_curves.csv", comment="#")
    curves = curves[::2]  # 128 points resolve all modes
    figure, axes = new_figure(2, 2, size=(7.6, 4.9), sharex=True, sharey=True)
    for (sample, curve), panel in zip(curves.groupby("sample"), axes.flat, strict=True):
        x, initial, final = (curve[name].to_numpy() for name in ("x", "initial_velocity", "final_velocity"))
        panel.plot(x, initial, color=BASELINE, lw=0.9)
        panel.plot(x, final, color=INK, lw=4.5, alpha=0.3)
        for settings, colour, width in DRAWN:
            task = build_task(BurgersDataset(equation="burgers", resolutions=[len(x)], **settings))
            solved = task.solve(coefficients_of(initial[None]))[f"n{len(x)}/final_velocity"][0]
            panel.plot(x, solved, color=colour, lw=width)
        grid_lines(panel)
        title(panel, f"Test sample {sample}")
    for left, height, side, words, colour in LABELS:
        axes[0, 0].text(left, height, words, ha=side, color=colour, fontsize=8.5)
    axes[0, 0].set(xlim=(0, 1), yticks=(-0.5, 0, 0.5))
    axes[0, 0].set_xticks((0, 0.5, 1), ("0", "½", "1"))
    for panel in axes[:, 0]:
        panel.set_ylabel("velocity")
    for panel in axes[1]:
        panel.set_xlabel("x")
    _, *others = save(figure, root / "docs/images/burgers_public_file.svg")
    for other in others:
        other.unlink()


if __name__ == "__main__":
    draw_public_curves(ROOT)
