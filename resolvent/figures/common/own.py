"""What a figure of a user's own is, which an experiment names as `module:name`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resolvent.figures.common.results import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class OwnFigure:
    """A figure on the page of an experiment.

    Attributes
    ----------
    title
        Heading on the page.
    caption
        What it shows.
    draw
        From the runs of the experiment to a matplotlib Figure, such as `style.new_figure` begins.
    """

    title: str
    caption: str
    draw: Callable[[list[Run]], Figure]
