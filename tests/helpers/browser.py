"""Chromium without a window and without a network, as a reader of the pages has it."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = [
    "--no-sandbox",  # root has none
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# To preload is to ask for the style by script, which pages opened from disk may not.
AXE = {"resultTypes": ["violations"], "preload": False}
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@contextmanager
def chromium():
    """Start the browser that `make browser` finds or installs; end it afterwards."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    with sync_playwright() as playwright:
        path = found or playwright.chromium.executable_path
        if not Path(path).exists():
            pytest.fail("there is no Chromium for the tests of the pages: run `make browser`")
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


class Reader:
    """Opens pages from disk, and remembers what went wrong there."""

    def __init__(self, browser, *, viewport=WIDE, scheme="light", reduced_motion="no-preference"):
        self.context = browser.new_context(
            viewport=viewport, color_scheme=scheme, reduced_motion=reduced_motion, offline=True
        )
        self.context.set_default_timeout(10_000)
        self.faults: list[str] = []

    def open(self, path: Path):
        """Return the opened page; its errors, and what it asks for and does not get, become faults."""
        page = self.context.new_page()

        def fault(words: str) -> None:
            self.faults.append(f"{path.name}: {words}")

        page.on("console", lambda message: message.type in ("error", "warning") and fault(message.text))
        page.on("pageerror", lambda error: fault(str(error)))
        # A film is asked for in parts, and given up where it is not played: no fault of the page.
        page.on("requestfailed", lambda one: one.failure == "net::ERR_ABORTED" or fault(f"lost: {one.url}"))
        page.on("request", lambda one: one.url.startswith(("file:", "data:", "blob:")) or fault(one.url))
        page.goto(path.absolute().as_uri())
        return page

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()


def see_charts(page, most: int | None = None) -> int:
    """Scroll to every chart, or to the first `most`, until it is drawn; returns how many these are."""
    charts = page.locator("figure.chart:has(.plot)")
    count = min(charts.count(), most or charts.count())
    for number in range(count):
        charts.nth(number).scroll_into_view_if_needed()
        charts.nth(number).locator(".main-svg").first.wait_for()
    return count
