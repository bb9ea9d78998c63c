"""environment.yml from pyproject.toml and constraints.txt: `python -m resolvent.documentation.environment`
writes it.

conda brings Python, pip brings the pinned direct dependencies: the versions are those that pip users have.
"""

import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from resolvent.documentation.pages import ROOT


def environment_text() -> str:
    """Return the content that environment.yml should have, whose head stays as it is.

    Raises `KeyError` when a dependency of pyproject.toml has no pin in constraints.txt.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pins = {
        canonicalize_name(name): pin for name, found, pin in (line.partition("==") for line in lines) if found
    }
    head, begin, _ = (ROOT / "environment.yml").read_text().partition("  - pip:\n")
    text = head + begin
    for dependency in map(Requirement, [*project["dependencies"], *project["optional-dependencies"]["dev"]]):
        extras = f"[{','.join(sorted(dependency.extras))}]" if dependency.extras else ""
        text += f"      - {dependency.name}{extras}=={pins[canonicalize_name(dependency.name)]}\n"
    return text


if __name__ == "__main__":
    (ROOT / "environment.yml").write_text(environment_text())
