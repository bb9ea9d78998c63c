"""environment.yml from pyproject.toml and constraints.txt: `python -m resolvent.documentation.environment`
writes it.

conda brings Python, pip brings the pinned direct dependencies: the versions are those that pip users have.
"""

import re
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from resolvent.documentation.pages import ROOT


def environment_text() -> str:
    """Return the content that environment.yml should have, whose head stays as it is.

    Raises `KeyError` when a dependency of pyproject.toml has no pin in constraints.txt for its Python.
    """
    head, begin, _ = (ROOT / "environment.yml").read_text().partition("  - pip:\n")
    (python,) = re.findall(r"- python=(.+)", head)
    pinned, text = pins(python), head + begin
    for dependency in dependencies("dev"):
        extras = f"[{','.join(sorted(dependency.extras))}]" if dependency.extras else ""
        text += f"      - {dependency.name}{extras}=={pinned[canonicalize_name(dependency.name)]}\n"
    return text


def dependencies(*extras: str) -> list[Requirement]:
    """Return what pyproject.toml asks for, with what these extras add, and the extras that they name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional, found = project["optional-dependencies"], list(map(Requirement, project["dependencies"]))
    left = [Requirement(one) for extra in extras for one in optional[extra]]
    while left:
        one = left.pop(0)
        if one.name == project["name"]:
            left += [Requirement(named) for extra in sorted(one.extras) for named in optional[extra]]
        else:
            found.append(one)
    return found


def pins(python: str) -> dict[str, str]:
    """Return the versions that constraints.txt has for this Python, "3.11", on Linux, by name of package."""
    machine = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": "linux"}
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    return {
        canonicalize_name(one.name): str(one.specifier).removeprefix("==")
        for one in map(Requirement, lines)
        if one.marker is None or one.marker.evaluate(machine)
    }


if __name__ == "__main__":
    (ROOT / "environment.yml").write_text(environment_text())
