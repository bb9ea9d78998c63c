"""The median test sample and the worst, on the square: Figures 12, 13, 16 and 18 of Calvello et al. 2024.

(arXiv:2406.06486, section 6.2.) Errors are on a logarithmic scale that both samples share; all other scales
are a sample's own.
"""

import numpy as np

from resolvent.figures.common.fields import (
    draw_colour_bar,
    draw_field,
    log_scale_of,
    scale_of,
    symmetric_scale_of,
)
from resolvent.figures.common.results import Run, Shown
from resolvent.figures.common.style import MUTED, new_figure, title
from resolvent.figures.papers.calvello2024.chosen import first_with, reported_words, standardised_words
from resolvent.figures.papers.calvello2024.reported import TABLE_3

ROWS = ("median", "worst")
NAMES = ("input", "target", "prediction")


def draw_answers(shown: Shown):
    """Draw Figures 12 and 13: input; truth and prediction on one scale; the absolute error."""
    run = shown.run
    u, truth, prediction = extreme_fields(run)
    columns = {"input": u, "truth": truth, "prediction": prediction, "|error|": np.abs(prediction - truth)}
    return _draw(run, columns, [scale_of(field) for field in u], [scale_of(field) for field in truth])


def draw_increments(shown: Shown):
    """Draw Figure 16: input, how much truth and prediction differ from it, and the absolute error.

    Both differences of a sample are on the scale of the true one.
    """
    return _draw_increments(shown.run)


def draw_smoothed_increments(experiments: list[list[Run]]):
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
    return [run.shown(f"extreme_{name}") for name in NAMES]


def _draw(run: Run, columns: dict[str, np.ndarray], of_input: list, of_answer: list):
    """Draw two rows of the four `columns`; scales of the first and of the next two by row."""
    figure, axes = new_figure(2, 4, size=(8.6, 5.0))
    of_error = log_scale_of(columns["|error|"])
    samples = run.predictions_at()["extreme_sample"].values
    for row, panels in enumerate(axes):
        fields = [column[row] for column in columns.values()]
        scales = [of_input[row], of_answer[row], of_answer[row], of_error]
        for panel, field, scale, words in zip(panels, fields, scales, columns, strict=True):
            image = draw_field(panel, field, scale)
            title(panel, words)
            if panel is not panels[1]:  # truth and prediction have one bar
                draw_colour_bar(figure, image, [panel], fraction=0.05, location="bottom")
            if not np.isfinite(field).any():
                words = {"ha": "center", "va": "center", "color": MUTED, "transform": panel.transAxes}
                panel.text(0.5, 0.5, "diverged", **words)
        panels[0].set_ylabel(_heading(run, row, int(samples[row])))
    words = [standardised_words(run, run.resolution), reported_words(run, run.resolution, TABLE_3)]
    if any(words):
        figure.supxlabel("\n".join(filter(None, words)), fontsize=8.5, color=MUTED)
    return figure


def _heading(run: Run, row: int, sample: int) -> str:
    relative = run.shown_errors().get(sample, np.nan)
    words = f"relative L² {relative:.2e}" if np.isfinite(relative) else "diverged"
    return f"{ROWS[row]}: sample {sample}\n{words}"
