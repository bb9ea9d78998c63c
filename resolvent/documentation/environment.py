"""Write environment.yml from pyproject.toml and constraints.txt.

Run `python -m resolvent.documentation.environment`. conda installs Python, and pip installs the pinned direct
dependencies in the same versions as for pip users.
"""

import re
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from resolvent.documentation.pages import ROOT


def environment_text() -> str:
    """Return the content of environment.yml with its present head.

    Raises `KeyError` if a dependency in pyproject.toml has no pin in constraints.txt for this Python.
    """
    head, begin, _ = (ROOT / "environment.yml").read_text().partition("  - pip:\n")
    (python,) = re.findall(r"- python=(.+)", head)
    pinned, text = pins(python), head + begin
    for dependency in dependencies("dev"):
        extras = f"[{','.join(sorted(dependency.extras))}]" if dependency.extras else ""
        text += f"      - {dependency.name}{extras}=={pinned[canonicalize_name(dependency.name)]}\n"
    return text


def dependencies(*extras: str) -> list[Requirement]:
    """Return the requirements in pyproject.toml, including `extras` and the extras that they include."""
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
    """Return the pinned versions in constraints.txt by package, for Linux and `python`, such as "3.11"."""
    machine = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": "linux"}
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    return {
        canonicalize_name(one.name): str(one.specifier).removeprefix("==")
        for one in map(Requirement, lines)
        if one.marker is None or one.marker.evaluate(machine)
    }


if __name__ == "__main__":
    (ROOT / "environment.yml").write_text(environment_text())
