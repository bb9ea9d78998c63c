"""Links between pages work in the repository, and pages of the API name every module."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^(`{3,4}|:::).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`]+`")


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


def slug(heading: str) -> str:
    """Return the name that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def test_links_of_pages_work_in_the_repository():
    broken = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for link in LINK.findall(CODE.sub("", FENCED.sub("", page.read_text(encoding="utf-8")))):
            parts = urlsplit(link)
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if parts.scheme or (target.exists() and not (parts.fragment and target.suffix == ".md")):
                continue
            text = target.read_text(encoding="utf-8") if target.exists() else ""
            if parts.fragment not in map(slug, re.findall(r"^#+ (.*)$", text, re.MULTILINE)):
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert broken == []
