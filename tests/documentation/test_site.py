"""The documentation site: built without a warning, whole without a network, no link leads nowhere."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jupytext
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import AXE, PHONE, WIDE, Reader, chromium

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^(`{3,4}|:::).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`]+`")
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("source", "src"), ("iframe", "src")}


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Build the site, but that tutorials are not executed (test_tutorials.py does that)."""
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-n",
        "-q",
        "-D",
        "nb_execution_mode=off",
    ]
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [*command, str(ROOT / "docs"), str(folder)], env=environment, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


class Page(HTMLParser):
    """What a page of the site links to, what it loads, and the names of its places."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.places, self.headings = [], [], set(), 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        self.headings += tag == "h1"
        for key in ("href", "src"):
            if (tag, key) in LOADED and key in attributes and attributes.get("rel") not in ("next", "prev"):
                self.loaded.append(attributes[key])
            elif key in attributes:
                self.links.append(attributes[key])


@pytest.fixture(scope="session")
def pages(site):
    found = [path for path in site.rglob("*.html") if "_static" not in path.parts]  # the theme's own
    return {path: Page(path.read_text(encoding="utf-8")) for path in found}


def test_every_page_of_the_folder_is_in_the_site(site):
    wanted = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert not {name for name in wanted if not (site / name).exists()}


def test_no_link_leads_nowhere(site, pages):
    broken = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//") or path.name in ("search.html", "genindex.html"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            places = pages[target].places if target in pages else set()
            if not target.is_file() or (places and unquote(parts.fragment) not in {"", *places}):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken, "\n".join(broken)


def test_nothing_is_loaded_from_a_network(site, pages):
    found = {
        f"{path.relative_to(site)}: {link}"
        for path, page in pages.items()
        for link in page.loaded
        if urlsplit(link).scheme not in ("", "data") or link.startswith("//")
    }
    assert not found, "\n".join(sorted(found))


def test_every_page_has_one_main_heading(pages, site):
    found = [str(path.relative_to(site)) for path, page in pages.items() if page.headings != 1]
    assert found == []


@pytest.mark.parametrize(
    ("name", "viewport", "scheme"),
    [
        ("api/resolvent.html", WIDE, "light"),  # signatures
        ("equations/burgers.html", PHONE, "dark"),  # formulas
        ("uses.html", PHONE, "light"),  # commands wider than the screen
    ],
)
def test_a_page_is_accessible(browser, site, name, viewport, scheme):
    with Reader(browser, viewport=viewport, scheme=scheme) as reader:
        page = reader.open(site / name)
        found = Axe().run(page, options=AXE).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert reader.faults == []


def test_formulas_are_drawn_without_a_script(site):
    text = (site / "equations/burgers.html").read_text(encoding="utf-8")
    assert "<math" in text
    assert "MathJax" not in text


def test_docstrings_are_on_the_pages_of_the_api(site):
    solvers = (site / "api/solvers.html").read_text(encoding="utf-8")
    assert 'id="resolvent.solvers.burgers.split_step.BurgersSplitStep.solve"' in solvers
    assert "highest wavenumber integrated" in solvers
    public = (site / "api/resolvent.html").read_text(encoding="utf-8")
    assert 'id="resolvent.public.datasets.open_dataset"' in public


@pytest.mark.parametrize("package", ["solvers", "models"])
def test_every_module_has_a_place_on_the_page_of_its_package(package):
    text = (ROOT / f"docs/api/{package}.md").read_text(encoding="utf-8")
    named = re.findall(r"automodule:: resolvent\.(\S+)", text)
    assert len(named) == len(set(named))
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / package).rglob("*.py")
        if path.name != "__init__.py"
    }
    assert set(named) == modules


def test_tutorials_are_there_as_notebooks(site):
    pages = (ROOT / "docs/tutorials").glob("*.md")
    tutorials = [path for path in pages if path.read_text(encoding="utf-8").startswith("---\njupytext:")]
    assert len(tutorials) >= 4
    for path in tutorials:
        notebook = jupytext.read(site / f"tutorials/{path.stem}.ipynb")
        code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        assert code == [cell.source for cell in jupytext.read(path).cells if cell.cell_type == "code"]
        page = (site / f"tutorials/{path.stem}.html").read_text(encoding="utf-8")
        assert f'href="{path.stem}.ipynb" download' in page


def slug(heading: str) -> str:
    """Return the name that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_a_page_work_in_the_repository(page):
    text = CODE.sub("", FENCED.sub("", page.read_text(encoding="utf-8")))
    for link in LINK.findall(text):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        assert target.exists(), link
        if parts.fragment and target.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert parts.fragment in map(slug, headings), link
