"""Error by wavenumber: where a model over-smooths, and where it makes things up.

Calvello et al. 2024 (arXiv:2406.06486, 6.2.3) explain what sets attention apart from the FNO by the modes
that the latter cuts off, "an over-smoothing effect", and do not show it. Here is the power of the error by
shell of wavenumbers, as `resolvent/datasets/spectra.py` measures it. A model that over-smooths has less
power at large wavenumbers than the target, and an error as large as the target itself.
"""

import numpy as np

from resolvent.figures.common.results import Run
from resolvent.figures.common.style import (
    INK,
    appearances,
    error_limits,
    grid_lines,
    name_all,
    name_diverged,
    new_figure,
    say_no_errors,
    title,
)
from resolvent.figures.papers.calvello2024.chosen import heading, lost_labels, widest_by_experiment

ROUNDING = 1e-12  # of the target's power: less is what single precision leaves
WIDEST = 100.0  # times too much or too little power: what is beyond leaves the panel


def draw_spectra(experiments: list[list[Run]]):
    """Draw two panels for each experiment: power of target and errors, and of predictions over the target.

    Means over test samples and over seeds that finished, at the training resolution. Dotted: the largest
    wavenumber that the FNOs' convolutions keep along an axis.
    """
    by_experiment = widest_by_experiment(experiments)
    looks = appearances(run for groups in by_experiment for group in groups for run in group)
    figure, axes = new_figure(len(by_experiment), 2, size=(8.6, 0.4 + 3.2 * len(by_experiment)))
    for groups, (left, right) in zip(by_experiment, axes, strict=True):
        _draw(left, right, groups, looks)
    for panel in axes[-1]:
        panel.set_xlabel("wavenumber (cycles along a side)")
    named = dict(pair for panel in axes[:, 0] for pair in zip(*_legend(panel), strict=True))
    name_all(figure, named, place="upper")
    return figure


def spectra(group: list[Run]) -> dict[str, np.ndarray]:
    """Return wavenumber, target, prediction and error by shell, the mean over the seeds that finished.

    Without the mean of the fields, without shells of more than half as many cycles as points, which the grid
    resolves in part, and without those where the target has nothing but rounding.
    """
    finished = [run for run in group if not run.diverged] or group[:1]
    found = {
        name: np.mean([run.predictions_at()[f"{name}_power"].values for run in finished], axis=0)
        for name in ("target", "prediction", "error")
    }
    k = finished[0].predictions_at()["wavenumber"].values
    kept = (k > 0) & (k <= k.max() / np.sqrt(2)) & (found["target"] > ROUNDING * found["target"].sum())
    return {name: values[kept] for name, values in {"wavenumber": k, **found}.items()}


def _draw(left, right, groups: list[list[Run]], looks) -> None:
    from matplotlib.ticker import LogLocator

    drawn, ratios = [], []
    for group in groups:
        found, look = spectra(group), looks[group[0].model]
        k, target, error = (found[name] for name in ("wavenumber", "target", "error"))
        if not drawn:
            left.plot(k, target, color=INK, lw=2, label="target")
            drawn.append(target)
        ratio = found["prediction"] / target
        if not np.isfinite(error).all():
            continue
        style = {"color": look.colour, "ls": look.dashes, "lw": 1.3}
        left.plot(k, error, label=group[0].label, **style)
        right.plot(k, ratio, **style)
        drawn.append(error)
        ratios.append(np.clip(ratio, 1 / WIDEST, WIDEST))
        if (end := group[0].record.cut_off) is not None:
            for panel in (left, right):
                panel.axvline(end, color=look.colour, lw=0.9, ls=":")
    right.axhline(1, color=INK, lw=1)
    words = {left: "power", right: "power of prediction / of target"}
    for panel, values in ((left, drawn), (right, ratios)):
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_major_formatter("{x:g}")
        panel.minorticks_off()
        error_limits(panel, np.concatenate(values) if values else [0.1, 10], margin=1.5)
        panel.set_ylabel(words[panel])
        grid_lines(panel)
    right.set_xlim(left.get_xlim())
    title(left, heading(groups[0][0]))
    if ratios:
        name_diverged(left, lost_labels(groups))
    else:
        say_no_errors(right)


def _legend(panel) -> tuple[list[str], list]:
    handles, words = panel.get_legend_handles_labels()
    return words, handles
