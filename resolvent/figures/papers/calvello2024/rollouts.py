"""The trained step of the Kolmogorov flow applied again and again: error against time, and last fields.

`resolvent/evaluation/rollout.py` says what is measured.
"""

import numpy as np

from resolvent.figures.common.fields import draw_colour_bar, draw_field, symmetric_scale_of
from resolvent.figures.common.labels import label_right
from resolvent.figures.common.results import Run, read_arrays
from resolvent.figures.common.style import (
    BASELINE,
    MUTED,
    appearances,
    error_limits,
    grid_lines,
    name_diverged,
    new_stack,
    title,
)
from resolvent.figures.experiment.comparison import grouped
from resolvent.figures.papers.calvello2024.chosen import (
    first_finished,
    first_of_each_architecture,
    heading,
    lost_labels,
    of_widest,
)


def draw_rollouts(rollouts: list[Run]):
    """Draw the mean error by time, a line a model, grey for persistence; below, a sample at the last time.

    rollouts  runs, each with `rollout.npz` in its folder.

    A line ends where a sample's prediction is no longer finite. Fields are those of the first model of each
    architecture that finished, of its first seed that did, on the scale of the true one.
    """
    groups = grouped(of_widest(rollouts))
    looks = appearances(run for group in groups for run in group)
    shown = first_of_each_architecture([run for group in groups for run in group])
    firsts = {group[0].model: first_finished(group) for group in groups}
    columns = len(shown) + 2
    figure, (((curves,),), (pictures,)) = new_stack(
        {"nrows": 1, "ncols": 1, "height": 3.8},
        {"nrows": 1, "ncols": columns, "height": 1.9},
        size=(8.6, 4.2 + 8.6 / columns * 1.35),
    )
    _draw_curves(curves, groups, looks)
    _draw_fields(figure, pictures, [firsts[model] for model in shown])
    return figure


def rollout(run: Run) -> dict[str, np.ndarray]:
    """Return what `resolvent.evaluation.rollout.write_rollout` has measured of a run."""
    return read_arrays(run.directory / "rollout.npz")


def mean_errors(group: list[Run]) -> np.ndarray:
    """Return by time the mean over samples and the seeds that finished; NaN once one is not finite."""
    finished = [run for run in group if not run.diverged] or group[:1]
    return np.mean([rollout(run)["error"].mean(axis=0) for run in finished], axis=0)


def _draw_curves(panel, groups: list[list[Run]], looks) -> None:
    one = rollout(groups[0][0])
    times, persistence = one["times"], one["persistence"].mean(axis=0)
    panel.plot(times, persistence, color=BASELINE, ls=(0, (5, 3)), lw=1.3)
    drawn, labels = [persistence], [(float(persistence[-1]), "persistence", BASELINE)]
    for group in groups:
        errors, look = mean_errors(group), looks[group[0].model]
        finite = np.isfinite(errors)
        if not finite.any():
            continue
        panel.plot(times, errors, color=look.colour, ls=look.dashes, lw=1.5, marker=".", ms=5)
        last = errors[finite][-1]
        lost = "" if finite.all() else f", lost after t = {times[finite][-1]:g}"
        labels.append((float(last), group[0].label + lost, look.colour))
        drawn.append(errors)
    drawn = np.concatenate(drawn)
    # A model that blows up leaves through the top: the others are to be read.
    error_limits(panel, np.minimum(drawn, 10 * max(1.0, persistence.max())), margin=1.3)
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
    fields = {"start": found[0]["initial"], f"truth, t = {time:g}": target}
    for panel, (words, field) in zip(panels[:2], fields.items(), strict=True):
        image = draw_field(panel, field, scale)
        panel.set_title(words, loc="left", fontsize=8)
    for panel, run, one in zip(panels[2:], runs, found, strict=True):
        draw_field(panel, one["prediction"][-1], scale)
        words = run.label.replace(" neural operator", "\nneural operator").replace(" (", "\n(")
        panel.set_title(words, loc="left", fontsize=8)
        if not np.isfinite(one["prediction"][-1]).any():
            panel.text(0.5, 0.5, "not finite", ha="center", va="center", color=MUTED, fontsize=8)
    panels[0].set_ylabel(f"sample {int(found[0]['sample'])}", fontsize=8)
    draw_colour_bar(figure, image, list(panels), fraction=0.012, shrink=0.7)
