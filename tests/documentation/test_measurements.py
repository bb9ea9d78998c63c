"""Every command of `make bench` has a place for what it writes, and no other command writes over it."""

import re
from pathlib import Path

import pytest

from benchmarks.runner import contents, measure_parts

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"-m benchmarks\.(\w+).* --output (\S+)")


def sections() -> dict[str, Path]:
    """Return the sections that `make bench` writes, each with its page."""
    found = {}
    for module, page in COMMAND.findall((ROOT / "Makefile").read_text()):
        place = ROOT / "benchmarks" / module
        text = (place / "__main__.py" if place.is_dir() else place.with_suffix(".py")).read_text()
        found[re.search(r'\brun\(\s*"([\w-]+)"', text)[1]] = ROOT / page
    return found


def test_pages_have_a_section_for_each_benchmark_outside_those_of_the_others():
    of_page = sections()
    assert {"training", "solvers", "kolmogorov-threads", "precision"} <= of_page.keys()
    for section, page in of_page.items():
        inside = contents(page.read_text(), section)
        assert inside is not None, section
        assert not [other for other in of_page if f"<!-- {other}:begin -->" in inside], section


def test_a_page_without_the_section_is_refused_before_anything_is_measured(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A page\n")
    measured = []
    with pytest.raises(ValueError, match="the page has no section 'solvers'"):
        measure_parts("solvers", "", {"burgers": lambda: measured.append("burgers")}, ["burgers"], page)
    assert not measured
