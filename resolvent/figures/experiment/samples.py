"""Test samples and predictions: curves, images of functions of two variables, trajectories, a film.

As in Figures 9 and 10 of Cao 2021 and, for trajectories, in Figures 6, 8 and 9 of Calvello et al. 2024.
"""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from resolvent.common.predictions import condition
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.fields import draw_colour_bar, draw_field, scale_of, symmetric_scale_of
from resolvent.figures.common.film import LONGEST, Film
from resolvent.figures.common.labels import shortened
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import Run, Shown
from resolvent.figures.common.style import BASELINE, INK, MUTED, appearances, grid_lines, new_figure, title

DASHES = (0, (2.5, 2))
EXTREMES = ("median", "worst")  # shown samples of trajectories
FLOOR = 1e-12  # smallest error on a logarithmic axis
FASTEST = Fraction(4)  # frames per second: a rollout has few frames


def draw(shown: Shown, quantities: tuple[str, str]):
    """Draw the stored samples of the shown run; `quantities` are the names of the input and the target."""
    run = shown.run
    if isinstance(run.resolution, str):
        return draw_sample_trajectories(run)
    return (_draw_fields if "y" in run.predictions_at().coords else _draw_curves)(run, quantities)


def _draw_curves(run: Run, quantities: tuple[str, str]):
    """Draw each sample above a strip of its pointwise error. All strips share one scale."""
    look, relative = appearances([run])[run.model], run.shown_errors()
    x, samples = run.predictions_at()["x"].values, run.shown_samples
    inputs, targets, predictions = (run.shown(name) for name in ("input", "target", "prediction"))
    errors = predictions - targets
    bound = 1.1 * np.abs(errors[np.isfinite(errors)]).max(initial=0) or 1.0
    columns = min(2, len(samples))
    rows = -(-len(samples) // columns)
    size = (8.6, 0.5 + 2.9 * rows)
    figure, axes = new_figure(2 * rows, columns, size=size, sharex=True, height_ratios=[3.2, 1] * rows)
    for index, sample in enumerate(samples):
        row, column = divmod(index, columns)
        panel, strip = axes[2 * row : 2 * row + 2, column]
        for values, label, line in (
            (inputs, quantities[0], {"color": BASELINE, "lw": 0.9}),
            (targets, quantities[1], {"color": INK, "lw": 1.8}),
            (predictions, "prediction", {"color": look.colour, "lw": 1.4, "ls": DASHES}),
        ):
            for number, function in enumerate(np.atleast_2d(values[index])):  # one or several
                panel.plot(x, function, label=label if number == 0 else None, **line)
        title(panel, f"test sample {sample}: {_error(relative.get(sample), 'relative L² error ')}")
        panel.tick_params(labelbottom=False)
        grid_lines(panel)
        strip.axhline(0, color=MUTED, lw=0.6)
        for error in np.atleast_2d(errors[index]):
            strip.fill_between(x, error, color=look.colour, alpha=0.35, lw=0)
            strip.plot(x, error, color=look.colour, lw=0.7)
        strip.set_ylim(-bound, bound)
        strip.ticklabel_format(axis="y", style="sci", scilimits=(-2, 2), useMathText=True)
        if column == 0:
            panel.set_ylabel(shortened(quantities[1]))
            strip.set_ylabel("error")
        if row == rows - 1:
            strip.set_xlabel("x")
        else:
            strip.tick_params(labelbottom=False)
    if len(samples) % columns:
        for unused in axes[-2:, -1]:
            unused.set_axis_off()
    _name_above(figure, axes[0, 0])
    return figure


def _draw_fields(run: Run, quantities: tuple[str, str]):
    """Draw one column per sample, and one row per function with one colour scale.

    Input and target may be on different grids; inputs that are constant in every sample are omitted. Target
    and prediction share a scale; errors have a symmetric scale.
    """
    inputs, wanted, predicted = (
        [values] if values.ndim == 3 else list(np.moveaxis(values, 1, 0))  # by channel
        for values in (run.shown(name) for name in ("input", "target", "prediction"))
    )
    stored = run.predictions_at()
    plane = [stored[axis].values for axis in ("y", "x")]
    target_plane = [stored[f"{axis}_target"].values for axis in ("y", "x")] if "x_target" in stored else plane
    varying = [values for values in inputs if not np.all(values == values[:, :1, :1])] or inputs
    numbers = [f" ({number})" for number in range(1, 1 + len(varying))] if len(varying) > 1 else [""]
    rows = [
        (f"{quantities[0]}{number}", values, scale_of(values), plane)
        for number, values in zip(numbers, varying, strict=True)
    ]
    for place, (target, prediction) in enumerate(zip(wanted, predicted, strict=True), 1):
        number, scale, error = f" ({place})" if len(wanted) > 1 else "", scale_of(target), prediction - target
        rows.append((f"{quantities[1]}{number}", target, scale, target_plane))
        rows.append((f"prediction{number}", prediction, scale, target_plane))
        rows.append((f"error{number}", error, symmetric_scale_of(error), target_plane))
    samples, relative = run.shown_samples, run.shown_errors()
    flat = float(np.clip(np.ptp(target_plane[0]) / np.ptp(target_plane[1]), 0.45, 1))
    figure, axes = new_figure(len(rows), len(samples), size=(8.6, 2.1 * flat * len(rows)))
    for (label, fields, scale, coordinates), panels in zip(rows, axes, strict=True):
        for panel, field in zip(panels, fields, strict=True):
            image = draw_field(panel, field, scale, coordinates)
        panels[0].set_ylabel(shortened(label))
        draw_colour_bar(figure, image, panels)
    for panel, sample in zip(axes[0], samples, strict=True):
        title(panel, f"test sample {sample}\n{_error(relative.get(sample), 'error ')}")
        panel.title.set_fontsize(8)
    return figure


def _error(relative: float | None, before: str) -> str:
    return f"{before}{scientific(relative)}" if relative is not None and np.isfinite(relative) else "diverged"


def _name_above(figure, panel) -> None:
    named = panel.get_legend_handles_labels()
    figure.legend(*named, loc="outside upper center", ncols=3, frameon=False, fontsize=9)


def draw_sample_trajectories(
    run: Run, *, where: str | None = None, same_axes: Iterable[Run] = (), note: str = ""
):
    """Draw the observation, every component of target and prediction, and the error; one column per sample.

    where      name of the test times; by default of the home grid.
    same_axes  runs whose figures get the same axes: the axes cover their values too.
    note       text below the panels.
    """
    where = str(run.home) if where is None else where
    samples, times, rows = _trajectories(run, where)
    components = len(rows) - 2
    colour, errors = appearances([run])[run.model].colour, run.errors
    relative = errors[errors["resolution"] == where].set_index("sample")["relative_l2"]
    figure, axes = new_figure(
        len(rows), 2, size=(8.6, 2.2 + 1.6 * components), sharex=True, sharey="row",
        height_ratios=[1] * (components + 1) + [0.8],
    )  # fmt: skip
    for column, (which, sample) in enumerate(zip(EXTREMES, samples, strict=True)):
        panels = axes[:, column]
        words = _error(relative.get(sample), "relative L² error ")
        title(panels[0], f"{which} (test sample {sample}): {words}")
        for observation in rows[0]:
            panels[0].plot(times, observation[column], color=BASELINE, lw=1.1)
        for panel, (target, prediction) in zip(panels[1:-1], rows[1:-1], strict=True):
            panel.plot(times, target[column], color=INK, lw=1.8, label="target")
            panel.plot(times, prediction[column], color=colour, lw=1.4, ls=DASHES, label="prediction")
        panels[-1].semilogy(times, rows[-1][0][column], color=colour, lw=1)
        panels[-1].set_xlabel("time")
        for panel in panels:
            grid_lines(panel)
    recovered = ["recovered"] if components == 1 else [f"recovered {1 + row}" for row in range(components)]
    for panel, name in zip(axes[:, 0], ["observed", *recovered, "largest |error|"], strict=True):
        panel.set_ylabel(name)
    if same_axes := list(same_axes):
        drawn = [rows, *(_trajectories(other, where)[2] for other in same_axes)]
        for panel, of_runs in zip(axes[:, 0], zip(*drawn, strict=True), strict=True):
            values = np.concatenate([np.ravel(arrays) for arrays in of_runs])
            values = values[np.isfinite(values)]
            low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
            margin = 0.05 * (high - low) or 1.0
            if values.size and panel is axes[-1, 0]:  # logarithmic
                panel.set_ylim(low / 1.5, high * 1.5)
            elif values.size:
                panel.set_ylim(low - margin, high + margin)
    _name_above(figure, axes[1, 0])
    if note:
        figure.supxlabel(note, fontsize=8.5, color=MUTED)
    return figure


def _trajectories(run: Run, where: str) -> tuple[list[int], np.ndarray, list[list[np.ndarray]]]:
    """Return samples, times, and the curves of each row of panels, (2, times) each.

    The rows are the observations, target and prediction of every component, and the largest error.
    """
    stored = condition(run.predictions, where, run.noise).sel(extreme=list(EXTREMES))
    inputs, target, prediction = (
        stored[f"extreme_{name}"].values for name in ("input", "target", "prediction")
    )
    largest = np.maximum(np.abs(prediction - target).max(axis=1), FLOOR)
    pairs = [[target[:, component], prediction[:, component]] for component in range(target.shape[1])]
    # Other inputs, such as initial values, are constants.
    observed = [values for values in np.moveaxis(inputs, 1, 0) if np.ptp(values, axis=-1).any()]
    rows = [observed or [inputs[:, 0]], *pairs, [largest]]
    return [int(sample) for sample in stored["extreme_sample"].values], stored["time"].values, rows


def draw_rollout(rollout: dict[str, np.ndarray]) -> Film:
    """Draw the shown sample of `rollout.npz` (`resolvent.evaluation.rollout`) as a film.

    The first frame is the initial vorticity. Truth and prediction share a colour scale for all times; their
    difference has its own. Predictions that are not finite, such as of a diverged run, are white.
    """
    initial, times = rollout["initial"][None], np.concatenate([[0.0], rollout["times"]])
    truth, predicted = (np.concatenate([initial, rollout[name]]) for name in ("target", "prediction"))
    difference, errors = predicted - truth, rollout["error"][int(rollout["sample"])]
    scale = float(np.quantile(np.abs(truth), 0.998)) or 1.0
    own = float(np.quantile(np.abs(difference[np.isfinite(difference)]), 0.998)) or scale
    figure, (panels,) = new_figure(1, 3, size=(8.4, 3.2))
    images, bounds = [], {"truth": scale, "prediction": scale, "difference": own}
    for panel, (heading, bound) in zip(panels, bounds.items(), strict=True):
        images.append(panel.imshow(truth[0], origin="lower", cmap="RdBu_r", vmin=-bound, vmax=bound))
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
        title(panel, heading)
    draw_colour_bar(figure, images[1], panels[:2], fraction=0.05, pad=0.02)
    draw_colour_bar(figure, images[2], panels[2], fraction=0.05, pad=0.02)

    def words_at(frame: int) -> str:
        if frame == 0:
            return "the initial vorticity, the input of the model"
        error = scientific(errors[frame - 1], 2) if np.isfinite(errors[frame - 1]) else "not finite"
        return f"time {times[frame]:.2f} after the initial vorticity, relative L² error {error}"

    clock = figure.suptitle(words_at(len(times) - 1), fontsize=10, x=0.01, ha="left")

    def change(frame: int) -> None:
        for image, fields in zip(images, (truth, predicted, difference), strict=True):
            image.set_data(np.ma.masked_invalid(fields[frame]))
        clock.set_text(words_at(frame))

    rate = max(FASTEST, Fraction(len(times)) / Fraction(LONGEST))
    return Film(figure, [*images, clock], change, frames=len(times), rate=rate, poster=len(times) - 1)


SAMPLES = Exhibit(
    "Test samples", "{shown}: {input}, {target}, prediction, and the pointwise error. {chosen}", draw
)
SAMPLES_OF_RUN = Exhibit(
    "Best, median and worst test sample",
    "Input, target, prediction and error, in physical units; hover for values. At most 512 points of a curve "
    "and 64 × 64 of a field are drawn (selected, not averaged), with four or more digits; errors were "
    "computed from the full data.",
    kind="samples",
)
SAMPLES_OF_RUNS = replace(SAMPLES_OF_RUN, title=f"{SAMPLES_OF_RUN.title} of a model", still=SAMPLES)
SPREAD_OF_RUN = Exhibit(
    "Error by point",
    "Root mean square error at each point over all test samples, divided by the root mean square of the "
    "targets.",
    kind="spread",
    only_if="has_map",
)
SPREAD_OF_RUNS = replace(SPREAD_OF_RUN, title=f"{SPREAD_OF_RUN.title}, for each model")
ROLLOUT = Exhibit(
    "Rollout of the trained step",
    "{model}, started from the initial vorticity of a test sample; each prediction is the next input. Left "
    "to right: the true flow, the prediction, and their difference on its own scale. The model was trained "
    "on single steps. The film is silent.",
    draw_rollout,
    kind="film",
    only_if="filmed",
)
