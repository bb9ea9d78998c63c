"""The documentation site: built without a warning, whole without a network, no link leads nowhere."""

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jupytext
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import AXE, PHONE, WIDE, Reader, chromium
from pages import Page
from planning_forks import run_code

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.docs
SPHINX = "import sys; from sphinx.cmd.build import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site, but that tutorials are not executed (test_tutorials.py does that)."""
    folder = tmp_path_factory.mktemp("site")
    words = ("-W", "--keep-going", "-n", "-q", "-D", "nb_execution_mode=off", str(ROOT / "docs"), str(folder))
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    status, output = run_code(ROOT, SPHINX, *words, environment=environment)
    assert status == 0, output
    return folder


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def pages(site):
    found = [path for path in site.rglob("*.html") if "_static" not in path.parts]  # the theme's own
    return {path: Page(path.read_text(encoding="utf-8")) for path in found}


def test_every_page_of_the_folder_is_in_the_site_with_one_main_heading(site, pages):
    wanted = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert not {name for name in wanted if not (site / name).exists()}
    assert [str(path.relative_to(site)) for path, page in pages.items() if page.headings != 1] == []


def test_no_link_leads_nowhere_and_nothing_is_loaded_from_a_network(site, pages):
    broken = []
    for path, page in pages.items():
        for link in page.references:
            parts = urlsplit(link)
            outside = link.startswith("//") or parts.scheme not in ("", "data")
            if outside and link in page.loaded:
                broken.append(f"{path.relative_to(site)} loads {link}")
            if parts.scheme or link.startswith("//") or path.name in ("search.html", "genindex.html"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            places = pages[target].places if target in pages else set()
            if not target.is_file() or (places and unquote(parts.fragment) not in {"", *places}):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize(
    ("name", "viewport", "scheme"),
    [
        ("api/resolvent.html", WIDE, "light"),  # signatures
        ("equations/burgers.html", PHONE, "dark"),  # formulas
        ("quickstart.html", PHONE, "light"),  # commands wider than the screen
    ],
)
def test_a_page_is_accessible(browser, site, name, viewport, scheme):
    with Reader(browser, viewport=viewport, scheme=scheme) as reader:
        page = reader.open(site / name)
        found = Axe().run(page, options=AXE).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert reader.faults == []


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("equations/burgers", "<math"),  # drawn without a script
        ("api/solvers", 'id="resolvent.solvers.burgers.equation.BurgersSolver.solve"'),
        ("api/solvers", "highest wavenumber along each axis"),
        ("api/resolvent", 'id="resolvent.public.datasets.open_dataset"'),
    ],
)
def test_formulas_and_docstrings_are_on_the_pages(site, page, words):
    text = (site / f"{page}.html").read_text(encoding="utf-8")
    assert words in text
    assert "MathJax" not in text


def test_all_pages_are_listed_for_language_models(site):
    lines = (site / "llms.txt").read_text(encoding="utf-8").partition("## Pages\n\n")[2].splitlines()
    listed = [re.fullmatch(r"- \[.+\]\((.+)\): \S.+", line)[1] for line in lines]
    pages = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted(str(path.with_suffix(".html")) for path in pages)


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


SEARCHES = {  # words of users, and pages of which one is to be among the first three results
    "custom dataset": "datasets",
    "irregular": "questions",
    "unstructured": "questions",
    "mesh": "questions",
    "windows": "questions",
    "license": "questions",
    "wandb": "questions",
    "colab": "questions",
    "normalisation": "how-to-choose datasets",
    "noise": "limitations datasets",
    "learning rate": "how-to-choose",
    "batch size": "how-to-choose",
    "resume": "jobs questions",
    "resume training": "questions jobs",
    "missing values": "datasets questions",
    "units": "datasets",
    "hugging face": "datasets",
    "seeds": "how-to-choose statistics",
    "leaderboard": "questions formats",
    "uncertainty": "use",
    "slurm": "cluster quickstart",
    "new model": "tutorials/own-model",
    "mixed precision": "questions gpus",
}


def test_searches_of_users_find_the_right_page_among_the_first_three(site, browser):
    page, missed = browser.new_page(), []
    for words, wanted in SEARCHES.items():
        page.goto(f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
        page.wait_for_selector("ul.search > li:nth-child(3), p.search-summary:has-text('found')")
        links = page.eval_on_selector_all("ul.search > li > a", "links => links.map(link => link.href)")
        names = [link.partition(f"{site.name}/")[2].partition(".html")[0] for link in links[:3]]
        if not set(names) & set(wanted.split()):
            missed.append(f"{words}: {names}")
    page.close()
    assert missed == []
