"""Trajectories recovered from another: Figures 6, 8 and 9 of Calvello et al. 2024 (arXiv:2406.06486, 6.1)."""

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.results import Run
from resolvent.figures.common.shown import Shown
from resolvent.figures.experiment.samples import draw_sample_trajectories
from resolvent.figures.papers.calvello2024.chosen import first_with, reported_words, standardised_words
from resolvent.figures.papers.calvello2024.reported import FIGURE_6, FIGURE_9


def draw_on_training_grid(shown: Shown):
    """Draw Figure 6: the median test sample and the worst, at the times of training."""
    run = shown.run
    words = [standardised_words(run, run.resolution), reported_words(run, run.resolution, FIGURE_6)]
    return draw_sample_trajectories(run, note="\n".join(filter(None, words)))


def draw_uneven_weighted(experiments: list[list[Run]]):
    """Draw Figure 8: at the uneven times of eq. 41, by the attention with quadrature weights.

    Its axes are those of `draw_uneven_unweighted`.
    """
    return _draw_uneven(experiments, "trapezoid")


def draw_uneven_unweighted(experiments: list[list[Run]]):
    """Draw Figure 9: the same by the attention without weights, the transformer of Vaswani et al. (2017)."""
    return _draw_uneven(experiments, "none")


def _draw_uneven(experiments: list[list[Run]], quadrature: str):
    both = {one: first_with(experiments, quadrature=one) for one in ("trapezoid", "none")}
    run = both.pop(quadrature)
    where = two_rates(run)
    words = [f"{run.label}, trained at {run.resolution}, tested at {where}"]
    words += [standardised_words(run, where), reported_words(run, where, FIGURE_9)]
    return draw_sample_trajectories(
        run,
        where=where,
        beside=both.values(),
        note="\n".join(filter(None, words)),
    )


def two_rates(run: Run) -> str:
    """Return the name of the times of eq. 41: equal steps, twice as long in the second half.

    Raises
    ------
    ResultError
        When the run was not evaluated there.
    """
    observations = run.record.dataset_settings.get("observations", {})
    tested = set(run.errors["resolution"])
    for name, times in observations.items():
        if times.get("kind") == "two_rates" and name in tested:
            return name
    raise ResultError(
        f"{run.directory} was not tested at times of kind two_rates: add them to the dataset's observations"
    )
