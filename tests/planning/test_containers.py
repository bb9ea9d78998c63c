"""The recipes of the containers install what pip users install, from files that the project has."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INSTALLATION = "pip install --no-cache-dir --constraint constraints.txt ."
FILES = "pyproject.toml constraints.txt README.md"


@pytest.mark.parametrize("recipe", ["Dockerfile", "resolvent.def"])
def test_both_recipes_install_the_pinned_dependencies(recipe):
    text = (ROOT / "containers" / recipe).read_text()
    assert text.count(INSTALLATION) == 1
    assert f"{FILES} " in text
    assert "python:3.11-" in text
    assert all((ROOT / file).exists() for file in FILES.split())
