"""Every item of the paper has its makings, and the page says what was run."""

import re

import pandas as pd
import pytest
from pages import links

from resolvent.common.digests import write_digest
from resolvent.common.runs import save_table
from resolvent.figures.common.exhibit import Sources
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.papers.cao2021.paper import ITEMS
from resolvent.figures.papers.page import Made, write_paper_page
from resolvent.figures.papers.registry import PAPERS
from resolvent.figures.papers.sources import READERS

pytestmark = pytest.mark.every_format  # pages link to the PNG and the PDF


@pytest.mark.parametrize("paper", PAPERS)
def test_items_have_the_paper_s_names_and_order_and_ask_for_what_there_is(paper):
    items = PAPERS[paper].items
    numbered = [name for name in items if re.fullmatch(r"(table|figure)\d+[a-z]?", name)]
    for name in numbered:
        assert items[name].title.lower().replace(" ", "").startswith(f"{name}.")
    order = [(name.startswith("figure"), int(re.search(r"\d+", name)[0]), name) for name in numbered]
    assert order == sorted(order)
    assert all(items[name].title.startswith("Not in the paper.") for name in set(items) - set(numbered))

    known = {*READERS, "cost_file", "run_folders", "candidates", "comparison_files", "quantities"}
    facts = dict.fromkeys(("shown", "model", "seeds", "input", "target"), "")
    for name, item in items.items():
        assert item.exhibit.needs <= known
        assert (item.kind == "table") == name.startswith("table")
        assert bool(item.remark) == ("cost_file" in item.exhibit.needs)
        assert set(item.of) <= set(items)
        assert "{" not in item.caption.format(**facts)


def test_items_from_no_experiment_are_not_for_experiments_to_show():
    assert [name for name, item in ITEMS.items() if not item.shown_by_experiments] == ["table1", "table5"]


def glance(page):
    """Return the cells of the table at the top."""
    rows = page[page.index('id="glance"') :].partition("</table>")[0].split("<tr>")[2:]
    return [re.findall(r">([^<>]+)</(?:a|td)>", row) for row in rows]


def write_page(folder, made, **words):
    page = folder / "cao2021.html"
    write_paper_page("cao2021", page, made=made, root=folder, **{"command": "", "provenance": {}, **words})
    return page.read_text()


def test_the_page_says_what_was_run_how_it_differs_and_what_is_not_made(make_run, tmp_path):
    run = make_run(label="Galerkin <new>", setting={"epochs": 40})
    lost = make_run("lost", label="FNO", architecture="fno1d", attention=None, diverged_epoch=3)
    case = {
        "contraction": "linear", "points": 64, "batch_size": 4, "peak_bytes": 1e9, "flop": 2e11,
        "seconds": 0.25, "allocated_bytes": 3e9, "rounds": 3, "device": "one core",
    }  # fmt: skip
    rows = [{"scope": "encoder", "attention": one, **case} for one in ("galerkin", "softmax")]
    costs = tmp_path / "cost.csv"
    save_table(pd.DataFrame(rows), costs)
    facts = {"input": "initial velocity", "target": "velocity at t = 1"}
    both, first = (
        {"run_folders": [runs], "candidates": [runs], "planned_facts": facts, "quantities": ("u", "v")}
        for runs in ([run, lost], [run])
    )
    made, reports = {}, [("Burgers & co", "burgers/report.html")]
    for name, given in {"table1": {"cost_file": costs}, "table5": both, "figure9": first}.items():
        file = tmp_path / ITEMS[name].exhibit.files(name)[0]
        ITEMS[name].exhibit.write(Sources(READERS, **given), file)
        made[name] = Made(file, given, reports if name != "table1" else [])
    provenance = {"git revision": "abc1234"}
    page = write_page(tmp_path, made, command="snakemake --cores 2", provenance=provenance)

    assert links(page) == {"burgers/report.html", "figure9.svg", "figure9.png", "figure9.pdf"}
    assert page.count("data:image/svg+xml;base64,") == 1
    assert page.count("<table") == 3  # with that of what is reproduced
    for words in (
        "Table 5. Sizes of the networks", "Galerkin &lt;new&gt;", "Burgers &amp; co",
        "Galerkin &lt;new&gt;: initial velocity, velocity at t = 1",
        "2 models trained on 512 grid points", "2 runs, of which 1 diverged",
        "Galerkin &lt;new&gt;: epochs 40 (code 100)",
        "at n = 64, batch 4, no dropout, on one core; the median of 3 timings", "points 64 (paper 8192)",
        "snakemake --cores 2", "abc1234", "cao2021choose",
    ):  # fmt: skip
        assert words in page, words
    assert "1 model trained on 512 grid points" in page[page.index('id="figure9"') :]
    differs = "differs from the paper in {}"
    assert glance(page) == [
        ["Table 1. Memory, speed and operations of the attentions", "—", differs.format("2 points"),
         "measured, no training"],
        ["Table 5. Sizes of the networks", "—", differs.format("2 points"), "2 runs, 1 diverged"],
        ["Figure 9. Test samples of Burgers&#39; equation", "—", differs.format("1 point"), "1 run"],
    ]  # fmt: skip
    assert page.index('href="#table5"') < page.index('id="table5"')
    listed = page[page.index("Not reproduced by this configuration") : page.index('id="tables"')]
    absent = [item.title for name, item in ITEMS.items() if name not in made]
    assert all(title in listed.replace("&#39;", "'") for title in absent)
    assert "Table 5" not in listed


def test_the_top_counts_the_numbers_that_are_compared(make_run, tmp_path):
    galerkin = make_run(label="Galerkin", errors=[2e-3, 2e-3])
    other = make_run("other", label="Galerkin, longer", setting={"epochs": 40}, errors=[3e-3, 3e-3])
    write_comparison([galerkin, other], [], tmp_path / "comparison.csv")
    (tmp_path / "table2a.html").write_text("<table></table>")
    write_digest(tmp_path / "table2a.html")
    (galerkin / "run.html").write_text("a page")
    given = {"run_folders": [[galerkin, other]], "candidates": [[galerkin, other]], "planned_facts": {}}
    made = Made(tmp_path / "table2a.html", given, models=[tmp_path / "models.csv"])
    page = write_page(tmp_path, {"table2a": made})
    ratio = f"{2 / 1.203:.2f}"  # the paper reports 1.203 × 10⁻³
    assert glance(page)[0][1] == f"1 of 2: ours {ratio} times the reported number"
    assert 'href="runs/galerkin-n512-seed1/run.html">Galerkin, n = 512, seed 1</a>' in page
    assert "other-n512" not in page  # has no page
