"""Figures follow a dark page, and nothing else changes."""

import re

import pytest

from resolvent.figures.common import style
from resolvent.figures.common.style import DARK, dark_colours, with_dark_colours


def luminance(colour):
    """Return the relative luminance of WCAG 2.2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_colour_of_figures_has_one_for_dark_pages_that_can_be_read():
    text = {style.INK, style.MUTED, style.BASELINE, *style.SPARE, *style.COLOURS}
    assert {*text, style.GRID, style.PLAIN["axes.edgecolor"], "#ffffff", "#000000"} == set(DARK)
    ground = luminance(DARK["#ffffff"])
    assert min(luminance(DARK[colour]) + 0.05 for colour in text) > 4.5 * (ground + 0.05)


@pytest.mark.every_format
def test_an_svg_has_dark_colours_and_is_else_as_it_was(tmp_path):
    figure, axes = style.new_figure(1, 1, size=(2, 2))
    axes[0, 0].plot([0, 1], [0, 1], color="#0072b2")
    svg, png, pdf = style.save(figure, tmp_path / "figure.svg")
    text = svg.read_text()
    (found,) = re.findall(r"<style>@media [^{]*prefers-color-scheme:dark.*?</style>\n", text, re.DOTALL)
    assert '[style*="stroke: #0072b2"]{stroke:var(--0072b2)!important}' in found
    assert f"--0072b2:{DARK['#0072b2']};" in found
    assert "#d55e00" not in found  # not in this figure
    assert with_dark_colours(text.replace(found, "")) == text
    assert dark_colours('{"color": "#0072B2", "other": "#123456"}') == {
        "#0072b2": DARK["#0072b2"]
    }  # of a chart
    assert png.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")
    assert b"/Type3" not in pdf.read_bytes()
