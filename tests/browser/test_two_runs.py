"""The page that compares two runs counts ties and says why there is no interval, in a real browser."""

import json

import pytest
from browser import Reader, chromium

from resolvent.figures.common.assets import write_assets
from resolvent.figures.common.page import render
from resolvent.figures.run.page import COMPARED_SECTIONS


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """Return the page that compares two runs of a study, which the tests write."""
    folder = tmp_path_factory.mktemp("compared")
    write_assets(folder / "assets")
    shown = {"root": folder, "breadcrumbs": [("Two runs", "")], "title": "Burgers", "runs": []}
    shown |= {"home": "the training grid", "noisy": False}
    render("compare.html.j2", folder / "compare.html", sections=COMPARED_SECTIONS, **shown)
    write_runs(folder, [0.1], [0.2])
    with Reader(browser) as reader:
        yield reader.open(folder / "compare.html"), folder
        assert reader.faults == []


def write_runs(folder, *errors, run=None):
    """Write runs with these errors by test sample, all with the data of `run`."""
    runs = [
        {"label": "FNO", "where": "n = 8", "seed": seed, "folder": f"{seed}", "diverged": None}
        | {"errors": dict(enumerate(values))}
        for seed, values in enumerate(errors)
    ]
    run = run or {"samples": [], "quantities": ["u", "v"], "dimension": 1}
    for seed in range(len(runs)):
        (folder / str(seed)).mkdir(exist_ok=True)
        (folder / f"{seed}/run.js").write_text(f'resolventData("run", {json.dumps(run)});')
    data = {"runs": runs, "pairs": []}
    (folder / "runs.js").write_text(f'resolventData("runs", {json.dumps(data)});')


def opened(page, *errors, run=None):
    """Open the page of runs with these errors anew."""
    page, folder = page
    write_runs(folder, *errors, run=run)
    page.reload()
    page.wait_for_function("document.querySelector('.verdict').textContent")
    return page


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        (([0.1, 0.2, 0.3], [0.1, 0.3, 0.2]), "better on 1, the second on 1; errors are equal on 1."),
        (([0.1, 0.2],), "both are the same run). The first run is better on 0, the second on 0; errors are"),
        (([0.1], [0.2]), "one sample has no interval). The first run is better on 1, the second on 0."),
        (([0.0], [0.2]), "An error is zero: there is no ratio."),
        (([0.1], []), "These runs were not tested on the same samples."),
    ],
)
def test_ties_are_counted_and_what_is_missing_has_its_reason(page, errors, expected):
    assert expected in opened(page, *errors).text_content(".verdict")


def test_the_errors_of_each_function_have_a_scale_of_their_own(page):
    """The error of a small function is not drawn on the scale of a large one."""
    field, place = [[1.0, 2.0], [3.0, 4.0]], [0.0, 1.0]
    errors = [[[5.0, 1.0], [1.0, 1.0]], [[0.01, 0.02], [0.0, 0.0]]]
    sample = {"which": "common", "sample": 0, "relative_l2": 0.1, "input": [field], "target": [field, field]}
    run = {"samples": [sample | {"error": errors}], "quantities": ["u", "v"], "dimension": 2}
    run |= dict.fromkeys(("x", "y", "x_target", "y_target"), place)
    page, plot = opened(page, [0.1], [0.2], run=run), "document.querySelector('.plot.predictions')"
    page.evaluate(f"{plot}.scrollIntoView()")
    page.wait_for_function(f"{plot}.data")
    drawn = page.evaluate(f"{plot}.data.map((trace) => trace.zmax)")
    titles = page.evaluate(f"{plot}.layout.annotations.map((title) => title.text)")
    assert [drawn[number] for number in (3, 4, 8, 9)] == [5, 5, 0.02, 0.02]
    assert len(set(titles)) == 10
