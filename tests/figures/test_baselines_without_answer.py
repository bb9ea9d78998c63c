"""A baseline that cannot answer is an empty row with its reason, and costs no comparison, table or figure."""

import json

import numpy as np
import pandas as pd
import pytest
from exhibits import compared, of_paper, printed, written
from run_files import replace_errors

from resolvent.figures.common.comparison import by_condition, read_comparison
from resolvent.figures.common.table import as_html
from resolvent.figures.experiment.cost import COST_SCATTER
from resolvent.figures.experiment.curves import RESOLUTION_CURVES
from resolvent.figures.experiment.error_table import headline, of_every_condition
from resolvent.figures.experiment.rows_of_errors import ERROR_DISTRIBUTIONS
from resolvent.figures.papers.calvello2024.tables import draw_low_resolution

REASON = "the highest eighth of the modes holds more than 1e-08 of the solution (sample rows 2 and 3)"


@pytest.fixture
def results(make_run, make_baselines, tmp_path):
    """Runs, baselines and comparison of a model on two grids; one baseline has no answer on the first."""
    runs = [make_run(resolution=n, tested=(64, 128), errors=np.linspace(1e-3, 9e-3, 40)) for n in (64, 128)]
    baselines = [make_baselines(n) for n in (64, 128)]
    costs = json.loads((baselines[0] / "cost.json").read_text())
    costs["costs"]["64"]["coarse_solve"]["no_answer"] = REASON
    (baselines[0] / "cost.json").write_text(json.dumps(costs))
    errors = pd.read_csv(baselines[0] / "errors.csv")
    errors.loc[errors["baseline"] == "coarse_solve", ["relative_l2", "relative_h1"]] = np.nan
    replace_errors(baselines[0], errors)
    return runs, baselines, compared(runs, tmp_path, baselines)


def test_the_other_baselines_keep_their_errors_and_tables_have_the_reason(results, tmp_path):
    runs, _, path = results
    table = read_comparison(path)
    found = [one for one in by_condition(table) if one.facts["kind"] == "baseline"]
    rows = {(one.facts["key"], one.facts["trained_resolution"]): one for one in found}
    empty = rows.pop(("coarse_solve", 64))
    assert empty.facts["status"] == f"no answer: {REASON}"
    assert not any(error.known for error in empty.errors.values())
    assert empty.facts["seeds"] == empty.facts["samples"] == 0
    assert len(rows) == 7
    assert all(error.known for one in rows.values() for error in one.errors.values())
    assert {one.facts["status"] for one in rows.values()} == {"finished"}
    assert f'no answer<span class="warning">{REASON}' in as_html(headline(table))
    assert f'<td class="prose">no answer: {REASON}' in as_html(of_every_condition(table))
    printed(
        of_paper(draw_low_resolution, [runs[:1]], [compared(runs[:1], tmp_path / "one", results[1])]),
        tmp_path,
    )
    assert f'no answer<span class="interval">{REASON}' in (tmp_path / "item.html").read_text()


@pytest.mark.parametrize("exhibit", [ERROR_DISTRIBUTIONS, COST_SCATTER, RESOLUTION_CURVES])
def test_figures_leave_the_empty_row_out(exhibit, results, tmp_path):
    runs, baselines, comparison = results
    (svg,) = written(exhibit, tmp_path / "figure.svg", runs, comparison, baselines)
    assert "nan" not in svg.read_text()
