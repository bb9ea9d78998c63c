"""Figure 8 of Cao 2021: every seed is a line, those that diverged are reported."""

import pytest
from exhibits import of_paper

from resolvent.figures.common.results import read_runs
from resolvent.figures.common.style import MUTED, appearances
from resolvent.figures.papers.cao2021.convergence import draw_convergence, varied


def seeds(make_run, count, diverged=(), **options):
    return [
        make_run(seed=seed, diverged_epoch=9 if seed in diverged else None, **options)
        for seed in range(count)
    ]


def strokes(panel, colour):
    return sum(line.get_color() == colour and line.get_marker() == "None" for line in panel.get_lines())


def test_every_seed_is_a_line_beside_the_median_and_an_experiment_a_row(make_run):
    runs = seeds(make_run, 10, diverged=(3, 7))
    others = seeds(make_run, 2, model="other")
    figure = of_paper(draw_convergence, [runs, others])
    colour = appearances(read_runs(runs + others))["galerkin"].colour
    assert len(figure.axes) == 4
    for panel in figure.axes[:2]:
        assert (strokes(panel, colour), strokes(panel, MUTED)) == (8 + 1, 2)
    assert "× 2 of 10 seeds diverged (epoch 9)" in figure.axes[1].texts[0].get_text()


@pytest.mark.parametrize("diverged_epoch", [0, 4])
def test_only_diverged_seeds(make_run, diverged_epoch):
    figure = of_paper(draw_convergence, [[make_run(diverged_epoch=diverged_epoch)]])
    assert [strokes(panel, MUTED) for panel in figure.axes] == 2 * [int(diverged_epoch > 0)]


def test_a_title_says_what_the_seeds_draw(make_run):
    several = read_runs(seeds(make_run, 3))
    assert varied(several) == "3 seeds of initial weights and sample order"
    fixed = read_runs([make_run("fixed", training={"loader_seed": 0})])
    assert varied(fixed) == "1 seed of initial weights, one sample order"
