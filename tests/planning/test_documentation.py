"""Pages that a command writes are in step with the code."""

from types import SimpleNamespace

import pytest

from resolvent.documentation import formats
from resolvent.documentation.configuration import configuration_page
from resolvent.documentation.datasets import accuracy
from resolvent.documentation.docstrings import as_restructured_text
from resolvent.documentation.environment import environment_text
from resolvent.documentation.house import house, imports_between_rooms, without_implied
from resolvent.documentation.pages import ROOT
from resolvent.figures.front import leaderboard


def test_the_configuration_page_is_in_step_with_the_settings():
    assert (ROOT / "docs/configuration.md").read_text(encoding="utf-8") == configuration_page(), (
        "run `make docs`"
    )


def test_the_picture_of_the_house_is_in_step_with_the_imports():
    assert (ROOT / "docs/images/house.svg").read_text(encoding="utf-8") == house(), "run `make docs`"


def test_an_arrow_that_follows_from_others_is_left_out():
    assert without_implied({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": {"b"}, "b": {"c"}, "c": set()}


def test_the_picture_has_the_imports_of_every_room():
    arrows = imports_between_rooms()
    assert arrows["datasets"] == {"common", "solvers"}
    assert set(arrows) == {file.name for file in (ROOT / "resolvent").iterdir() if file.is_dir()} - {
        "__pycache__"
    }


def between(page: str, name: str) -> str:
    text = (ROOT / page).read_text(encoding="utf-8")
    return text.partition(f"<!-- {name}:begin -->\n")[2].partition(f"\n<!-- {name}:end -->")[0]


@pytest.mark.parametrize("name", formats.tables())
def test_a_table_of_the_specification_is_in_step_with_the_classes(name):
    assert between("docs/formats.md", name) == formats.tables()[name], "run `make docs`"


def test_the_specification_has_the_columns_of_the_leaderboard():
    planned = SimpleNamespace(model="a", label="A", recipe=None, resolution=64, noise=0.0)
    row = SimpleNamespace(
        experiment="e", title="E", papers=[], planned=planned, runs=[], verdict="", seconds=None,
        tested=None, error=None, ratio=None, classical=None,
    )  # fmt: skip
    table = leaderboard.as_table(SimpleNamespace(rows=[row]))
    assert list(table) == list(formats.LEADERBOARD)


def test_the_table_of_the_first_page_has_the_numbers_of_the_page_of_datasets():
    table = accuracy(ROOT / "docs/datasets.md")
    assert between("docs/index.md", "accuracy") == table, "run `make docs`"
    assert between("README.md", "accuracy") == table.replace("](", "](docs/"), "run `make docs`"


def test_a_docstring_keeps_its_formulas_its_tables_and_its_sections():
    text = [
        *("Solve for |u|.", "", "    u_t = |u|", "    v = 1", "", "tau    a time, |t|", "       at least 0"),
        *("gamma  a rate", "", "Raises", "------", "ValueError", "    When it is negative.", ""),
    ]
    assert as_restructured_text(text) == [
        *("Solve for \\|u\\|.", "", "::", "", "    u_t = |u|", "    v = 1", ""),
        *("``tau``", "    a time, \\|t\\|", "    at least 0", "``gamma``", "    a rate", ""),
        *("Raises", "------", "ValueError", "    When it is negative.", ""),
    ]


def test_environment_yml_is_in_step_with_pyproject_and_constraints():
    assert (ROOT / "environment.yml").read_text() == environment_text(), "run `make environment.yml`"


@pytest.mark.parametrize("recipe", ["Dockerfile", "resolvent.def"])
def test_both_containers_install_the_pinned_dependencies(recipe):
    text = (ROOT / "containers" / recipe).read_text()
    files = "pyproject.toml constraints.txt README.md"
    assert text.count("pip install --no-cache-dir --constraint constraints.txt .") == 1
    assert f"{files} " in text
    assert "python:3.11-" in text
    assert all((ROOT / file).exists() for file in files.split())
