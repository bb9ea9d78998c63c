"""Figures of stored samples: images of fields, curves of signals and, for Darcy flow, the flux."""

import numpy as np

from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.fields import LONGEST_SIDE, draw_colour_bar, draw_field
from resolvent.figures.common.style import MUTED, grid_lines, new_figure, title
from resolvent.figures.dataset.preview import DatasetPreview

MOST_POINTS, MOST_SIDE = 512, 72  # of a curve and per side of a field in the chart
SHORT = np.float32  # precise enough for a chart, in half the bytes
PANEL = 0.94  # fraction of a chart's column; the rest separates panels


def draw(dataset: DatasetPreview):
    """Draw stored samples: fields with a row per variable and a column per sample, curves in a panel each."""
    functions, samples = dataset.functions, dataset.samples
    if len(functions[0].dims) == 2:
        figure, axes = new_figure(len(functions), len(samples), size=(8.6, 0.4 + 2.05 * len(functions)))
        for variable, row in zip(functions, axes, strict=True):
            scale = colours_of(variable.samples)
            for panel, field in zip(row, variable.samples, strict=True):
                image = draw_field(panel, field, scale, [variable.axes[dim] for dim in variable.dims])
            row[0].set_ylabel(variable.label, color=variable.colour, fontsize=8)
            draw_colour_bar(figure, image, row)
        for panel, sample in zip(axes[0], samples, strict=True):
            title(panel, sample)
        return figure
    columns = min(2, len(samples))
    rows = -(-len(samples) // columns)
    figure, axes = new_figure(rows, columns, size=(8.6, 0.6 + 2.2 * rows), sharex=True, sharey=True)
    for index, (panel, sample) in enumerate(zip(axes.flat, samples, strict=False)):
        for variable in functions:
            x, width = variable.axes[variable.dims[0]], 1.0 if variable.role == "input" else 1.6
            panel.plot(x, variable.samples[index], color=variable.colour, lw=width, label=variable.label)
        title(panel, sample)
        grid_lines(panel)
    for unused in axes.flat[len(samples) :]:
        unused.set_axis_off()
    for panel in axes[-1]:
        panel.set_xlabel(functions[0].dims[0])
    keys = axes[0, 0].get_legend_handles_labels()
    figure.legend(*keys, loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    return figure


def chart(dataset: DatasetPreview):
    """Chart one sample at a time, selected by a slider: fields side by side, curves in one panel."""
    from plotly.graph_objects import Figure
    from plotly.subplots import make_subplots

    functions, samples = dataset.functions, range(len(dataset.samples))
    columns, on_plane = len(functions), len(functions[0].dims) == 2
    if on_plane:
        figure = make_subplots(1, columns)
        for number, axis in enumerate(["", *map(str, range(2, columns + 1))]):
            domain = [number / columns, (number + PANEL) / columns]
            figure.layout[f"xaxis{axis}"].update(domain=domain, constrain="domain", visible=False)
            y, x = (np.ptp(functions[number].axes[dim]) for dim in functions[number].dims)
            figure.layout[f"yaxis{axis}"].update(
                scaleanchor=f"x{axis}" if 1 / LONGEST_SIDE <= y / x <= LONGEST_SIDE else None,
                constrain="domain", constraintoward="top", visible=False,
            )  # fmt: skip
        # For page.js: the height without fields; several samples have a slider.
        room = {"columns": columns, "above": 250 if len(samples) > 1 else 150}
        margin = {"t": 90, "l": 20, "r": 20, "b": 20}
        figure.update_layout(height=250 + 640 // columns, meta=room, margin=margin)
    else:
        figure = Figure()
        figure.update_xaxes(title=functions[0].dims[0])
        legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom"}
        figure.update_layout(height=460, legend=legend, margin={"t": 80, "l": 10, "r": 10})
    for sample in samples:
        for number, function in enumerate(functions):
            values, *axes = function.samples[sample], *(function.axes[dim] for dim in function.dims)
            stride = -(-max(values.shape) // (MOST_SIDE if on_plane else MOST_POINTS))
            *y, x = (axis[::stride].astype(SHORT) for axis in axes)
            if not on_plane:
                figure.add_scatter(
                    x=x, y=values[::stride].astype(SHORT), mode="lines", name=function.label,
                    line={"color": function.colour}, visible=sample == 0,
                    hovertemplate=f"{function.dims[0]} %{{x:.4g}}<br>"
                    f"{function.name} %{{y:.4g}}<extra></extra>",
                )  # fmt: skip
                continue
            scale, middle = colours_of(function.samples), (number + PANEL / 2) / columns
            name = function.label.replace(": ", ":<br>", 1)
            bar = {  # the colour bar is on top
                "orientation": "h", "x": middle, "y": 1, "yanchor": "bottom", "thickness": 10, "ypad": 6,
                "len": PANEL / columns, "title": {"text": name, "side": "top"}, "nticks": 4,
            }  # fmt: skip
            figure.add_heatmap(
                x=x, y=y[0], z=values[::stride, ::stride].astype(SHORT), row=1, col=number + 1,
                zmin=scale["vmin"], zmax=scale["vmax"], visible=sample == 0, colorbar=bar,
                colorscale="RdBu_r" if scale["cmap"] == "RdBu_r" else "Viridis",
                hovertemplate="x %{x:.3f}, y %{y:.3f}<br>%{z:.4g}<extra></extra>",
            )  # fmt: skip
    shown = np.repeat(np.arange(len(samples)), columns)  # the sample of each trace
    steps = [
        {"label": label, "method": "restyle", "args": [{"visible": (shown == sample).tolist()}]}
        for sample, label in enumerate(dataset.samples)
    ]
    slider = {"steps": steps, "currentvalue": {"prefix": "sample: "}, "pad": {"t": 50}, "bgcolor": MUTED}
    figure.update_layout(sliders=[slider])
    return figure


def colours_of(values: np.ndarray) -> dict:
    """Return a colour scale: blue to red about zero for quantities of both signs, else dark to light."""
    low, high = float(values.min()), float(values.max())
    if low < 0 < high:
        bound = float(np.quantile(np.abs(values), 0.998)) or max(-low, high)
        return {"cmap": "RdBu_r", "vmin": -bound, "vmax": bound}
    top = float(np.quantile(values, 0.998))
    return {"cmap": "viridis", "vmin": low, "vmax": top if low < top else high}


def draw_flux(dataset: DatasetPreview):
    """Draw coefficient, pressure and speed of the first sample, with streamlines of the flux."""
    shown = {variable.name: variable for variable in dataset.functions}
    coefficient, pressure = (shown[name].samples[0].astype(float) for name in ("coefficient", "pressure"))
    if coefficient.shape != pressure.shape:
        raise ResultError(f"{dataset.card['dataset']}: coefficient and pressure are on different grids")
    x, y = (shown["pressure"].axes[dim] for dim in ("x", "y"))
    mean = dataset.card["settings"]["face_mean"]
    along_x = _along_rows(coefficient, pressure, x, mean)
    flux = np.stack([along_x, _along_rows(coefficient.T, pressure.T, y, mean).T])
    fields = {"permeability a": coefficient, "pressure p": pressure, "flux |a∇p|": np.hypot(*flux)}
    figure, (panels,) = new_figure(1, 3, size=(8.6, 2.9))
    for panel, (heading, field) in zip(panels, fields.items(), strict=True):
        extent = (x[0], x[-1], y[0], y[-1])
        image = panel.imshow(field, origin="lower", extent=extent, **colours_of(field))
        draw_colour_bar(figure, image, panel, fraction=0.046, pad=0.02)
        panel.set(xticks=[], yticks=[])
        panel.spines[:].set_visible(False)
        title(panel, heading)
    stride = max(1, len(x) // 100)
    evenly = [np.linspace(axis[::stride][0], axis[::stride][-1], len(axis[::stride])) for axis in (x, y)]
    lines = {"color": "white", "linewidth": 0.6, "arrowsize": 0.6, "density": 0.9}
    panels[2].streamplot(*evenly, *flux[:, ::stride, ::stride], **lines)
    panels[2].set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    return figure


def _along_rows(coefficient: np.ndarray, pressure: np.ndarray, x: np.ndarray, mean: str) -> np.ndarray:
    """Return -a ∂p along the last axis, computed on the faces as in the solver and averaged to the points."""
    left, right = coefficient[:, :-1], coefficient[:, 1:]
    face = (left + right) / 2 if mean == "arithmetic" else 2 * left * right / (left + right)
    flux = -face * np.diff(pressure, axis=1) / np.diff(x)
    return np.concatenate([flux[:, :1], (flux[:, :-1] + flux[:, 1:]) / 2, flux[:, -1:]], axis=1)


GALLERY = Exhibit("Inputs and targets", "Stored samples of the operator's input and target.", draw, chart)
FLUX = Exhibit(
    "Flow in a sample",
    "The first sample of the gallery: permeability, pressure, and the magnitude of the flux -a∇p with its "
    "streamlines. Fluid enters everywhere in the square at the same rate, flows through the permeable "
    "material and leaves at the boundary.",
    draw_flux,
    only_if="shows_flux",
)
