"""Every exhibit has a section of a page, every section its texts, and no template names a figure."""

import importlib
import re

import pytest

from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.page import TEMPLATES
from resolvent.figures.dataset import page as of_dataset
from resolvent.figures.experiment import report
from resolvent.figures.front import page as front
from resolvent.figures.run import page as of_run
from resolvent.planning.places import PACKAGE

SECTIONS = {  # by template
    "report": report.SECTIONS,
    "run": of_run.SECTIONS,
    "compare": of_run.COMPARED_SECTIONS,
    "dataset": of_dataset.SECTIONS,
    "front": front.SECTIONS,
}
EXHIBITS = [
    exhibit for sections in SECTIONS.values() for one in sections for exhibit in one.exhibits.values()
]
OF_EVERY_PAGE = {"title", "header", "main", "above", "scripts"}  # blocks of base.html.j2


def test_every_exhibit_is_in_a_section():
    shown = {id(one) for exhibit in EXHIBITS for one in (exhibit, exhibit.still) if one}
    without = []
    for file in (PACKAGE / "figures").rglob("*.py"):
        module = ".".join(("resolvent", *file.relative_to(PACKAGE).with_suffix("").parts))
        if file.name in ("__init__.py", "__main__.py"):
            continue
        for name, value in vars(importlib.import_module(module)).items():
            if isinstance(value, Exhibit) and id(value) not in shown:
                without.append(f"{module}.{name} is in no section: add it to SECTIONS of its page")
    assert without == []


@pytest.mark.parametrize("name", SECTIONS)
def test_every_block_of_a_template_is_shown_and_every_section_has_content(name):
    template = (TEMPLATES / f"{name}.html.j2").read_text(encoding="utf-8")
    blocks = set(re.findall(r"{% block (\w+) %}", template)) - OF_EVERY_PAGE
    sections = {section.name: section for section in SECTIONS[name]}
    assert len(sections) == len(SECTIONS[name])
    assert {block.removesuffix("_below") for block in blocks} <= set(sections)
    own = {report.OWN.name}  # its exhibits are the user's
    without = [key for key, one in sections.items() if not one.exhibits and key not in blocks]
    assert set(without) <= own


def test_templates_name_no_figure():
    names = {name for sections in SECTIONS.values() for section in sections for name in section.exhibits}
    for file in TEMPLATES.glob("*.j2"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"figures?\.(?:" + "|".join(names) + r")\b", text), file
        if file.name not in ("macros.html.j2", "base.html.j2"):
            assert not re.search(r"\b(chart|viewer|film_player)\(", text), file
