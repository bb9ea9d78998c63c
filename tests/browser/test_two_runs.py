"""The page that compares two runs counts ties and says why there is no interval, in a real browser."""

import json
from contextlib import contextmanager

import pytest
from browser import Reader, chromium

from resolvent.figures.common.assets import write_assets
from resolvent.figures.common.page import render
from resolvent.figures.run.page import COMPARED_SECTIONS


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@contextmanager
def opened(browser, folder, *errors, run=None):
    """Open the page that compares runs with these errors by test sample, all with the data of `run`."""
    runs = [
        {"label": "FNO", "where": "n = 8", "seed": seed, "folder": f"{seed}", "diverged": None}
        | {"errors": dict(enumerate(values))}
        for seed, values in enumerate(errors)
    ]
    write_assets(folder / "assets")
    run = run or {"samples": [], "quantities": ["u", "v"], "dimension": 1}
    for seed in range(len(runs)):
        (folder / str(seed)).mkdir()
        (folder / f"{seed}/run.js").write_text(f'resolventData("run", {json.dumps(run)});')
    data = {"runs": runs, "pairs": []}
    (folder / "runs.js").write_text(f'resolventData("runs", {json.dumps(data)});')
    shown = {"root": folder, "breadcrumbs": [("Two runs", "")], "title": "Burgers", "runs": []}
    shown["home"] = "the training grid"
    render("compare.html.j2", folder / "compare.html", sections=COMPARED_SECTIONS, **shown)
    with Reader(browser) as reader:
        page = reader.open(folder / "compare.html")
        page.wait_for_function("document.querySelector('.verdict').textContent")
        yield page
        assert reader.faults == []


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
def test_ties_are_counted_and_what_is_missing_has_its_reason(browser, tmp_path, errors, expected):
    with opened(browser, tmp_path, *errors) as page:
        assert expected in page.text_content(".verdict")


def test_the_errors_of_each_function_have_a_scale_of_their_own(browser, tmp_path):
    """The error of a small function is not drawn on the scale of a large one."""
    field, place = [[1.0, 2.0], [3.0, 4.0]], [0.0, 1.0]
    errors = [[[5.0, 1.0], [1.0, 1.0]], [[0.01, 0.02], [0.0, 0.0]]]
    sample = {"which": "common", "sample": 0, "relative_l2": 0.1, "input": [field], "target": [field, field]}
    run = {"samples": [sample | {"error": errors}], "quantities": ["u", "v"], "dimension": 2}
    run |= dict.fromkeys(("x", "y", "x_target", "y_target"), place)
    with opened(browser, tmp_path, [0.1], [0.2], run=run) as page:
        page.evaluate("document.querySelector('.plot.predictions').scrollIntoView()")
        page.wait_for_function("document.querySelector('.plot.predictions').data")
        drawn = page.evaluate("document.querySelector('.plot.predictions').data.map((one) => one.zmax)")
        titles = page.evaluate(
            "document.querySelector('.plot.predictions').layout.annotations.map((one) => one.text)"
        )
    assert [drawn[at] for at in (3, 4, 8, 9)] == [5, 5, 0.02, 0.02]
    assert len(set(titles)) == 10
