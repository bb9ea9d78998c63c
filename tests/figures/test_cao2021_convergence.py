"""Figure 8 of Cao 2021: every seed is a line, those that diverged are reported."""

import re

import pytest
from exhibits import of_paper

from resolvent.figures.common.results import read_runs
from resolvent.figures.common.style import MUTED, appearances, save
from resolvent.figures.papers.cao2021.convergence import draw_convergence, varied


def seeds(make_run, count, diverged=(), **options):
    return [
        make_run(seed=seed, diverged_epoch=9 if seed in diverged else None, **options)
        for seed in range(count)
    ]


def strokes(svg, colour):
    """Lines of this colour on the page."""
    return len(re.findall(rf"<path [^>]*style=\"fill: none; stroke: {colour}", svg.read_text()))


@pytest.mark.with_png
def test_every_seed_is_a_line_beside_the_median(make_run, tmp_path):
    runs = seeds(make_run, 10, diverged=(3, 7))
    svg, png = save(of_paper(draw_convergence, [runs]), tmp_path / "figure8.svg")
    colour = appearances(read_runs(runs))["galerkin"].colour
    assert strokes(svg, colour) == 2 * (8 + 1)
    assert strokes(svg, MUTED) == 2 * 2  # the seeds that diverged
    assert png.stat().st_size > 20_000
    again, *_ = save(of_paper(draw_convergence, [runs]), tmp_path / "again.svg")
    assert again.read_bytes() == svg.read_bytes()


@pytest.mark.parametrize("diverged_epoch", [0, 4])
def test_only_diverged_seeds(make_run, tmp_path, diverged_epoch):
    svg, *_ = save(
        of_paper(draw_convergence, [[make_run(diverged_epoch=diverged_epoch)]]), tmp_path / "figure8.svg"
    )
    assert strokes(svg, MUTED) == (2 if diverged_epoch else 0)


def test_two_experiments_are_two_rows(make_run, tmp_path):
    one, other = seeds(make_run, 2), seeds(make_run, 2, model="burgers")
    row, *_ = save(of_paper(draw_convergence, [one]), tmp_path / "row.svg")
    rows, *_ = save(of_paper(draw_convergence, [one, other]), tmp_path / "rows.svg")
    assert rows.read_text().count('id="axes_') == 2 * row.read_text().count('id="axes_') == 4


def test_a_title_says_what_the_seeds_draw(make_run):
    several = read_runs(seeds(make_run, 3))
    assert varied(several) == "3 seeds of initial weights and sample order"
    fixed = read_runs([make_run("fixed", training={"loader_seed": 0})])
    assert varied(fixed) == "1 seed of initial weights, one sample order"
