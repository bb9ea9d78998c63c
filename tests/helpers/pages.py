"""What the pages of the results load and link to."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

SHELL = {"style.css", "sortable.js", "page.js", "index.html"}


def links(page: str) -> set[str]:
    """Return what a page's text refers to, without its own anchors, inlined data and what all pages have.

    Fails where the page loads anything from elsewhere than the study's own folders.
    """
    assert not re.search(r"@import|url\(|fetch\(|<iframe|<base", page)
    assert not re.search(r'(?:src|href|srcset|action)="(?:\w+:)?//', page)
    loaded = set(re.findall(r'(?:src|href)="(?!#|data:)([^"]*)"', page))
    shell = {one for one in loaded if one.partition("#")[0].rpartition("/")[2] in SHELL}
    assert {one.partition("#")[0].rpartition("/")[2] for one in shell} == SHELL
    return loaded - shell


def missing(found: set[str], folder: Path) -> list[str]:
    """Return those links of a page in `folder` that lead to no file."""
    return sorted(one for one in found if not (folder / one.partition("#")[0]).exists())


class _Page(HTMLParser):
    """The ids of a page, and all that it refers to."""

    def __init__(self, path: Path):
        super().__init__()
        self.ids, self.references = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given["id"]} if "id" in given else set()
        self.references += [given[name] for name in ("href", "src") if name in given]


def broken_links(root: Path) -> list[str]:
    """Return every reference of the pages below `root` to a file or an anchor that is not there."""
    files = [path for path in root.rglob("*.html") if "<html" in path.read_text(encoding="utf-8")]
    assert files
    pages = {path.resolve(): _Page(path) for path in files}
    broken = []
    for path, page in pages.items():
        for reference in page.references:
            if reference.startswith("data:"):
                continue
            file, _, anchor = unquote(reference).partition("#")
            target = (path.parent / file).resolve() if file else path
            anchor = "" if "/" in anchor else anchor  # which two runs to compare
            if not target.exists() or (anchor and anchor not in pages[target].ids):
                broken.append(f"{path.relative_to(root.resolve())}: {reference}")
    return broken
