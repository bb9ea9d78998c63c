"""What is shown beside the figures of Calvello et al. 2024 (arXiv:2406.06486): spectra, jumps and rollouts.

Section 6.2.3 explains what sets attention apart from the FNO by the modes that the latter cuts off, "an
over-smoothing effect", and remarks on jumps between patches; neither is shown there. *Spectra* are the power
of target, prediction and error by shell of wavenumbers (`resolvent/datasets/spectra.py`): a model that
over-smooths has less power at large wavenumbers than the target, and an error as large as the target itself.
*Jumps* are the mean absolute difference of neighbouring points on two sides of an edge between patches, over
that of neighbours in one patch. It is about 1 for a function that knows of no patches; where its waves happen
to fit the patches it is not, and the target's says so. *Rollouts* are the trained step of the Kolmogorov flow
applied again and again (`resolvent/evaluation/rollout.py`).
"""

import numpy as np

from resolvent.figures.common.fields import draw_colour_bar, draw_field, symmetric_scale_of
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.results import Run, read_arrays
from resolvent.figures.common.style import (
    BASELINE,
    INK,
    MUTED,
    appearances,
    error_limits,
    grid_lines,
    name_all,
    name_diverged,
    new_figure,
    new_stack,
    say_no_errors,
    title,
)
from resolvent.figures.experiment.comparison import grouped
from resolvent.figures.papers.calvello2024.chosen import (
    Experiments,
    finished_of,
    first_of_each_architecture,
    heading,
    lost_labels,
    widest,
    widest_groups,
)

ROUNDING = 1e-12  # of the target's power: less is what single precision leaves
WIDEST = 100.0  # times too much or too little power: what is beyond leaves the panel
FIELDS = {"error": ("o", True), "prediction": ("o", False), "target": ("|", True)}  # marker, whether filled
LONG = 8  # largest over smallest ratio on a linear axis


def draw_spectra(experiments: Experiments):
    """Draw two panels for each experiment: power of target and errors, and of predictions over the target."""
    by_experiment = widest_groups(experiments)
    looks = appearances(run for groups in by_experiment for group in groups for run in group)
    figure, axes = new_figure(len(by_experiment), 2, size=(8.6, 0.4 + 3.2 * len(by_experiment)))
    for groups, (left, right) in zip(by_experiment, axes, strict=True):
        _draw_spectra(left, right, groups, looks)
    for panel in axes[-1]:
        panel.set_xlabel("wavenumber (cycles along a side)")
    named: dict[str, object] = {}
    for panel in axes[:, 0]:
        handles, words = panel.get_legend_handles_labels()
        named |= dict(zip(words, handles, strict=True))
    name_all(figure, named, place="upper")
    return figure


def spectra(group: list[Run]) -> dict[str, np.ndarray]:
    """Return wavenumber, target, prediction and error by shell, the mean over the seeds that finished.

    Without the mean of the fields, without shells of more than half as many cycles as points, which the grid
    resolves in part, and without those where the target has nothing but rounding.
    """
    finished = [run.predictions_at() for run in finished_of(group)]
    found = {
        name: np.mean([one[f"{name}_power"].values for one in finished], axis=0)
        for name in ("target", "prediction", "error")
    }
    k = finished[0]["wavenumber"].values
    kept = (k > 0) & (k <= k.max() / np.sqrt(2)) & (found["target"] > ROUNDING * found["target"].sum())
    return {name: values[kept] for name, values in {"wavenumber": k, **found}.items()}


def _draw_spectra(left, right, groups: list[list[Run]], looks) -> None:
    from matplotlib.ticker import LogLocator

    drawn: list[np.ndarray] = []
    ratios = []
    for group in groups:
        found, look = spectra(group), looks[group[0].model]
        k, target, error = (found[name] for name in ("wavenumber", "target", "error"))
        if not drawn:
            left.plot(k, target, color=INK, lw=2, label="target")
            drawn.append(target)
        if not np.isfinite(error).all():
            continue
        ratio, style = found["prediction"] / target, {"color": look.colour, "ls": look.dashes, "lw": 1.3}
        left.plot(k, error, label=group[0].label, **style)
        right.plot(k, ratio, **style)
        drawn.append(error)
        ratios.append(np.clip(ratio, 1 / WIDEST, WIDEST))
        if (end := group[0].record.cut_off) is not None:
            for panel in (left, right):
                panel.axvline(end, color=look.colour, lw=0.9, ls=":")
    right.axhline(1, color=INK, lw=1)
    words = "power", "power of prediction / of target"
    for panel, values, label in zip((left, right), (drawn, ratios), words, strict=True):
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_major_formatter("{x:g}")
        panel.minorticks_off()
        error_limits(panel, np.concatenate(values) if values else [0.1, 10], margin=1.5)
        panel.set_ylabel(label)
        grid_lines(panel)
    right.set_xlim(left.get_xlim())
    title(left, heading(groups[0][0]))
    if ratios:
        name_diverged(left, lost_labels(groups))
    else:
        say_no_errors(right)


def draw_jumps(experiments: Experiments):
    """Draw a panel for each experiment, a row for each model; large marks are means, small ones seeds."""
    from matplotlib.ticker import LogLocator

    by_experiment = widest_groups(experiments)
    looks = appearances(run for groups in by_experiment for group in groups for run in group)
    heights = [1.0 + 0.36 * len(groups) for groups in by_experiment]
    size = (8.6, 0.5 + sum(heights))
    figure, axes = new_figure(len(by_experiment), 1, size=size, sharex=True, height_ratios=heights)
    drawn = []
    for groups, panel in zip(by_experiment, axes[:, 0], strict=True):
        drawn += _draw_jumps(panel, groups, looks)
    if drawn and max(drawn) > LONG * min(drawn):
        axes[0, 0].set_xscale("log")  # of all panels: they share it
        axes[0, 0].xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes[0, 0].xaxis.set_major_formatter("{x:g}")
    marks = [_mark(axes[0, 0], name, MUTED, 6, [], []) for name in FIELDS]
    figure.legend(marks, list(FIELDS), loc="outside upper center", ncols=3, frameon=False, fontsize=9)
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


def _draw_jumps(panel, groups: list[list[Run]], looks) -> list[float]:
    """Draw a panel; return the ratios drawn."""
    patches, drawn, names = patches_of(groups), [], []
    for row, group in enumerate(groups):
        first, colour = group[0], looks[group[0].model].colour
        sides = f"{patches[first.model]} × {patches[first.model]}"
        has_own = first.record.settings.get("patches")
        names.append(f"{first.label}\n" + (f"{sides} patches" if has_own else f"none; at {sides}"))
        found = [jumps(run, patches[first.model]) for run in group if not run.diverged]
        if not found:
            place = {"transform": panel.get_yaxis_transform(), "color": colour, "va": "center"}
            panel.text(0.02, row, "diverged", **place)
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


def draw_rollouts(rollouts: list[Run]):
    """Draw the mean error by time, a line a model, grey for persistence; below, a sample at the last time.

    rollouts  runs, each with `rollout.npz` in its folder.

    A line ends where a sample's prediction is no longer finite. Fields are those of the first model of each
    architecture that finished, of its first seed that did, on the scale of the true one.
    """
    kept = set(widest(rollouts))
    groups = grouped([run for run in rollouts if run.model in kept])
    runs = [run for group in groups for run in group]
    firsts = {group[0].model: finished_of(group)[0] for group in groups}
    shown = first_of_each_architecture(runs)
    columns = len(shown) + 2
    figure, (((curves,),), (pictures,)) = new_stack(
        {"nrows": 1, "ncols": 1, "height": 3.8},
        {"nrows": 1, "ncols": columns, "height": 1.9},
        size=(8.6, 4.2 + 8.6 / columns * 1.35),
    )
    _draw_curves(curves, groups, appearances(runs))
    _draw_fields(figure, pictures, [firsts[model] for model in shown])
    return figure


def rollout(run: Run) -> dict[str, np.ndarray]:
    """Return what `resolvent.evaluation.rollout.write_rollout` has measured of a run."""
    return read_arrays(run.directory / "rollout.npz")


def _draw_curves(panel, groups: list[list[Run]], looks) -> None:
    one = rollout(groups[0][0])
    times, persistence = one["times"], one["persistence"].mean(axis=0)
    panel.plot(times, persistence, color=BASELINE, ls=(0, (5, 3)), lw=1.3)
    drawn, labels = [persistence], [(float(persistence[-1]), "persistence", BASELINE)]
    for group in groups:
        look = looks[group[0].model]
        errors = np.mean([rollout(run)["error"].mean(axis=0) for run in finished_of(group)], axis=0)
        finite = np.isfinite(errors)
        if not finite.any():
            continue
        panel.plot(times, errors, color=look.colour, ls=look.dashes, lw=1.5, marker=".", ms=5)
        lost = "" if finite.all() else f", lost after t = {times[finite][-1]:g}"
        labels.append((float(errors[finite][-1]), group[0].label + lost, look.colour))
        drawn.append(errors)
    # A model that blows up leaves through the top: the others are to be read.
    error_limits(panel, np.minimum(np.concatenate(drawn), 10 * max(1.0, persistence.max())), margin=1.3)
    panel.set_xticks(times)
    panel.set(xlabel="time since the first vorticity", ylabel="mean relative L² error")
    grid_lines(panel)
    title(panel, f"{heading(groups[0][0])}: {len(one['error'])} test samples")
    name_diverged(panel, lost_labels(groups))
    label_right(panel, labels)


def _draw_fields(figure, panels, runs: list[Run]) -> None:
    found = [rollout(run) for run in runs]
    target, time = found[0]["target"][-1], found[0]["times"][-1]
    scale = symmetric_scale_of(target)
    fields = [("start", found[0]["initial"]), (f"truth, t = {time:g}", target)]
    for run, one in zip(runs, found, strict=True):
        words = run.label.replace(" neural operator", "\nneural operator").replace(" (", "\n(")
        fields.append((words, one["prediction"][-1]))
    for panel, (words, field) in zip(panels, fields, strict=True):
        image = draw_field(panel, field, scale)
        panel.set_title(words, loc="left", fontsize=8)
        if not np.isfinite(field).any():
            panel.text(0.5, 0.5, "not finite", ha="center", va="center", color=MUTED, fontsize=8)
    panels[0].set_ylabel(f"sample {int(found[0]['sample'])}", fontsize=8)
    draw_colour_bar(figure, image, list(panels), fraction=0.012, shrink=0.7)
