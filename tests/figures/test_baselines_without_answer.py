"""A baseline that cannot answer is an empty row with its reason, and costs no comparison, figure or page."""

import json

import numpy as np
import pandas as pd
import pytest
from dataset_fixtures import make_dataset, small
from exhibits import given, of_paper, without_rendering, written
from run_files import write_inference

from resolvent.common.runs import save_table
from resolvent.datasets.tasks.burgers import Burgers
from resolvent.evaluation.baselines import write_baselines
from resolvent.figures.common.comparison import by_condition, read_comparison
from resolvent.figures.common.table import write_table
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.experiment.cost import COST_SCATTER
from resolvent.figures.experiment.curves import RESOLUTION_CURVES
from resolvent.figures.experiment.error_table import write_error_tables
from resolvent.figures.experiment.report import write_report
from resolvent.figures.experiment.rows_of_errors import ERROR_DISTRIBUTIONS
from resolvent.figures.papers.calvello2024.error_tables import draw_low_resolution
from resolvent.solvers.burgers.split_step import BurgersSplitStep
from resolvent.solvers.common.fourier import coefficients_of, observe

REASON = "Burgers split-step: the highest eighth of the modes holds more than 1e-08 of the solution"
REMEDY = "use more num_modes"  # for whoever sets them: the grid does here


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """Baselines of the training grids 64 and 128; one checks what its grid resolves, and refuses 64."""
    folder, grids = tmp_path_factory.mktemp("refused"), [64, 128]
    samples = {"train": 6, "validation": 2, "test": 6}
    card = make_dataset(
        folder, small("burgers", viscosity=0.01, final_time=1.0, resolutions=grids, samples=samples)
    )

    def checked(task: Burgers, values: np.ndarray, grid) -> np.ndarray:
        points = values.shape[-1]
        solver = BurgersSplitStep(task.settings.viscosity, num_modes=points // 2 - 1)
        return observe(solver.solve(coefficients_of(values)), points)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Burgers, "solve_on_grid", checked)
        write_baselines(
            card, folder, experiment="burgers", resolutions=grids, counts=samples, noise=0.0, realisations=1
        )
    return folder


@pytest.fixture
def compared(refused, make_run, tmp_path):
    """Run folders, the baselines' folders and the comparison of a model trained on both grids."""
    runs = [make_run(resolution=n, tested=(64, 128), errors=np.linspace(1e-3, 9e-3, 6)) for n in (64, 128)]
    write_comparison(runs, [refused], tmp_path / "comparison.csv")
    return runs, [refused], tmp_path / "comparison.csv"


def test_the_other_baselines_keep_their_errors(compared):
    baselines = (
        one for one in by_condition(read_comparison(compared[-1])) if one.facts["kind"] == "baseline"
    )
    rows = {(one.facts["key"], one.facts["trained_resolution"]): one for one in baselines}
    keys = ("mean_predictor", "identity", "interpolation_oracle", "coarse_solve")
    assert set(rows) == {(key, n) for key in keys for n in (64, 128)}
    empty = rows.pop(("coarse_solve", 64))
    assert empty.facts["status"].startswith(f"no answer: {REASON} (sample rows ")
    assert REMEDY not in empty.facts["status"]
    assert not any(error.known for error in empty.errors.values())
    assert empty.facts["seeds"] == empty.facts["samples"] == 0
    assert all(error.known for one in rows.values() for error in one.errors.values())
    assert {one.facts["status"] for one in rows.values()} == {"finished"}


def test_the_reason_can_be_read_in_tables_and_on_the_page(compared, tmp_path, monkeypatch):
    without_rendering(monkeypatch)
    runs, baselines, comparison = compared
    outputs = [tmp_path / f"table.{suffix}" for suffix in ("csv", "tex", "html")]
    write_error_tables(comparison, outputs)
    assert all("no answer" in output.read_text() for output in outputs)
    card = {"dataset": "burgers", "error_budget": {}, "inputs": ["initial_velocity"]}
    (tmp_path / "card.json").write_text(json.dumps(card))
    write_report(
        tmp_path / "report.html", title="Burgers", command="snakemake", card=tmp_path / "card.json",
        given=given(runs, comparison, baselines, write_inference(tmp_path)), root=tmp_path, provenance={},
        predicted=[(1.0, 1.0)] * len(runs),
    )  # fmt: skip
    page = (tmp_path / "report.html").read_text()
    assert f'no answer<span class="warning">{REASON} (sample rows ' in page
    assert f'<td class="prose">no answer: {REASON} (sample rows ' in page


@pytest.mark.parametrize("exhibit", [ERROR_DISTRIBUTIONS, COST_SCATTER, RESOLUTION_CURVES])
def test_figures_leave_the_empty_row_out(exhibit, compared, tmp_path):
    runs, baselines, comparison = compared
    (svg,) = written(exhibit, tmp_path / "figure.svg", runs, comparison, baselines)
    assert "nan" not in svg.read_text()


def test_a_papers_table_gives_the_reason(compared, tmp_path):
    runs, _, comparison = compared
    table = pd.read_csv(comparison)
    table.loc[table["key"] == "coarse_solve", "value"] = np.nan
    table.loc[table["key"] == "coarse_solve", "status"] = f"no answer: {REASON}"
    save_table(table, comparison)
    outputs = [tmp_path / f"paper.{suffix}" for suffix in ("csv", "tex", "html")]
    write_table(of_paper(draw_low_resolution, [runs], [comparison]), outputs)
    assert f'no answer<span class="interval">{REASON}' in outputs[2].read_text()
    assert all("no answer" in output.read_text() for output in outputs)
