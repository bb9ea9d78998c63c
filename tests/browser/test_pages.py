"""A page of each kind of a finished study, opened from disk in a real browser with the network cut."""

import math
import re
from contextlib import suppress

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import AXE, PHONE, WIDE, Reader, chromium, see_charts
from pipeline_project import built_once
from playwright.sync_api import TimeoutError


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return the results of the test configuration: two experiments, one of them with a diverged run."""
    return built_once(tmp_path_factory).folder / "results/test"


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def report(study):
    """Return the page of an experiment."""
    return study / "burgers/report.html"


@pytest.fixture(scope="module")
def drawn(browser, report):
    """Return the opened page of an experiment, with all of its charts, for tests that leave it as it was."""
    with Reader(browser) as reader:
        page = reader.open(report)
        assert see_charts(page)
        yield page
        assert reader.faults == []


KINDS = (
    "index.html", "cao2021.html", "burgers/report.html", "burgers/compare.html", "datasets/burgers.html",
    "burgers/fno/n64/seed1127802/run.html", "burgers/unstable/n64/seed1127802/run.html",
)  # fmt: skip


# Widths change the layout, and schemes the colours: two of the four pairs hold both.
VIEWS = ((WIDE, "light"), (PHONE, "dark"))
COLOURS = AXE | {"runOnly": {"type": "rule", "values": ["color-contrast"]}}  # all that another scheme changes
# A type of chart that the pages' build of plotly.js lacks is drawn as a scatter, without a word.
DRAWN_AS_SCATTER = """[...document.querySelectorAll(".js-plotly-plot")].flatMap(plot => plot.data
    .filter((trace, number) => (trace.type ?? "scatter") !== plot._fullData[number].type)
    .map(({type}) => type))"""


@pytest.mark.parametrize("path", KINDS)
def test_a_page_needs_no_network_fits_the_screen_and_is_accessible(browser, study, path):
    with Reader(browser) as reader:
        page, violations = reader.open(study / path), []
        for number, (viewport, scheme) in enumerate(VIEWS):
            page.set_viewport_size(viewport)
            page.emulate_media(color_scheme=scheme)
            see_charts(page)
            with suppress(TimeoutError):  # a chart follows the window a moment later
                page.wait_for_function("document.documentElement.scrollWidth <= innerWidth", timeout=3000)
            assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
            violations += Axe().run(page, options=COLOURS if number else AXE).response["violations"]
        assert page.evaluate(DRAWN_AS_SCATTER) == []
        assert [one["id"] for one in violations if one["impact"] in ("serious", "critical")] == []
        if path.endswith(("index.html", "report.html")):  # the error is on the screen of a phone
            heads = page.locator("table thead th", has_text=re.compile(r"^\s*error", re.IGNORECASE))
            box = heads.first.bounding_box()
            assert 0 <= box["x"] < box["x"] + box["width"] <= PHONE["width"]
        assert reader.faults == []


def test_there_is_a_page_of_no_other_kind(study):
    names = {path.rpartition("/")[2] for path in KINDS}
    pages = [page for page in study.rglob("*.html") if "<!doctype html>" in page.read_text()[:100].lower()]
    assert [page for page in pages if page.name not in names and page.parent.name != "datasets"] == []


def test_a_table_is_sorted_by_mouse_and_by_keyboard(drawn):
    table = drawn.locator("table.sortable").first
    head = table.locator("thead th:has(button)", has_text=re.compile("error", re.IGNORECASE)).first
    column = head.evaluate("head => head.cellIndex")
    values = """([table, column]) => [...table.tBodies[0].rows].map(
        row => parseFloat(row.cells[column].dataset.sort)).filter(value => !isNaN(value))"""
    shown = [table.element_handle(), column]
    ascending = sorted(drawn.evaluate(values, shown))
    assert len(ascending) > 1
    in_order = f"([shown, wanted]) => JSON.stringify(({values})(shown)) == JSON.stringify(wanted)"
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    drawn.wait_for_function(in_order, arg=[shown, ascending])  # rows follow a moment later
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    drawn.wait_for_function(in_order, arg=[shown, ascending[::-1]])


def test_the_leaderboard_is_filtered(browser, study):
    with Reader(browser) as reader:
        page = reader.open(study / "index.html")
        form, rows = page.locator("form.filters").first, page.locator("#results tbody tr")
        label = rows.first.locator("th").inner_text().splitlines()[0]
        having = sum(label in row.text_content() for row in rows.all())
        for words, shown in ((label.upper(), having), ("no model has this name", 0)):
            form.locator("input[name=words]").fill(words)
            assert sum(row.is_visible() for row in rows.all()) == shown
        form.locator("[type=reset]").click()
        assert all(row.is_visible() for row in rows.all())


def test_a_chart_shows_values_on_hovering_and_a_click_hides_a_line(drawn):
    chart = drawn.locator("figure.chart:has(.plot .legend)").first
    chart.scroll_into_view_if_needed()
    point = chart.locator(".scatterlayer .point, .barlayer .point").first
    point.hover(force=True)
    chart.locator(".hoverlayer .hovertext").first.wait_for()
    assert chart.locator(".hoverlayer").first.text_content().strip()
    entry = chart.locator(".legend .traces").first
    before = entry.evaluate("entry => getComputedStyle(entry).opacity")
    entry.locator(".legendtoggle").click(force=True)
    drawn.wait_for_function(
        "([entry, was]) => getComputedStyle(entry).opacity !== was", arg=[entry.element_handle(), before]
    )


def test_logarithmic_axes_label_powers_alone_or_whole_numbers(drawn):
    axes = drawn.evaluate("""[...document.querySelectorAll(".js-plotly-plot")].flatMap((plot) =>
        Object.entries(plot.layout).filter(([name, axis]) => axis?.type === "log").map(([name, axis]) => {
            const layer = `.${name.replace("axis", "")}tick text`;
            return [axis.range, [...plot.querySelectorAll(layer)].map((text) => text.textContent)];
        }))""")
    labelled = [(ends, labels) for ends, labels in axes if labels]
    assert len(labelled) >= 3
    for (low, high), labels in labelled:
        assert len(labels) >= 2, (low, high, labels)
        for digit in set(labels) & set("23456789"):  # plotly's own are of an unknown power
            assert low <= math.log10(int(digit)) <= high, labels


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_text_of_charts_stands_out_from_the_page(drawn, scheme):
    drawn.emulate_media(color_scheme=scheme)
    drawn.wait_for_timeout(300)  # charts are drawn again
    brightness = (
        "colour => colour.match(/[0-9.]+/g).slice(0, 3).reduce((sum, one) => sum + Number(one), 0) / 765"
    )
    label = drawn.locator(".plot .xtick text").first
    text = label.evaluate(f"label => ({brightness})(getComputedStyle(label).fill)")
    paper = drawn.evaluate(f"({brightness})(getComputedStyle(document.body).backgroundColor)")
    assert abs(text - paper) > 0.5
    assert (paper < 0.3) == (scheme == "dark")


def test_a_page_is_printed_with_its_pictures_in_place_of_charts(drawn):
    drawn.emulate_media(media="print")
    figure = drawn.locator("figure.chart:has(.plot)").first
    assert figure.locator("img.static").is_visible()
    assert not figure.locator(".plot").is_visible()
    assert drawn.pdf()[:5] == b"%PDF-"
    drawn.emulate_media(media="screen")


def test_without_script_tables_and_pictures_are_there(browser, study, report):
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    for path in (study / "index.html", report):
        page.goto(path.as_uri())
        assert page.locator("table").first.is_visible()
        assert all(image.is_visible() for image in page.locator("figure.chart img.static").all())
    context.close()


def test_what_is_asked_first_is_two_clicks_from_the_front_page(browser, study):
    with Reader(browser) as reader:
        page = reader.open(study / "index.html")
        page.set_default_timeout(60_000)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('href')") == "#content"
        page.keyboard.press("Enter")
        assert page.url.endswith("#content")

        def follow(*links: str) -> None:
            """Open the front page and click, one after the other."""
            page.goto((study / "index.html").absolute().as_uri())
            for link in links:
                one = page.locator(link).first
                target = one.get_attribute("href")
                one.click()
                page.wait_for_url(f"**{target}")

        follow(
            '#experiments a[href="burgers/report.html"]'
        )  # who is best, and whether the difference is real
        assert "has the lowest mean relative L² error" in page.locator(".lead").first.inner_text()
        follow('#datasets a[href="datasets/burgers.html"]', '.menu a[href="#errors"]')  # how wrong labels are
        assert page.locator("#errors table").first.is_visible()
        assert "Stated accuracy" in page.locator("main > header").inner_text()
        run = '#results tr:not(:has-text("diverged")) a[href$="run.html"]'
        follow(run, 'a[data-sample="worst"]')  # the worst sample of a model
        page.locator("#samples .main-svg").first.wait_for()
        assert "(worst)" in page.locator("#samples .words").inner_text()
        page.wait_for_function("document.querySelector('#samples').getBoundingClientRect().top < innerHeight")
        follow(run, '.menu a[href="#again"]')  # its command, and its checkpoint
        assert page.locator("#again pre", has_text="snakemake --cores 2").is_visible()
        assert page.locator('#again a[href="checkpoint.pt"]').is_visible()
        follow('#papers a[href="cao2021.html#table2a"]')  # what of a table of a paper is reproduced
        assert page.locator("#table2a table").first.is_visible()
        assert reader.faults == []
