"""What is shown beside the figures of Calvello et al. 2024: spectra, jumps, paired grids, rollouts."""

import numpy as np
import pandas as pd
import pytest
from calvello2024_samples import PATCHES, POINTS, flow, write_flow_run, write_rollout
from exhibits import read_all
from run_files import replace_errors, save_arrays

from resolvent.common.errors import FileError
from resolvent.figures.common.errors import ResultError
from resolvent.figures.common.results import read_runs
from resolvent.figures.common.style import save
from resolvent.figures.experiment.comparison import grouped
from resolvent.figures.papers.calvello2024 import jumps, paired_grids, rollouts, spectra

WIDE = {"width": 32, "patches": PATCHES}


@pytest.fixture
def figures_made():
    """The figures that a test has drawn."""
    return []


@pytest.fixture
def runs(make_run):
    """Two seeds with patches, a narrow one, an FNO, a model for one grid, and a diverged one."""
    return [
        write_flow_run(make_run, "fano", "fano", settings=WIDE, jump=0.5, growth=2.0),
        write_flow_run(make_run, "fano", "fano", settings=WIDE, jump=0.25, growth=3.0, seed=2),
        write_flow_run(make_run, "narrow", "fano", settings=WIDE | {"width": 8}),
        write_flow_run(make_run, "fno", "neuraloperator2d", settings={"width": 32, "modes": 6}, away=-0.001),
        write_flow_run(make_run, "afno", "afno", settings={"width": 32}, tested=(POINTS,)),
        write_flow_run(make_run, "lost", "vit_no", settings=WIDE, diverged_epoch=2),
    ]


def groups_of(folders):
    return {group[0].model: group for group in grouped(read_runs(folders))}


def lines(panel):
    return [np.asarray(line.get_xydata(), dtype=float) for line in panel.get_lines()]


def has_line(panel, x, y):
    points = np.stack([np.asarray(x, dtype=float), np.asarray(y, dtype=float)], axis=1)
    return any(line.shape == points.shape and np.allclose(line, points) for line in lines(panel))


def words_of(figure):
    return [text.get_text() for text in figure.findobj(lambda one: hasattr(one, "get_text"))]


# Spectra.


def test_spectra_are_means_over_seeds_and_the_ratio_is_of_predictions(runs, figures_made):
    figures_made.append(spectra.draw_spectra(read_all([runs])))
    left, right = figures_made[0].axes
    k = np.arange(1, 8)  # beyond, shells of 12 are in the corners alone
    power = 10.0**-k
    assert has_line(left, k, power)
    assert has_line(left, k, 0.1 * power)
    assert has_line(right, k, [0.65] * 7)  # of seeds with 0.6 and 0.7
    assert has_line(right, k, [0.6] * 7)
    assert has_line(left, [3, 3], [0, 1])  # six modes of the package are |k| <= 3
    legend = [text.get_text() for text in figures_made[0].legends[0].get_texts()]
    assert legend == ["target", "fano", "fno", "afno"]


def test_a_seed_that_diverged_is_not_in_the_mean(make_run):
    lost = write_flow_run(make_run, "fano", "fano", seed=1, diverged_epoch=1)
    (group,) = groups_of([lost, write_flow_run(make_run, "fano", "fano", seed=2)]).values()
    found = spectra.spectra(group)
    np.testing.assert_allclose(found["prediction"], 0.7 * found["target"])


# Jumps.


def test_the_jump_ratio_of_known_functions():
    """Linear: 1. A staircase on the patches: nothing inside. Both: (1 + height / slope) across the edges."""
    x = np.arange(POINTS, dtype=float)
    plane = (2 * x + 2 * x[:, None])[None]
    assert jumps.jump_ratio(plane, PATCHES) == pytest.approx(1)
    stairs = np.floor(x / (POINTS / PATCHES))
    stairs = (stairs + stairs[:, None])[None]
    assert jumps.jump_ratio(plane + 6 * stairs, PATCHES) == pytest.approx(1 + 6 / 2)
    # Larger patches have two of these edges among their fourteen differences.
    assert jumps.jump_ratio(plane + 6 * stairs, 2) == pytest.approx(8 / (2 + 2 * 6 / 14))


def test_the_jumps_of_a_run_are_those_of_its_fields(runs):
    (first, second), (fno,) = groups_of(runs)["fano"], groups_of(runs)["fno"]
    found = jumps.jumps(first, PATCHES)
    assert found["target"] == pytest.approx(jumps.jump_ratio(np.roll(flow(2), 1, axis=2), PATCHES))
    assert found["error"] > found["prediction"] > 1.5 * found["target"]
    assert found["prediction"] > jumps.jumps(second, PATCHES)["prediction"]
    assert jumps.jumps(fno, PATCHES)["prediction"] == pytest.approx(found["target"])


def test_models_without_patches_are_measured_at_those_of_the_others(runs):
    groups = list(groups_of(runs).values())
    assert jumps.patches_of(groups) == dict.fromkeys(("fano", "narrow", "fno", "afno", "lost"), PATCHES)
    assert jumps.patches_of(groups[2:4]) == {"fno": 4, "afno": 4}


def test_jumps_are_drawn_for_seeds_and_their_mean(runs, figures_made):
    figures_made.append(jumps.draw_jumps(read_all([runs, runs])))
    panels = figures_made[0].axes
    assert len(panels) == 2
    seeds = [jumps.jumps(run, PATCHES)["prediction"] for run in groups_of(runs)["fano"]]
    for panel in panels:
        assert has_line(panel, seeds, [0, 0])
        assert has_line(panel, [np.mean(seeds)], [0])
        names = [label.get_text().splitlines()[0] for label in panel.get_yticklabels()]
        assert names == ["fano", "fno", "afno", "lost"]
    assert words_of(figures_made[0]).count("diverged") == 2


# Paired grids.


def test_ratios_are_taken_sample_by_sample(runs):
    """Errors of 0.02 on the training grid, 0.03 and 0.04 away, each times 1 + 0.1 s: ratios of 3/2 and 2."""
    found = paired_grids.paired_ratios(groups_of(runs)["fano"])
    for away, ratio in ((24, 1.5), (32, 2.0)):
        assert (found[away].low, found[away].value, found[away].high) == pytest.approx([ratio] * 3)
    assert paired_grids.paired_ratios(groups_of(runs)["lost"]) == {}
    assert paired_grids.paired_ratios(groups_of(runs)["afno"]) == {}


def test_paired_grids_are_drawn_with_their_intervals(runs, figures_made):
    figures_made.append(paired_grids.draw_paired_grids(read_all([runs])))
    (panel,) = figures_made[0].axes
    assert [tick.get_text() for tick in panel.get_xticklabels()] == ["24", "32"]
    assert {text.get_text() for text in panel.texts} == {"fano", "fno", "diverged: lost"}  # afno has one grid
    means = sorted(line[:, 1].tolist() for line in lines(panel) if len(line) == 2 and line[0, 1] != 1)
    np.testing.assert_allclose(means, [[0.95, 0.9], [1.5, 2.0]])
    interval = paired_grids.paired_ratios(groups_of(runs)["fano"])[24]
    segments = [segment for one in panel.collections for segment in one.get_segments()]
    assert any(np.allclose(segment[:, 1], [interval.low, interval.high]) for segment in segments)


def test_other_samples_cannot_be_paired(make_run):
    run = write_flow_run(make_run, "fano", "fano")
    errors = pd.read_csv(run / "errors.csv")
    errors.loc[errors["resolution"] == 24, "sample"] += 1
    replace_errors(run, errors)
    with pytest.raises(ResultError, match="was tested on other samples at 24 than at 16"):
        paired_grids.paired_ratios(read_runs([run]))


@pytest.mark.parametrize("options", [{"tested": (POINTS,)}, {"diverged_epoch": 1}])
def test_without_any_difference_the_panel_says_so(make_run, figures_made, options):
    figures_made.append(
        paired_grids.draw_paired_grids(read_all([[write_flow_run(make_run, "afno", "afno", **options)]]))
    )
    assert any("no finished model was tested on another grid" in words for words in words_of(figures_made[0]))


# Rollouts.


def test_rollout_errors_are_means_over_samples_and_seeds(runs, figures_made):
    figures_made.append(rollouts.draw_rollouts(read_runs(runs)))
    curves = figures_made[0].axes[0]
    times = [0.1, 0.2, 0.3]
    expected = 0.1 * 1.25 * np.mean([2.0 ** np.arange(3), 3.0 ** np.arange(3)], axis=0)
    assert has_line(curves, times, expected)
    assert has_line(curves, times, [0.2, 0.4, 0.6])
    labels = {text.get_text() for text in curves.texts}
    assert labels == {"persistence", "fano", "fno", "afno", "diverged: lost"}
    images = [axes.get_images()[0].get_array() for axes in figures_made[0].axes[1:7]]
    assert len(images) == 2 + 4  # start, truth, and an architecture each, the diverged one too
    np.testing.assert_allclose(images[0], flow(1)[0])
    np.testing.assert_allclose(images[1], np.roll(flow(1)[0], 3, axis=1))
    np.testing.assert_allclose(images[2], 1.4 * np.roll(flow(1)[0], 3, axis=1))
    assert words_of(figures_made[0]).count("not finite") == 1


def test_a_line_ends_where_a_sample_is_lost(make_run, figures_made):
    run = write_flow_run(make_run, "fano", "fano")
    write_rollout(run, growth=50.0, lost=1.0)
    stored = dict(np.load(run / "rollout.npz"))
    stored["error"][2, 2] = np.nan
    save_arrays(run / "rollout.npz", **stored)
    figures_made.append(rollouts.draw_rollouts(read_runs([run])))
    curves = figures_made[0].axes[0]
    assert "fano, lost after t = 0.2" in {text.get_text() for text in curves.texts}
    assert curves.get_ylim()[1] <= 13.1  # what blows up does not set the scale


def test_all_diverged_leaves_persistence(make_run, figures_made):
    figures_made.append(
        rollouts.draw_rollouts(read_runs([write_flow_run(make_run, "fano", "fano", diverged_epoch=1)]))
    )
    labels = {text.get_text() for text in figures_made[0].axes[0].texts}
    assert labels == {"persistence", "diverged: fano"}


def test_a_run_without_a_rollout_names_the_file(make_run):
    run = write_flow_run(make_run, "fano", "fano")
    (run / "rollout.npz").unlink()
    with pytest.raises(FileError, match=r"rollout\.npz is missing: make it with `snakemake"):
        rollouts.draw_rollouts(read_runs([run]))


@pytest.mark.every_format
def test_a_figure_is_three_files_and_the_svg_has_the_same_bytes_each_time(runs, tmp_path):
    svg, png, pdf = save(spectra.draw_spectra(read_all([runs])), tmp_path / "figure_spectra.svg")
    again, *_ = save(spectra.draw_spectra(read_all([runs])), tmp_path / "again.svg")
    assert svg.read_bytes() == again.read_bytes()
    assert png.stat().st_size > 30_000
    assert pdf.read_bytes()[:5] == b"%PDF-"
