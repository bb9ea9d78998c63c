"""The film on a dataset's page: one sample in time, as a curve, a field or a path in phase space."""

from fractions import Fraction

import numpy as np

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.film import Film
from resolvent.figures.common.style import GRID, INK, MUTED, grid_lines, new_figure

FRAMES = 100
COLOUR, POINT = "#0072b2", "#d55e00"


def draw(motion: dict[str, np.ndarray]) -> Film:
    """Draw the time steps written by `resolvent.datasets.preview`.

    The function for each kind returns the panel with the time, the moving artists, and the function that
    moves them to a time step.
    """
    times, draw_kind = motion["times"], {"curve": _curve, "field": _field, "path": _path}[str(motion["kind"])]
    names = [str(name) for name in motion["names"]]
    panel, moving, change = draw_kind(times, motion["values"], motion["coordinates"], names)
    moments = np.linspace(0, len(times) - 1, min(FRAMES, len(times))).round().astype(int)
    # With the longest text, so the layout does not change.
    clock = panel.set_title(f"time {times[-1]:.2f}", fontsize=10, color=INK, loc="left")

    def to_frame(frame: int) -> None:
        change(moments[frame])
        clock.set_text(f"time {times[moments[frame]]:.2f}")

    figure = panel.get_figure(root=True)
    return Film(figure, [*moving, clock], to_frame, len(moments), Fraction(25), poster=len(moments) - 1)


def _curve(times: np.ndarray, values: np.ndarray, positions: np.ndarray, names: list[str]):
    _, ((panel,),) = new_figure(1, 1, size=(5.6, 3.5))
    panel.plot(positions, values[0], color=MUTED, lw=1.2, label="at time 0")
    (line,) = panel.plot(positions, values[0], color=COLOUR, lw=1.8)
    span = np.ptp(values) or 1.0
    panel.set_ylim(values.min() - 0.06 * span, values.max() + 0.06 * span)
    panel.set_xlim(positions[0], positions[-1])
    panel.set(xlabel="x", ylabel=names[0])
    panel.legend(frameon=False, fontsize=8, loc="lower right")
    grid_lines(panel)
    return panel, [line], lambda moment: line.set_ydata(values[moment])


def _field(times: np.ndarray, values: np.ndarray, positions: np.ndarray, names: list[str]):
    figure, ((panel,),) = new_figure(1, 1, size=(4.6, 4.2))
    bound = float(np.quantile(np.abs(values), 0.998)) or 1.0
    image = panel.imshow(values[0], origin="lower", cmap="RdBu_r", vmin=-bound, vmax=bound)
    panel.set(xticks=[], yticks=[], xlabel="x", ylabel="y")
    panel.spines[:].set_visible(False)
    figure.colorbar(image, ax=panel, fraction=0.046, pad=0.02, label=names[0]).outline.set_visible(False)
    return panel, [image], lambda moment: image.set_data(values[moment])


def _path(times: np.ndarray, values: np.ndarray, positions: np.ndarray, names: list[str]):
    """Draw a point on its path in the plane with a trail, and both coordinates up to the time."""
    figure, axes = new_figure(2, 2, size=(6.4, 3.6), width_ratios=(1.35, 1))
    plane = figure.add_subplot(axes[0, 0].get_gridspec()[:, 0])
    plane.spines[["top", "right"]].set_visible(False)
    for unused in axes[:, 0]:
        unused.remove()
    plane.plot(*values.T, color=GRID, lw=0.8)
    (trail,) = plane.plot([], [], color=COLOUR, lw=1.8)
    (point,) = plane.plot([], [], "o", color=POINT, ms=7, zorder=3)
    plane.set(xlabel=names[0], ylabel=names[1])
    lines = []
    for panel, name, column in zip(axes[:, 1], names, values.T, strict=True):
        panel.plot(times, column, color=GRID, lw=0.8)
        lines += panel.plot([], [], color=INK, lw=1.2)
        panel.set_ylabel(name)
        panel.set_xlim(times[0], times[-1])
    axes[0, 1].tick_params(labelbottom=False)
    axes[1, 1].set_xlabel("time")
    length = max(2, round(len(times) / 4))  # length of the highlighted trail behind the point

    def change(moment: int) -> None:
        trail.set_data(*values[max(0, moment - length) : moment + 1].T)
        point.set_data(*values[moment : moment + 1].T)
        for line, column in zip(lines, values.T, strict=True):
            line.set_data(times[: moment + 1], column[: moment + 1])

    return plane, [*lines, trail, point], change


FILM = Exhibit(
    "A sample in time",
    "{film_caption} Four seconds; the film is silent.",
    draw,
    kind="film",
    only_if="motion_file",
)
