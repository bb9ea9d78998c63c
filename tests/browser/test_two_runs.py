"""The page that compares two runs counts ties and says why there is no interval, in a real browser."""

import json

import pytest
from browser import Reader, chromium

from resolvent.figures.common.assets import write_assets
from resolvent.figures.common.page import render


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


def words_of(browser, folder, *errors):
    """Return what the page says of runs with these errors by test sample."""
    runs = [
        {"label": "FNO", "where": "n = 8", "seed": seed, "folder": f"{seed}", "diverged": None}
        | {"errors": dict(enumerate(values))}
        for seed, values in enumerate(errors)
    ]
    write_assets(folder / "assets")
    empty = {"samples": [], "quantities": ["u", "v"], "dimension": 1}
    for seed in range(len(runs)):
        (folder / str(seed)).mkdir()
        (folder / f"{seed}/run.js").write_text(f'resolventData("run", {json.dumps(empty)});')
    data = {"runs": runs, "pairs": []}
    (folder / "runs.js").write_text(f'resolventData("runs", {json.dumps(data)});')
    shown = {"root": folder, "breadcrumbs": [("Two runs", "")], "title": "Burgers", "runs": []}
    render("compare.html.j2", folder / "compare.html", **shown)
    with Reader(browser) as reader:
        page = reader.open(folder / "compare.html")
        page.wait_for_function("document.querySelector('.verdict').textContent")
        assert reader.faults == []
        return page.text_content(".verdict")


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
    assert expected in words_of(browser, tmp_path, *errors)
