"""The median test sample and the worst: Figures 6, 8, 9, 12, 13, 16 and 18 of Calvello et al. 2024.

(arXiv:2406.06486, sections 6.1 and 6.2.) Errors of fields are on a logarithmic scale that both samples share;
all other scales are a sample's own.
"""

import numpy as np

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.fields import (
    draw_colour_bar,
    draw_field,
    log_scale_of,
    scale_of,
    symmetric_scale_of,
)
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import Run, Shown
from resolvent.figures.common.style import MUTED, new_figure, title
from resolvent.figures.experiment.samples import draw_sample_trajectories
from resolvent.figures.papers.calvello2024.chosen import Experiments, errors_in_words, first_with
from resolvent.figures.papers.calvello2024.reported import FIGURE_6, FIGURE_9, TABLE_3


def draw_on_training_grid(shown: Shown):
    """Draw Figure 6: trajectories at the times of training."""
    run = shown.run
    return draw_sample_trajectories(run, note="\n".join(errors_in_words(run, run.resolution, FIGURE_6)))


def draw_uneven_weighted(experiments: Experiments):
    """Draw Figure 8: at the uneven times of eq. 41, by attention with weights, on the axes of Figure 9."""
    return _draw_uneven(experiments, "trapezoid", "none")


def draw_uneven_unweighted(experiments: Experiments):
    """Draw Figure 9: the same by the attention without weights, on the axes of Figure 8."""
    return _draw_uneven(experiments, "none", "trapezoid")


def _draw_uneven(experiments: Experiments, *quadratures: str):
    run, other = (first_with(experiments, quadrature=one) for one in quadratures)
    where = two_rates(run)
    words = [f"{run.label}, trained at {run.resolution}, tested at {where}"]
    words += errors_in_words(run, where, FIGURE_9)
    return draw_sample_trajectories(run, where=where, beside=[other], note="\n".join(words))


def two_rates(run: Run) -> str:
    """Return the name of the times of eq. 41: equal steps, twice as long in the second half.

    Raises a ResultError when the run was not evaluated there.
    """
    tested = set(run.errors["resolution"])
    for name, times in run.record.dataset_settings.get("observations", {}).items():
        if times.get("kind") == "two_rates" and name in tested:
            return name
    raise ResultError(
        f"{run.directory} was not tested at times of kind two_rates: add them to the dataset's observations"
    )


def draw_answers(shown: Shown):
    """Draw Figures 12 and 13: input; truth and prediction on one scale; the absolute error."""
    u, truth, prediction = extreme_fields(shown.run)
    columns = {"input": u, "truth": truth, "prediction": prediction, "|error|": np.abs(prediction - truth)}
    return _draw(shown.run, columns, [scale_of(field) for field in u], [scale_of(field) for field in truth])


def draw_increments(shown: Shown):
    """Draw Figure 16: input, how much truth and prediction differ from it, and the absolute error."""
    return _draw_increments(shown.run)


def draw_smoothed_increments(experiments: Experiments):
    """Draw Figure 18: the same for the model whose last layer is (I - εΔ)^(-α)."""
    return _draw_increments(first_with(experiments, smoother="inverse_laplacian"))


def _draw_increments(run: Run):
    u, truth, prediction = extreme_fields(run)
    increments = np.abs(truth - u)
    columns = {
        "input": u,
        "|truth - input|": increments,
        "|prediction - input|": np.abs(prediction - u),
        "|error|": np.abs(prediction - truth),
    }
    scales = [scale_of(field) for field in increments]
    return _draw(run, columns, [symmetric_scale_of(field) for field in u], scales)


def extreme_fields(run: Run) -> list[np.ndarray]:
    """Return input, target and prediction at the training resolution, each (2, y, x)."""
    return [run.shown(f"extreme_{name}") for name in ("input", "target", "prediction")]


def _draw(run: Run, columns: dict[str, np.ndarray], of_input: list, of_answer: list):
    """Draw two rows of the four `columns`; scales of the first and of the next two by row."""
    figure, axes = new_figure(2, 4, size=(8.6, 5.0))
    of_error = log_scale_of(columns["|error|"])
    samples, errors = run.predictions_at()["extreme_sample"].values, run.shown_errors()
    for row, (panels, name) in enumerate(zip(axes, ("median", "worst"), strict=True)):
        fields = [column[row] for column in columns.values()]
        scales = [of_input[row], of_answer[row], of_answer[row], of_error]
        for panel, field, scale, words in zip(panels, fields, scales, columns, strict=True):
            image = draw_field(panel, field, scale)
            title(panel, words)
            if panel is not panels[1]:  # truth and prediction have one bar
                draw_colour_bar(figure, image, [panel], fraction=0.05, location="bottom")
            if not np.isfinite(field).any():
                place = {"ha": "center", "va": "center", "color": MUTED, "transform": panel.transAxes}
                panel.text(0.5, 0.5, "diverged", **place)
        relative = errors.get(int(samples[row]), np.nan)
        words = f"relative L² {scientific(relative)}" if np.isfinite(relative) else "diverged"
        panels[0].set_ylabel(f"{name}: sample {int(samples[row])}\n{words}")
    if lines := errors_in_words(run, run.resolution, TABLE_3):
        figure.supxlabel("\n".join(lines), fontsize=8.5, color=MUTED)
    return figure
