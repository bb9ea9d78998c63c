"""What the pages of the results and of the documentation load and link to."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

SHELL = {"style.css", "sortable.js", "page.js", "index.html"}


class Page(HTMLParser):
    """The places of a page, all that it refers to, and of these what it loads; its main headings."""

    def __init__(self, text: str):
        super().__init__()
        self.places, self.references, self.loaded, self.headings = set(), [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = {name: value for name, value in attributes if value}
        self.headings += tag == "h1"
        self.places |= {given[name] for name in ("id", "name") if name in given}
        found = [given[name] for name in ("href", "src") if name in given]
        self.references += found
        if "src" in given or (tag == "link" and given.get("rel") not in ("next", "prev")):
            self.loaded += found


def links(page: str) -> set[str]:
    """Return what a page's text refers to, without its own anchors, inlined data and what all pages have.

    Fails where the page loads anything from elsewhere than the study's own folders.
    """
    assert not re.search(r"@import|url\(|fetch\(|<iframe|<base", page)
    found = {one for one in Page(page).references if not one.startswith(("#", "data:"))}
    assert not [one for one in found if "//" in one]
    shell = {one for one in found if one.partition("#")[0].rpartition("/")[2] in SHELL}
    assert {one.partition("#")[0].rpartition("/")[2] for one in shell} == SHELL
    return found - shell


def missing(found: set[str], folder: Path) -> list[str]:
    """Return those links of a page in `folder` that lead to no file."""
    return sorted(one for one in found if not (folder / one.partition("#")[0]).exists())


def broken_links(root: Path) -> list[str]:
    """Return every reference of the pages below `root` to a file or an anchor that is not there."""
    files = {path.resolve(): path.read_text(encoding="utf-8") for path in root.rglob("*.html")}
    pages = {path: Page(text) for path, text in files.items() if "<html" in text}
    assert pages
    broken = []
    for path, page in pages.items():
        for reference in (one for one in page.references if not one.startswith("data:")):
            file, _, anchor = unquote(reference).partition("#")
            target = (path.parent / file).resolve() if file else path
            anchor = "" if "/" in anchor else anchor  # which two runs to compare
            if not target.exists() or (anchor and anchor not in pages[target].places):
                broken.append(f"{path.relative_to(root.resolve())}: {reference}")
    return broken
