"""environment.yml from pyproject.toml and constraints.txt: `python -m resolvent.documentation.environment`
writes it.

conda brings Python, pip brings the pinned direct dependencies: the versions are those that pip users have.
"""

from __future__ import annotations

import re
import tomllib

from resolvent.documentation.pages import ROOT


def environment_text() -> str:
    """Return the content that environment.yml should have.

    Raises
    ------
    KeyError
        When a dependency of pyproject.toml has no pin in constraints.txt.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pins = dict(
        line.split("==")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line and not line.startswith("#")
    )
    pins = {_canonical(name): pin for name, pin in pins.items()}
    requirements = []
    for dependency in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        name = re.match(r"[A-Za-z0-9._-]+(\[[a-z0-9,]+\])?", dependency).group()
        requirements.append(f"{name}=={pins[_canonical(name.partition('[')[0])]}")
    lines = [
        "# For conda users; written by `make environment.yml` from pyproject.toml and constraints.txt.",
        "name: resolvent",
        "channels:",
        "  - conda-forge",
        "dependencies:",
        "  - python=3.11",
        "  - pip",
        "  - pip:",
        *(f"      - {requirement}" for requirement in requirements),
    ]
    return "\n".join(lines) + "\n"


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    (ROOT / "environment.yml").write_text(environment_text())
