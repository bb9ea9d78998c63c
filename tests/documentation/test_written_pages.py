"""What a command writes into pages is in step with the code, and each part has its place."""

import re
import tomllib
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace, UnionType
from typing import Annotated, NotRequired, Union, get_args, get_origin, get_type_hints

import pytest
import yaml
from conda_environment import BY_PIP, NAMES, environment_text
from configuration_keys import keys
from default_run import overview
from measured_datasets import accuracy
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from page_parts import ROOT, table, write_part
from paper_sizes import size_sections
from typer.main import get_command

from benchmarks.__main__ import PAGE as PERFORMANCE
from benchmarks.runner import measure_parts
from benchmarks.summary import summary
from resolvent.__main__ import app
from resolvent.common import cards, predictions, records
from resolvent.figures.common import comparison
from resolvent.figures.experiment import scaling
from resolvent.figures.front import leaderboard

PAGE = "# Title\n\n<!-- errors:begin -->\nold\n<!-- errors:end -->\n\nThe end.\n"
TYPES = {
    "str": "text",
    "int": "integer",
    "float": "number",
    "dict": "mapping",
    "list": "list",
    "NoneType": "null",
}


def test_a_part_is_written_between_its_comments_or_leaves_the_page(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    write_part("page.md", None, "errors", "make runs", root=page.parent)
    assert "`make runs`" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"page\.md lacks the comments <!-- others:begin --> and <!"):
        write_part("page.md", "new", "others", root=page.parent)
    with pytest.raises(ValueError, match="the page has no section 'solvers'"):
        measure_parts("solvers", {"burgers": lambda: pytest.fail("measured")}, ["burgers"], page)
    assert page.read_text() == PAGE
    write_part("page.md", "new", "errors", root=tmp_path)
    assert page.read_text() == PAGE.replace("old", "new")


def test_a_bar_in_a_cell_does_not_end_it():
    assert table(("k", "value"), [("|k|", "1")]) == "| k | value |\n|---|---|\n| \\|k\\| | 1 |"


def between(page: Path, name: str) -> str:
    _, found, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name}:begin -->\n")
    assert found, f"{page} has no place for {name}"
    return rest.partition(f"\n<!-- {name}:end -->")[0]


def test_parts_are_in_step_with_what_they_are_written_from():
    assert between(ROOT / "docs/configuration.md", "keys") == keys(), "run `make docs`"
    assert (ROOT / "environment.yml").read_text() == environment_text(), "run `make environment.yml`"
    assert between(ROOT / "docs/default-run.md", "overview") == overview(ROOT), "run `make docs`"
    found = accuracy(ROOT / "docs/datasets.md")
    assert between(ROOT / "docs/index.md", "accuracy") == found, "run `make docs`"
    assert between(ROOT / "README.md", "accuracy") == found.replace("](", "](docs/"), "run `make docs`"


def rows(name: str) -> list[list[str]]:
    """Return the cells of a table of docs/formats.md, names without their marks."""
    lines = between(ROOT / "docs/formats.md", name).splitlines()[2:]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in lines]
    assert all(words for *_, words in cells)
    return [[first.strip("`"), *others] for first, *others in cells]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("predictions", predictions.WORDS),
        ("comparison", comparison.COMPARISON_COLUMNS),
        ("models", comparison.MODELS_COLUMNS),
        ("inference", records.INFERENCE_COLUMNS),
        ("estimates", records.ESTIMATE_COLUMNS),
        ("scaling", scaling.SCALING_COLUMNS),
    ],
)
def test_the_specification_has_the_columns_and_words_of_a_table(name, columns):
    assert rows(name) == [[column, words.replace("|", r"\|")] for column, words in columns.items()]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("card", cards.Card),
        ("check", cards.Check),
        ("receipt", cards.Receipt),
        ("run", records.RunRecord),
        ("cost", records.CostRecord),
        ("tuned", records.TunedRecord),
        ("baselines", records.BaselinesRecord),
        ("baseline", records.BaselineCost),
    ],
)
def test_the_specification_has_the_keys_and_types_of_a_record(name, kind):
    hints = get_type_hints(kind, include_extras=True)
    if not is_dataclass(kind):  # more keys of some cards are described in words
        optional = {key for key, hint in hints.items() if get_origin(hint) is NotRequired}
        expected = [
            [key, words_of(get_args(hint)[0]) + ", optional" if key in optional else words_of(hint)]
            for key, hint in hints.items()
            if key not in optional or kind is cards.Check
        ]
    else:
        expected = []
        for one in fields(kind):
            optional = one.default is not MISSING or one.default_factory is not MISSING
            expected.append([one.name, words_of(hints[one.name]) + ", optional" * optional])
    assert [[key, types] for key, types, _ in rows(name)] == expected


def words_of(annotation) -> str:
    """Return the words for a type: "integer or text", "mapping"."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return words_of(parts[0])
    if origin in (Union, UnionType):
        return " or ".join(map(words_of, parts))
    return TYPES.get((origin or annotation).__name__, "mapping")  # a mapping with keys of its own


def test_the_specification_has_the_columns_of_the_leaderboard():
    planned = SimpleNamespace(model="a", label="A", recipe=None, resolution=64, noise=0.0)
    row = SimpleNamespace(
        experiment="e", title="E", papers=[], planned=planned, runs=[], verdict="", seconds=None,
        tested=None, error=None, ratio=None, classical=None, pays=None,
    )  # fmt: skip
    assert list(leaderboard.as_table(SimpleNamespace(rows=[row]))) == [
        name for name, _ in rows("leaderboard")
    ]


def test_the_summary_of_the_page_of_performance_is_that_of_its_tables():
    page = ROOT / PERFORMANCE
    assert summary(SimpleNamespace(output=page)) in between(page, "bars"), (
        "run `python -m benchmarks.summary`"
    )


def test_parameters_stand_beside_the_papers():
    sections = size_sections()
    cao, calvello = sections["Cao 2021"], sections["Calvello et al. 2024"]
    assert "| `transformer1d` | 523k-530k | 530,305 | 1.001 |" in cao["Table 5, parameters"]
    assert "| `galerkin_encoder2d` fourier | 6.04e5 | 604,289 | 1.000 |" in calvello["Table 1, parameters"]


def test_every_python_that_is_allowed_has_a_pin_of_all_that_is_asked_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = list(map(Requirement, sum(project["optional-dependencies"].values(), project["dependencies"])))
    assert {one.name for one in asked} >= {*NAMES, *BY_PIP}
    allowed = [
        f"3.{minor}" for minor in range(30) if f"3.{minor}" in SpecifierSet(project["requires-python"])
    ]
    assert f"Resolvent needs Python {allowed[0]} to {allowed[-1]};" in (ROOT / "Makefile").read_text()
    assert {"3.11", "3.13"} <= set(allowed)
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    for python in allowed:
        machine = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": "linux"}
        pinned = {
            canonicalize_name(one.name): str(one.specifier).removeprefix("==")
            for one in pins
            if one.marker is None or one.marker.evaluate(machine)
        }
        for one in asked:
            assert one.name == "resolvent" or pinned[canonicalize_name(one.name)] in one.specifier, one


def test_the_file_for_continuous_integration_takes_this_version_and_known_commands():
    text = re.search(r"```yaml\n(.+?)```", (ROOT / "docs/quickstart.md").read_text(), re.DOTALL)[1]
    runs = [one["run"] for one in yaml.safe_load(text)["jobs"]["study"]["steps"] if "run" in one]
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f" --branch v{version} " in runs[0]
    assert {one.split()[1] for one in runs if one.startswith("resolvent ")} <= set(get_command(app).commands)


@pytest.mark.parametrize("recipe", ["Dockerfile", "resolvent.def"])
def test_both_containers_install_the_pinned_dependencies(recipe):
    text = (ROOT / "containers" / recipe).read_text()
    files = "pyproject.toml constraints.txt README.md"
    assert text.count('pip install --no-cache-dir --constraint constraints.txt ".[neuraloperator]"') == 1
    assert f"{files} " in text
    assert "python:3.11-" in text
    assert all((ROOT / file).exists() for file in files.split())
