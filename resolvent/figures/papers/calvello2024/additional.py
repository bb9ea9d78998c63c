"""Additional figures that are not in Calvello et al. 2024: spectra, jumps between patches, and rollouts.

Section 6.2.3 attributes the difference between attention and the FNO to the modes truncated in the FNO, "an
over-smoothing effect", and mentions jumps between patches; neither is shown in the paper. *Spectra* are the
power of target, prediction and error by shell of wavenumbers (`resolvent/datasets/spectra.py`): an
over-smoothing model has less power at large wavenumbers than the target, and an error as large as the target.
*Jumps* are the ratio of the mean absolute difference of neighbouring points across an edge between patches to
the mean inside patches. The ratio is about 1 for a function unrelated to the patches; if its waves are
aligned with the patches, the target's ratio also differs from 1. *Rollouts* apply the trained step of the
Kolmogorov flow repeatedly (`resolvent/evaluation/rollout.py`).
"""

from typing import Any

import numpy as np

from resolvent.figures.common import style
from resolvent.figures.common.fields import draw_colour_bar, draw_field, symmetric_scale_of
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.results import Run, read_arrays
from resolvent.figures.experiment.comparison import grouped
from resolvent.figures.papers.calvello2024.chosen import (
    Experiments,
    Groups,
    finished_of,
    first_of_each_architecture,
    heading,
    lost_labels,
    panels_of,
    widest,
)

ROUNDING = 1e-12  # fraction of the target's power: smaller values are rounding in single precision
WIDEST = 100.0  # largest ratio of powers, and its inverse, in a panel
# Marker, whether it is filled, and its relative size.
FIELDS = {"error": ("o", True, 1), "prediction": ("o", False, 1), "target": ("|", True, 1.7)}
LONG = 8  # largest over smallest ratio on a linear axis


def draw_spectra(experiments: Experiments):
    """Draw two panels per experiment: power of target and errors, and ratio of predictions to the target."""
    panels = panels_of(experiments, widest)
    looks = style.appearances(run for groups, _ in panels for group in groups for run in group)
    figure, axes = style.new_figure(len(panels), 2, size=(8.6, 0.4 + 3.2 * len(panels)))
    named: dict[tuple, Any] = {}  # models in several panels once
    for (groups, _), (left, right) in zip(panels, axes, strict=True):
        _draw_spectra(left, right, groups, looks)
        for line in left.get_legend_handles_labels()[0]:
            named[line.get_label(), line.get_color(), line.get_linestyle()] = line
    for panel in axes[-1]:
        panel.set_xlabel("wavenumber (cycles per side)")
    style.name_all(figure, named.values(), place="upper")
    return figure


def spectra(group: list[Run]) -> dict[str, np.ndarray]:
    """Return wavenumber, target, prediction and error by shell, averaged over finished seeds.

    Excludes the mean of the fields, shells beyond the Nyquist wavenumber, which the grid resolves only
    partly, and shells where the target is only rounding.
    """
    finished = [run.predictions_at() for run in finished_of(group)]
    found = {
        name: np.mean([one[f"{name}_power"].values for one in finished], axis=0)
        for name in ("target", "prediction", "error")
    }
    k = finished[0]["wavenumber"].values
    kept = (k > 0) & (k <= k.max() / np.sqrt(2)) & (found["target"] > ROUNDING * found["target"].sum())
    return {name: values[kept] for name, values in {"wavenumber": k, **found}.items()}


def _draw_spectra(left, right, groups: Groups, looks) -> None:
    drawn: list[np.ndarray] = []
    ratios = []
    for group in groups:
        found, look = spectra(group), looks[group[0].model]
        k, target, error = (found[name] for name in ("wavenumber", "target", "error"))
        if not drawn:
            left.plot(k, target, color=style.INK, lw=2, label="target")
            drawn.append(target)
        if not np.isfinite(error).all():
            continue
        ratio, line = found["prediction"] / target, {"color": look.colour, "ls": look.dashes, "lw": 1.3}
        left.plot(k, error, label=group[0].label, **line)
        right.plot(k, ratio, **line)
        drawn.append(error)
        ratios.append(np.clip(ratio, 1 / WIDEST, WIDEST))
        if (end := group[0].record.cut_off) is not None:
            for panel in (left, right):
                panel.axvline(end, color=look.colour, lw=0.9, ls=":")
    right.axhline(1, color=style.INK, lw=1)
    for panel, values, label in (
        (left, drawn, "power"), (right, ratios, "power of prediction / target"),
    ):  # fmt: skip
        _plain_logarithmic(panel)
        panel.minorticks_off()
        style.error_limits(panel, np.concatenate(values) if values else [0.1, 10], margin=1.5)
        panel.set_ylabel(label)
        style.grid_lines(panel)
    right.set_xlim(left.get_xlim())
    style.title(left, heading(groups[0][0]))
    if ratios:
        style.name_diverged(left, lost_labels(groups))
    else:
        style.say_no_errors(right)


def _plain_logarithmic(panel) -> None:
    """Make the x axis logarithmic, with plain numbers at 1, 2 and 5 times powers of ten."""
    from matplotlib.ticker import LogLocator

    panel.set_xscale("log")
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter("{x:g}")


def draw_jumps(experiments: Experiments):
    """Draw one panel per experiment, one row per model; large marks are means, small marks are seeds."""
    panels = panels_of(experiments, widest)
    looks = style.appearances(run for groups, _ in panels for group in groups for run in group)
    heights = [1.0 + 0.36 * len(groups) for groups, _ in panels]
    size = (8.6, 0.5 + sum(heights))
    figure, axes = style.new_figure(len(panels), 1, size=size, sharex=True, height_ratios=heights)
    drawn: list[float] = []
    for (groups, _), panel in zip(panels, axes[:, 0], strict=True):
        drawn += _draw_jumps(panel, groups, looks)
    if drawn and max(drawn) > LONG * min(drawn):
        _plain_logarithmic(axes[0, 0])  # shared by all panels
    marks = [_mark(axes[0, 0], name, style.MUTED, 6, [], []) for name in FIELDS]
    figure.legend(marks, list(FIELDS), loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    axes[-1, 0].set_xlabel("mean |jump| across patch edges / inside patches")
    return figure


def jump_ratio(fields: np.ndarray, patches: int) -> float:
    """Return the ratio of mean |differences| of neighbours across edges of patches and inside patches.

    `fields` is (samples, n, n), with n a multiple of `patches`, the number of patches per axis.
    """
    n = fields.shape[-1]
    across = (np.arange(1, n) % (n // patches)) == 0
    jumps = [np.abs(np.diff(fields, axis=axis)).swapaxes(axis, -1) for axis in (-2, -1)]
    edges, inside = (
        np.concatenate([one[..., where].ravel() for one in jumps]) for where in (across, ~across)
    )
    return float(edges.mean() / inside.mean())


def jumps(run: Run, patches: int) -> dict[str, float]:
    """Return the ratios for error, prediction and target of the run's stored samples."""
    prediction, target = run.shown("prediction"), run.shown("target")
    fields = {"error": prediction - target, "prediction": prediction, "target": target}
    return {name: jump_ratio(field, patches) for name, field in fields.items()}


def patches_of(groups: Groups) -> dict[str, int]:
    """Return the patches per axis by model; default: as in the first model with patches, or 4."""
    own = {group[0].model: group[0].record.settings.get("patches") for group in groups}
    common = next((patches for patches in own.values() if patches), 4)
    return {model: patches or common for model, patches in own.items()}


def _draw_jumps(panel, groups: Groups, looks) -> list[float]:
    patches, drawn, names = patches_of(groups), [], []
    for row, group in enumerate(groups):
        first, colour = group[0], looks[group[0].model].colour
        sides = f"{patches[first.model]} × {patches[first.model]}"
        has_own = first.record.settings.get("patches")
        names.append(f"{first.label}\n" + (f"{sides} patches" if has_own else f"no patches; at {sides}"))
        found = [jumps(run, patches[first.model]) for run in group if not run.diverged]
        if not found:
            across = panel.get_yaxis_transform()
            panel.text(0.02, row, "diverged", transform=across, color=colour, va="center")
            continue
        for name in FIELDS:
            values = [one[name] for one in found]
            drawn += values
            if len(values) > 1:
                _mark(panel, name, colour, 3, values, [row] * len(values))
            _mark(panel, name, colour, 7, [np.mean(values)], [row])
    panel.set_yticks(range(len(groups)), names)
    for label, group in zip(panel.get_yticklabels(), groups, strict=True):
        label.set_color(looks[group[0].model].colour)
    panel.set_ylim(len(groups) - 0.4, -0.6)
    panel.axvline(1, color=style.INK, lw=0.6, zorder=0)
    style.grid_lines(panel, "x")
    style.title(panel, heading(groups[0][0]))
    return drawn


def _mark(panel, name: str, colour: str, size: float, x, y):
    marker, filled, larger = FIELDS[name]
    colour = style.INK if name == "target" else colour
    line = {"marker": marker, "ms": larger * size, "mfc": colour if filled else "white", "mew": 1.3}
    return panel.plot(x, y, ls="", color=colour, **line)[0]


def draw_rollouts(rollouts: list[Run]):
    """Draw the mean error by time, one line per model, grey for persistence, and a sample at the last time.

    rollouts  runs, each with `rollout.npz` in its folder.
    A line ends when a prediction is no longer finite. Fields are those of the first finished model of each
    architecture, with its first finished seed, on the scale of the true field.
    """
    kept = set(widest(rollouts))
    groups = grouped([run for run in rollouts if run.model in kept])
    runs = [run for group in groups for run in group]
    firsts = {group[0].model: finished_of(group)[0] for group in groups}
    shown = [firsts[model] for model in first_of_each_architecture(runs)]
    columns = len(shown) + 2
    figure, (((curves,),), (pictures,)) = style.new_stack(
        {"nrows": 1, "ncols": 1, "height": 3.8},
        {"nrows": 1, "ncols": columns, "height": 1.9},
        size=(8.6, 4.2 + 8.6 / columns * 1.35),
    )
    found = {run.directory: read_arrays(run.directory / "rollout.npz") for run in runs}
    _draw_curves(curves, groups, found, style.appearances(runs))
    first = found[shown[0].directory]
    target, time = first["target"][-1], first["times"][-1]
    fields = [("start", first["initial"]), (f"truth, t = {time:g}", target)]
    for run in shown:
        words = run.label.replace(" neural operator", "\nneural operator").replace(" (", "\n(")
        fields.append((words, found[run.directory]["prediction"][-1]))
    for panel, (words, field) in zip(pictures, fields, strict=True):
        image = draw_field(panel, field, symmetric_scale_of(target))
        panel.set_title(words, loc="left", fontsize=8)
        if not np.isfinite(field).any():
            panel.text(0.5, 0.5, "not finite", ha="center", va="center", color=style.MUTED, fontsize=8)
    pictures[0].set_ylabel(f"sample {int(first['sample'])}", fontsize=8)
    draw_colour_bar(figure, image, list(pictures), fraction=0.012, shrink=0.7)
    return figure


def _draw_curves(panel, groups: Groups, found: dict, looks) -> None:
    one = found[groups[0][0].directory]
    times, persistence = one["times"], one["persistence"].mean(axis=0)
    panel.plot(times, persistence, color=style.BASELINE, ls=(0, (5, 3)), lw=1.3)
    drawn, labels = [persistence], [(float(persistence[-1]), "persistence", style.BASELINE)]
    for group in groups:
        look = looks[group[0].model]
        errors = np.mean([found[run.directory]["error"].mean(axis=0) for run in finished_of(group)], axis=0)
        finite = np.isfinite(errors)
        if not finite.any():
            continue
        panel.plot(times, errors, color=look.colour, ls=look.dashes, lw=1.5, marker=".", ms=5)
        lost = "" if finite.all() else f", not finite after t = {times[finite][-1]:g}"
        labels.append((float(errors[finite][-1]), group[0].label + lost, look.colour))
        drawn.append(errors)
    # Unstable models leave the panel at the top, so the others stay legible.
    reach = np.minimum(np.concatenate(drawn), 10 * max(1.0, persistence.max()))
    style.error_limits(panel, reach, margin=1.3)
    panel.set_xticks(times)
    panel.set(xlabel="time since the initial vorticity", ylabel="mean relative L² error")
    style.grid_lines(panel)
    style.title(panel, f"{heading(groups[0][0])}: {len(one['error'])} test samples")
    style.name_diverged(panel, lost_labels(groups))
    label_right(panel, labels)
