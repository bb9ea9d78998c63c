"""Test samples beside their predictions: curves of functions of one variable, images of functions of two."""

from collections.abc import Iterable
from pathlib import Path

from resolvent.figures.common.shown import choose_shown
from resolvent.figures.experiment.sample_curves import draw_sample_curves
from resolvent.figures.experiment.sample_fields import draw_sample_fields
from resolvent.figures.experiment.sample_trajectories import draw_sample_trajectories


def draw_samples(candidates: Iterable[str | Path], output: str | Path) -> list[Path]:
    """Draw the stored samples of the one run that is shown of the candidates, as it was trained.

    candidates  run folders, as `resolvent.figures.common.shown.choose_shown` takes them.
    """
    run = choose_shown(candidates).run
    if isinstance(run.resolution, str):
        return draw_sample_trajectories(run.directory, output)
    fields = run.shown("target").ndim == 3  # (samples, y, x)
    return (draw_sample_fields if fields else draw_sample_curves)(run.directory, output)
