"""Test samples beside their predictions: curves of functions of one variable, images of functions of two."""

from collections.abc import Iterable
from pathlib import Path

from resolvent.figures.common.shown import choose_shown
from resolvent.figures.experiment.sample_curves import draw_sample_curves
from resolvent.figures.experiment.sample_fields import draw_sample_fields
from resolvent.figures.experiment.sample_trajectories import draw_sample_trajectories


def draw_samples(
    candidates: Iterable[str | Path],
    output: str | Path,
    named: bool = True,
    quantities: tuple[str, str] = ("input", "target"),
) -> list[Path]:
    """Draw the stored samples of the one run that is shown of the candidates, as it was trained.

    candidates, named  as `resolvent.figures.common.shown.choose_shown` takes them.
    quantities         what the input and the target are called.
    """
    run = choose_shown(candidates, named).run
    if isinstance(run.resolution, str):
        return draw_sample_trajectories(run.directory, output)
    stored = run.predictions_at()
    draw = draw_sample_fields if "y" in stored.coords else draw_sample_curves
    return draw(run.directory, output, quantities)
