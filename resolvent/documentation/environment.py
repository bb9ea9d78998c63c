"""environment.yml from pyproject.toml and constraints.txt: `python -m resolvent.documentation.environment`
writes it.

conda brings Python, pip brings the pinned direct dependencies: the versions are those that pip users have.
"""

from __future__ import annotations

import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from resolvent.documentation.pages import ROOT

HEAD = """\
# For conda users; written by `make environment.yml` from pyproject.toml and constraints.txt.
name: resolvent
channels:
  - conda-forge
dependencies:
  - python=3.11
  - pip
  - pip:
"""


def environment_text() -> str:
    """Return the content that environment.yml should have.

    Raises `KeyError` when a dependency of pyproject.toml has no pin in constraints.txt.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pins = {
        canonicalize_name(name): pin for name, found, pin in (line.partition("==") for line in lines) if found
    }
    text = HEAD
    for dependency in map(Requirement, [*project["dependencies"], *project["optional-dependencies"]["dev"]]):
        extras = f"[{','.join(sorted(dependency.extras))}]" if dependency.extras else ""
        text += f"      - {dependency.name}{extras}=={pins[canonicalize_name(dependency.name)]}\n"
    return text


if __name__ == "__main__":
    (ROOT / "environment.yml").write_text(environment_text())
