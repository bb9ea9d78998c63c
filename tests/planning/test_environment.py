"""One source of dependencies: pyproject.toml, pinned by constraints.txt, read by conda in environment.yml."""

from resolvent.documentation.environment import ROOT, environment_text


def test_environment_yml_is_in_step_with_pyproject_and_constraints():
    assert (ROOT / "environment.yml").read_text() == environment_text(), "run `make environment.yml`"
