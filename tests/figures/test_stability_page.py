"""The figures and the page of the study of stability show the counts of its tables."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from pages import links

from resolvent.common.digests import write_digest
from resolvent.common.runs import save_table
from resolvent.figures.common.errors import ResultError
from resolvent.figures.stability.page import (
    COLUMNS,
    TOP,
    counts,
    draw_panel,
    gap_in_words,
    read_study,
    write_stability_page,
)

pytestmark = pytest.mark.every_format  # pages link to the PNG and the PDF

PANELS = {
    "Galerkin": {"as printed": "galerkin", "ours": "galerkin_ours"},
    "Fourier": {"as printed": "fourier"},
}
FACTS = {
    "panels": PANELS, "dataset": "darcy", "resolution": 32, "epochs": 2, "batch_size": 8, "train": 512,
    "validation": 100,
}  # fmt: skip
PEAKS = (3e-3, 1e-3)


def last_error(model, peak, seed):
    """Status and last error: of the four printed runs at the high peak one diverges and two collapse."""
    if model == "galerkin_ours" or peak == min(PEAKS) or seed == 4:
        return "finished", 0.004 + 0.001 * seed
    return ("diverged", 2546.6) if seed == 1 else ("finished", 0.9 + 0.05 * seed)


@pytest.fixture
def study(tmp_path):
    for model in ("galerkin", "galerkin_ours", "fourier"):
        rows = []
        for peak, seed in product(PEAKS, (1, 2, 3, 4)):
            status, error = last_error(model, peak, seed)
            for epoch in ((1, 0.5), (2, error)):
                rows.append((model, peak, seed, status, 30.0, "A processor", *epoch))
        save_table(pd.DataFrame(rows, columns=COLUMNS), tmp_path / f"{model}.csv")
    return read_study(sorted(tmp_path.glob("*.csv")), PANELS)


def test_a_run_is_its_last_epoch_and_collapsed_if_that_is_far_off(study):
    assert len(study) == 3 * 2 * 4
    of_printed = study[(study["model"] == "galerkin") & (study["peak"] == max(PEAKS))].set_index("seed")
    assert of_printed["collapsed"].to_dict() == {1: True, 2: True, 3: True, 4: False}
    assert not study[study["model"] == "galerkin_ours"]["collapsed"].any()
    of_twenty = pd.concat([study[study["model"] == "galerkin_ours"]] * 5).assign(peak=1e-3)
    (row,) = counts(of_twenty[:20]).itertuples()
    assert (row.low, row.high) == pytest.approx((0.0, 0.16843), abs=1e-5)  # the table of Clopper and Pearson
    # The same words have the same colour in every panel.
    assert study.groupby("words")["order"].nunique().eq(1).all()
    assert study.groupby("order")["words"].nunique().eq(1).all()


def test_no_number_in_the_last_epoch_is_a_collapse(study, tmp_path):
    table = tmp_path / "galerkin.csv"
    table.write_text(table.read_text().replace("finished,30.0,A processor,2,0.005", "finished,30.0,A,2,nan"))
    write_digest(table)
    found = read_study([table], {"Galerkin": {"as printed": "galerkin"}})
    assert found[(found["seed"] == 1) & (found["peak"] == min(PEAKS))]["collapsed"].all()


def test_where_every_training_diverged_there_is_a_page(study):
    lost = study.assign(status="diverged", error=np.nan, collapsed=True)
    (panel, *_), runs = PANELS, lost.drop_duplicates(["model", "peak", "seed"])
    low, high = draw_panel(lost, panel).axes[1].get_ylim()
    assert low < TOP < high
    assert gap_in_words(runs) == "no run has a final error; 24 diverged and were stopped"


def test_the_page_has_a_figure_a_panel_and_every_count(study, tmp_path):
    figures = [tmp_path / f"{panel}.svg" for panel in PANELS]
    output = tmp_path / "stability.html"
    write_stability_page(
        output, tables=sorted(tmp_path.glob("*.csv")), facts=FACTS,
        figures=figures, command="snakemake stability",
        provenance={"machine": "a computer"}, root=tmp_path,
    )  # fmt: skip
    page = re.sub(r"\s+", " ", output.read_text())
    assert page.count('<img class="static" src="data:image/svg+xml;base64,') == 2
    assert "The dataset darcy, n = 32: 512 training samples" in page
    assert "24 trainings" in page
    assert "3 of 4 [0.19, 0.99]" in page
    assert "0 of 4 [0.00, 0.60]" in page
    assert "6.500 [5.000, 8.000]" in page
    assert "without collapse is 0.008 and the smallest with collapse is 1; 2 diverged" in page
    assert "Any threshold between these errors" in page
    assert "Training took 12.0 min in total on A processor." in page
    assert links(page) == {f"{panel}.{suffix}" for panel in PANELS for suffix in ("svg", "png", "pdf")}


def test_a_study_of_which_no_run_has_ended_says_so():
    with pytest.raises(ResultError, match="no run of the stability study"):
        read_study([], PANELS)
