"""Test samples beside their predictions: curves of functions of one variable, images of functions of two."""

from pathlib import Path

from resolvent.figures.common.results import read_runs
from resolvent.figures.experiment.sample_curves import draw_sample_curves
from resolvent.figures.experiment.sample_fields import draw_sample_fields
from resolvent.figures.experiment.sample_trajectories import draw_sample_trajectories


def draw_samples(run: str | Path, output: str | Path) -> list[Path]:
    """The stored samples of one run as it was trained, by what is stored."""
    (one,) = read_runs([run])
    if isinstance(one.resolution, str):
        return draw_sample_trajectories(run, output)
    fields = one.shown("target").ndim == 3  # (samples, y, x)
    return (draw_sample_fields if fields else draw_sample_curves)(run, output)
