"""Common style of the figures: colours of models, axes, and reproducible files.

Colours follow Okabe and Ito (2008), some darkened to be legible as text on white; they are distinguishable
with common forms of colour blindness. The colour is the kind of model; dashes and open markers mean a regular
layer norm; grey is a baseline. Figures use matplotlib's object interface, without global state or a display.
"""

import re
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.common.files import write_atomically
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.numbers import scientific
from resolvent.figures.common.results import Run

INK = "#22272e"
MUTED = "#6b7280"
GRID = "#e5e7eb"
BASELINE = "#7d8590"
ATTENTIONS = {  # colour and marker; other models use their architecture's `look` in run.json
    "galerkin": ("#0072b2", "o"),
    "fourier": ("#d55e00", "s"),
    "linear": ("#00805e", "^"),
    "softmax": ("#b0418a", "D"),
}
COLOURS = (*(colour for colour, _ in ATTENTIONS.values()), "#a87000")  # accepted in a `look`
SPARE = ("#7a5230", "#4b4fb5", "#3d434b", "#8a8f00", "#c2185b", "#00838f")
PLAIN: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#9aa1ab",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.solid_capstyle": "round",
    "svg.hashsalt": "resolvent",  # element names would otherwise be random
    "svg.fonttype": "path",
    "pdf.fonttype": 42,  # TrueType: journals refuse Type 3
}
DARK = {  # colours on a dark page by colour on white
    "#ffffff": "#14171b",  # background
    "#22272e": "#e2e6eb",  # text and targets
    "#000000": "#e2e6eb",  # text without a set colour
    "#6b7280": "#9ba5b1",  # less important text
    "#7d8590": "#a3adb8",  # baselines
    "#e5e7eb": "#313841",  # grid lines
    "#9aa1ab": "#5b6570",  # axes
    "#0072b2": "#5cb3ea",
    "#d55e00": "#ff8a3d",
    "#00805e": "#3cc29a",
    "#b0418a": "#e58cc6",
    "#a87000": "#e0ab3f",
    "#7a5230": "#c99b73",
    "#4b4fb5": "#9aa0f0",
    "#3d434b": "#b9c1cb",
    "#8a8f00": "#c6cc4a",
    "#c2185b": "#ff7aa8",
    "#00838f": "#4fc4cf",
}
COLOUR = re.compile(r"#[0-9a-f]{6}")
# Metadata by file format, without times and versions, so equal figures give equal bytes.
FORMATS: dict[str, dict[str, Any]] = {
    ".svg": {"metadata": {"Date": None, "Creator": None}},
    ".png": {"metadata": {"Software": None}, "dpi": 200},
    ".pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
}


@dataclass(frozen=True)
class Appearance:
    """Appearance of a model in all figures."""

    colour: str
    marker: str
    dashes: str | tuple
    filled: bool

    def marks(self) -> dict:
        face = self.colour if self.filled else "white"
        colours = {"color": self.colour, "markerfacecolor": face, "markeredgecolor": self.colour}
        return {"marker": self.marker, **colours}


def appearances(runs: Iterable[Run]) -> dict[str, Appearance]:
    """Choose the appearance of each model, from its attention or architecture, else the next spare colour."""
    records = {run.model: run.record for run in runs}
    chosen: dict[str, Appearance] = {}
    spare = cycle(SPARE)
    for model in sorted(records):
        settings = records[model].settings
        regular = settings.get("layer_norm") == "regular"
        colour, marker = ATTENTIONS.get(str(settings.get("attention"))) or records[model].look or (None, "X")
        look = Appearance(colour or next(spare), marker, (0, (4, 1.6)) if regular else "-", not regular)
        if look in chosen.values():  # a second variant of a kind: another colour, the same marker
            look = Appearance(next(spare), marker, look.dashes, look.filled)
        chosen[model] = look
    return chosen


def new_figure(rows: int, columns: int, *, size: tuple[float, float], **options):
    """Return a figure and its axes as an array (rows, columns), always two-dimensional."""
    with _plain_figure(size) as figure:
        return figure, figure.subplots(rows, columns, squeeze=False, **options)


def new_stack(*bands: dict, size: tuple[float, float]):
    """Return a figure of bands, one below the other, and their axes: a list of arrays (rows, columns).

    A band has `height` (its share of the figure), `nrows`, `ncols`, and optionally `width_ratios` and
    `height_ratios`.
    """
    with _plain_figure(size) as figure:
        places = figure.add_gridspec(len(bands), 1, height_ratios=[band["height"] for band in bands])
        shapes = [{name: value for name, value in band.items() if name != "height"} for band in bands]
        grids = [place.subgridspec(**shape) for place, shape in zip(places, shapes, strict=True)]
        return figure, [grid.subplots(squeeze=False) for grid in grids]


@contextmanager
def _plain_figure(size: tuple[float, float]):
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(PLAIN):
        figure = Figure(figsize=size, layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        yield figure


def save(figure, output: str | Path) -> list[Path]:
    """Write `output` as SVG that adapts to dark pages, PNG and PDF. Equal data give equal bytes."""
    import matplotlib

    output = Path(output)
    if output.suffix not in FORMATS:
        raise ResultError(f"{output} must end in {', '.join(FORMATS)}; files of all formats are written")

    def write(temporary: Path, suffix: str) -> None:
        figure.savefig(temporary, format=suffix[1:], **FORMATS[suffix])
        if suffix == ".svg":
            temporary.write_text(with_dark_colours(temporary.read_text(encoding="utf-8")), encoding="utf-8")

    written = [output.with_suffix(suffix) for suffix in FORMATS]
    with matplotlib.rc_context(PLAIN):
        lay_out(figure)
        figure.set_layout_engine(None)  # not "none": savefig would draw again
        # The last bits of the layout solver's results vary, and names of clips in an SVG depend on them.
        for axes in figure.axes:
            axes.set_position([round(float(bound), 6) for bound in axes.get_position(original=True).bounds])
        for path in written:
            write_atomically(path, partial(write, suffix=path.suffix))
    return written


def dark_colours(text: str) -> dict[str, str]:
    """Return the dark colour of each colour of `DARK` that occurs in `text`."""
    found = set(COLOUR.findall(text.lower()))
    return {light: dark for light, dark in DARK.items() if light in found}


def with_dark_colours(svg: str) -> str:
    """Return matplotlib's SVG with an additional style for dark pages.

    Matplotlib writes the colours of each element to its attribute `style`, where selectors match them.
    """
    colours = dark_colours(svg)
    rules = "".join(f"--{light[1:]}:{dark};" for light, dark in colours.items())
    # Matplotlib omits the colour of black elements.
    lines = [f":root{{{rules}fill:{DARK['#000000']}}}"]
    for light in colours:
        for part in ("fill", "stroke"):
            lines.append(f'[style*="{part}: {light}"]{{{part}:var(--{light[1:]})!important}}')
    style = "<style>@media screen and (prefers-color-scheme:dark){" + "\n".join(lines) + "}</style>\n"
    return svg.replace("<defs>", f"{style}<defs>", 1)


def lay_out(figure) -> None:
    """Apply the layout to the axes of a figure."""
    figure.get_layout_engine().execute(figure)


def grid_lines(axes, axis: str = "y") -> None:
    axes.grid(True, axis=axis, which="major")


def resolution_axis(axes, resolutions: Iterable[int | str]) -> dict[int | str, float]:
    """Set an axis with ticks at exactly these resolutions; return their positions.

    Numbers of points are on a logarithmic scale, names of sets of times are evenly spaced.
    """
    resolutions = sorted(set(resolutions))
    if any(isinstance(resolution, str) for resolution in resolutions):
        places = {resolution: float(place) for place, resolution in enumerate(resolutions)}
        axes.set_xlim(-0.5, len(places) - 0.5)
    else:
        places = {resolution: float(resolution) for resolution in resolutions}
        axes.set_xscale("log", base=2)
        if len(resolutions) == 1:
            (only,) = places.values()
            axes.set_xlim(only / 1.5, only * 1.5)
    axes.set_xticks(list(places.values()), [str(resolution) for resolution in places])
    return places


def error_limits(axes, values: Iterable[float], *, margin: float, axis: str = "y") -> tuple[float, float]:
    """Set a logarithmic axis around the models' errors; distant baselines are named at its edge instead."""
    from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullLocator

    values = np.array([value for value in values if np.isfinite(value) and value > 0])
    low, high = (values.min() / margin, values.max() * margin) if values.size else (1e-4, 1)
    axes.set(**{f"{axis}scale": "log", f"{axis}lim": (low, high)})
    if high / low < 300:
        scale = getattr(axes, f"{axis}axis")
        scale.set_major_locator(LogLocator(subs=(1, 2, 5)))
        scale.set_minor_locator(NullLocator())
        scale.set_major_formatter(LogFormatterSciNotation(minor_thresholds=(np.inf, np.inf)))
    return low, high


def name_all(figure, artists: Iterable[Any], *, place: str) -> None:
    """Add a legend of labelled artists, "upper" or "lower", in up to three columns; enlarge the figure."""
    if not (handles := list(artists)):
        return
    for columns in (3, 2, 1):
        legend = figure.legend(
            handles=handles, loc=f"outside {place} center", ncols=columns, frameon=False,
            fontsize=8.5,
        )  # fmt: skip
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()
    figure.set_figheight(figure.get_figheight() + legend.get_window_extent().height / figure.dpi)


def title(axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=9.5, fontweight="bold")


def say_no_errors(axes) -> None:
    message = "every run diverged: there are no errors to show"
    axes.text(0.5, 0.5, message, transform=axes.transAxes, ha="center", va="center", color=MUTED, fontsize=9)


def name_diverged(axes, labels: list[str]) -> None:
    """List the models without a line at the bottom of a panel."""
    if labels:
        message = "diverged: " + "; ".join(labels)
        axes.text(0.01, 0.03, message, transform=axes.transAxes, color=MUTED, fontsize=8)


def name_outside(axes, outside: list[tuple[str, float]]) -> None:
    """List the baselines (label, error) above and below the scale at the top and bottom of a panel."""
    low, high = axes.get_ylim()
    above = [f"↑ {label}: {scientific(error, 2)}" for label, error in outside if error > high]
    below = [f"↓ {label}: {scientific(error, 2)}" for label, error in outside if error < low]
    look = {"transform": axes.transAxes, "color": MUTED, "fontsize": 8}
    for names, y, place in ((above, 0.98, "top"), (below, 0.02, "bottom")):
        if names:
            axes.text(0.01, y, "\n".join(names), va=place, **look).set_in_layout(False)
