"""Jumps between patches, which patched attention may leave (Calvello et al. 2024, arXiv:2406.06486, 6.2.3).

The mean absolute difference of neighbouring points on two sides of an edge between patches, over that of
neighbouring points of one patch. It is about 1 for a function that knows of no patches; where its waves
happen to fit the patches it is not, and the target's says so. Models without patches are measured at the
edges of the others.
"""

import numpy as np

from resolvent.figures.common.results import Run
from resolvent.figures.common.style import INK, MUTED, appearances, grid_lines, new_figure, title
from resolvent.figures.papers.calvello2024.chosen import heading, widest_by_experiment

FIELDS = {"error": ("o", True), "prediction": ("o", False), "target": ("|", True)}  # marker, whether filled
LONG = 8  # largest over smallest ratio on a linear axis


def draw_jumps(experiments: list[list[Run]]):
    """Draw a panel for each experiment, a row for each model: jumps of errors, predictions and targets.

    Large marks are means over the seeds that finished, small ones are seeds; of the stored test samples at
    the training resolution.
    """
    from matplotlib.ticker import LogLocator

    by_experiment = widest_by_experiment(experiments)
    looks = appearances(run for groups in by_experiment for group in groups for run in group)
    heights = [1.0 + 0.36 * len(groups) for groups in by_experiment]
    figure, axes = new_figure(
        len(by_experiment), 1, size=(8.6, 0.5 + sum(heights)), sharex=True, height_ratios=heights
    )
    drawn = []
    for groups, panel in zip(by_experiment, axes[:, 0], strict=True):
        drawn += _draw(panel, groups, looks)
    if drawn and max(drawn) > LONG * min(drawn):
        axes[0, 0].set_xscale("log")  # of all panels: they share it
        axes[0, 0].xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes[0, 0].xaxis.set_major_formatter("{x:g}")
    figure.legend(
        [_mark(axes[0, 0], name, MUTED, 6, [], []) for name in FIELDS], list(FIELDS),
        loc="outside upper center", ncols=3, frameon=False, fontsize=9,
    )  # fmt: skip
    axes[-1, 0].set_xlabel("mean |jump| across edges of patches, over that inside")
    return figure


def jump_ratio(fields: np.ndarray, patches: int) -> float:
    """Return the mean |difference| of neighbours across edges of `patches`² patches, over that inside them.

    `fields` (samples, n, n), with n a multiple of `patches`.
    """
    n = fields.shape[-1]
    across = (np.arange(1, n) % (n // patches)) == 0
    jumps = [np.abs(np.diff(fields, axis=axis)).swapaxes(axis, -1) for axis in (-2, -1)]
    edges, inside = (
        np.concatenate([one[..., where].ravel() for one in jumps]) for where in (across, ~across)
    )
    return float(edges.mean() / inside.mean())


def jumps(run: Run, patches: int) -> dict[str, float]:
    """Return the ratio for the error, the prediction and the target of the run's stored samples."""
    prediction, target = run.shown("prediction"), run.shown("target")
    fields = {"error": prediction - target, "prediction": prediction, "target": target}
    return {name: jump_ratio(field, patches) for name, field in fields.items()}


def patches_of(groups: list[list[Run]]) -> dict[str, int]:
    """Return the patches along an axis by model; without any, those of the first that has some, or 4."""
    own = {group[0].model: group[0].record.settings.get("patches") for group in groups}
    common = next((patches for patches in own.values() if patches), 4)
    return {model: patches or common for model, patches in own.items()}


def _draw(panel, groups: list[list[Run]], looks) -> list[float]:
    """Draw a panel; return the ratios drawn."""
    patches, drawn = patches_of(groups), []
    for row, group in enumerate(groups):
        colour = looks[group[0].model].colour
        found = [jumps(run, patches[group[0].model]) for run in group if not run.diverged]
        if not found:
            panel.text(
                0.02, row, "diverged", transform=panel.get_yaxis_transform(), color=colour, va="center"
            )
            continue
        for name in FIELDS:
            values = [one[name] for one in found]
            drawn += values
            if len(values) > 1:
                _mark(panel, name, colour, 3, values, [row] * len(values))
            _mark(panel, name, colour, 7, [np.mean(values)], [row])
    panel.set_yticks(range(len(groups)), [_row_name(group[0], patches) for group in groups])
    for label, group in zip(panel.get_yticklabels(), groups, strict=True):
        label.set_color(looks[group[0].model].colour)
    panel.set_ylim(len(groups) - 0.4, -0.6)
    panel.axvline(1, color=INK, lw=0.6, zorder=0)
    grid_lines(panel, "x")
    title(panel, heading(groups[0][0]))
    return drawn


def _mark(panel, name: str, colour: str, size: float, x, y):
    marker, filled = FIELDS[name]
    colour = INK if name == "target" else colour
    size = 1.7 * size if marker == "|" else size
    face = colour if filled else "white"
    (mark,) = panel.plot(x, y, ls="", marker=marker, ms=size, color=colour, mfc=face, mew=1.3)
    return mark


def _row_name(run: Run, patches: dict[str, int]) -> str:
    own = run.record.settings.get("patches")
    return f"{run.label}\n" + (
        f"{own} × {own} patches" if own else f"none; at {patches[run.model]} × {patches[run.model]}"
    )
