"""The figures and the page of the study of stability show the counts of its tables."""

import csv
import re

import pytest
from pages import links

from resolvent.common.digests import write_digest
from resolvent.documentation.stability import stability_page
from resolvent.figures.common.errors import ResultError
from resolvent.figures.stability.page import write_stability_page
from resolvent.figures.stability.runs import counts, gap, interval, read_study

pytestmark = pytest.mark.every_format  # pages link to the PNG and the PDF

PANELS = {
    "Galerkin": {"as printed": "galerkin", "ours": "galerkin_ours"},
    "Fourier": {"as printed": "fourier"},
}
FACTS = {
    "panels": PANELS, "resolution": 32, "epochs": 2, "batch_size": 8, "train": 512, "validation": 100,
}  # fmt: skip
PEAKS = (3e-3, 1e-3)
COLUMNS = ["model", "peak", "seed", "status", "seconds", "device", "epoch", "validation_relative_l2"]


def last_error(model, peak, seed):
    """Status and last error: of the four printed runs at the high peak one diverges and two collapse."""
    if model == "galerkin_ours" or peak == min(PEAKS) or seed == 4:
        return "finished", 0.004 + 0.001 * seed
    return ("diverged", 2546.6) if seed == 1 else ("finished", 0.9 + 0.05 * seed)


@pytest.fixture
def study(tmp_path):
    tables = []
    for model in ("galerkin", "galerkin_ours", "fourier"):
        tables.append(tmp_path / f"{model}.csv")
        with open(tables[-1], "w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(COLUMNS)
            for peak in PEAKS:
                for seed in (1, 2, 3, 4):
                    status, error = last_error(model, peak, seed)
                    for epoch, value in ((1, 0.5), (2, error)):
                        rows.writerow([model, peak, seed, status, 30.0, "A processor", epoch, value])
        write_digest(tables[-1])
    return read_study(tables, PANELS)


def test_a_run_is_its_last_epoch_and_collapsed_if_that_is_far_off(study):
    assert len(study) == 3 * 2 * 4
    of_printed = study[(study["model"] == "galerkin") & (study["peak"] == max(PEAKS))].set_index("seed")
    assert of_printed["collapsed"].to_dict() == {1: True, 2: True, 3: True, 4: False}
    assert not study[study["model"] == "galerkin_ours"]["collapsed"].any()
    assert gap(study) == pytest.approx((0.008, 1.0))  # the diverged run is neither


def test_no_number_in_the_last_epoch_is_a_collapse(study, tmp_path):
    table = tmp_path / "galerkin.csv"
    table.write_text(table.read_text().replace("finished,30.0,A processor,2,0.005", "finished,30.0,A,2,nan"))
    write_digest(table)
    found = read_study([table], {"Galerkin": {"as printed": "galerkin"}})
    assert found[(found["seed"] == 1) & (found["peak"] == min(PEAKS))]["collapsed"].all()


@pytest.mark.parametrize(
    ("collapsed", "runs", "low", "high"),
    [(0, 20, 0.0, 0.16843), (8, 8, 0.63058, 1.0), (3, 8, 0.08523, 0.75514)],  # tables of Clopper and Pearson
)
def test_intervals_are_exact(collapsed, runs, low, high):
    assert interval(collapsed, runs) == pytest.approx((low, high), abs=1e-5)


def test_counts_are_by_model_and_peak(study):
    found = counts(study).set_index(["panel", "words", "peak"])
    printed, ours = (found.loc[("Galerkin", words, max(PEAKS))] for words in ("as printed", "ours"))
    assert (printed["collapsed"], printed["runs"], ours["collapsed"], ours["runs"]) == (3, 4, 0, 4)
    assert printed["median"] == pytest.approx(0.008)
    assert (ours["least"], ours["largest"]) == pytest.approx((0.005, 0.008))


def test_the_same_words_have_the_same_colour_in_every_panel(study):
    assert study.groupby("words")["order"].nunique().eq(1).all()
    assert study.groupby("order")["words"].nunique().eq(1).all()


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
    assert "24 trainings" in page
    assert "3 of 4 [0.19, 0.99]" in page
    assert "0 of 4 [0.00, 0.60]" in page
    assert "6.500 [5.000, 8.000]" in page
    assert "that trained is 0.008, the smallest of those that collapsed is 1; 2 diverged" in page
    assert "12.0 min on one thread of A processor" in page
    assert links(page) == {f"{panel}.{suffix}" for panel in PANELS for suffix in ("svg", "png", "pdf")}


def test_a_study_of_which_no_run_has_ended_says_so():
    with pytest.raises(ResultError, match="no run of the study of stability has ended"):
        read_study([], PANELS)


def test_the_page_of_the_documentation_names_what_is_not_trained_yet(study):
    page = stability_page(study, FACTS, {"Galerkin": "images/stability1.svg"}, ["fourier_regular"])
    assert "| Galerkin: as printed | 0 of 4 [0.00, 0.60] | 3 of 4 [0.19, 0.99] |" in page
    assert "| Fourier: as printed | 6.500 [5.000, 8.000] | 8.000 [8.000, 8.000] |" in page
    assert "without rows: `fourier_regular`." in page
    assert max(len(line) for line in page.splitlines() if line[:1] not in "|!") <= 118
