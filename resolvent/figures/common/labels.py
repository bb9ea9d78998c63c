"""Direct labels: names next to lines and points, instead of a legend."""

from itertools import product

import numpy as np

from resolvent.figures.common.style import lay_out

OFFSETS = [  # in points, with the alignment of the text, in order of preference
    ((1, 0), "left", "center"), ((0, 1), "center", "bottom"), ((0, -1), "center", "top"),
    ((-1, 0), "right", "center"), ((1, 1), "left", "bottom"), ((1, -1), "left", "top"),
    ((-1, 1), "right", "bottom"), ((-1, -1), "right", "top"),
]  # fmt: skip


def shortened(name: str, longest: int = 32) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def label_right(axes, labels: list[tuple[float, str, str]], *, size: float = 8.5) -> None:
    """Write (y, text, colour) to the right of the axes, or at their nearer end, without overlaps."""
    if not labels:
        return
    lay_out(axes.get_figure(root=True))  # before positions are read
    to_axes = axes.transData + axes.transAxes.inverted()
    x_left = axes.get_xlim()[0]
    labels = sorted(labels, key=lambda label: label[0])
    wanted = np.clip([to_axes.transform((x_left, y))[1] for y, _, _ in labels], 0, 1)
    height = axes.get_window_extent().height * 72 / axes.figure.dpi
    placed = spread(wanted, 1.3 * size / height)
    for (_, text, colour), want, y in zip(labels, wanted, placed, strict=True):
        line = {"arrowstyle": "-", "color": colour, "lw": 0.6, "alpha": 0.7, "relpos": (0, 0.5)}
        axes.annotate(
            text, xy=(1.0, want), xytext=(1.035, y), xycoords="axes fraction", textcoords="axes fraction",
            color=colour, fontsize=size, va="center", annotation_clip=False,
            arrowprops={**line, "shrinkA": 1, "shrinkB": 0},
        )  # fmt: skip


def label_points(
    axes, labels: list[tuple[float, float, str, str]], *, away: float, size: float = 8.5
) -> None:
    """Write (x, y, text, colour) `away` typographic points from each point, without overlaps if possible."""
    figure = axes.get_figure(root=True)
    lay_out(figure)
    renderer = figure.canvas.get_renderer()
    pixel = figure.dpi / 72
    taken = []
    for x, y, _, _ in labels:
        centre = axes.transData.transform((x, y))
        taken.append((*(centre - 0.7 * away * pixel), *(centre + 0.7 * away * pixel)))
    inside = axes.get_window_extent(renderer).extents
    for x, y, text, colour in labels:
        tried = []  # clash, note and box
        for distance, ((right, up), horizontal, vertical) in product((away, 2 * away), OFFSETS):
            note = axes.annotate(
                text, (x, y), xytext=(distance * right, distance * up), textcoords="offset points",
                ha=horizontal, va=vertical, color=colour, fontsize=size,
            )  # fmt: skip
            note.set_in_layout(False)
            box = note.get_window_extent(renderer).extents
            outside = _overlap(box, box) - _overlap(box, inside)
            tried.append((sum(_overlap(box, other) for other in taken) + 2 * outside, note, box))
            if tried[-1][0] == 0:
                break
        tried.sort(key=lambda attempt: attempt[0])
        taken.append(tuple(tried[0][2]))
        for _, note, _ in tried[1:]:
            note.remove()


def spread(wanted: np.ndarray, gap: float) -> np.ndarray:
    """Return positions near the ascending `wanted` ones, at least `gap` apart; clusters keep their mean."""

    def places(cluster: list[float]) -> np.ndarray:
        return np.mean(cluster) + gap * (np.arange(len(cluster)) - (len(cluster) - 1) / 2)

    clusters: list[list[float]] = []
    for value in wanted:
        clusters.append([float(value)])
        while len(clusters) > 1 and places(clusters[-1])[0] < places(clusters[-2])[-1] + gap:
            last = clusters.pop()
            clusters[-1] += last
    return np.concatenate([places(cluster) for cluster in clusters])


def _overlap(box, other) -> float:
    """Return the area shared by two boxes (left, bottom, right, top)."""
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    return max(0.0, width) * max(0.0, height)
