"""Write environment.yml from pyproject.toml: `python docs/scripts/conda_environment.py`.

Packages come from conda-forge, under the names they have there; pip installs the others.
"""

import re
import tomllib

from packaging.requirements import Requirement
from page_parts import ROOT

NAMES = {"dask": "dask-core", "matplotlib": "matplotlib-base", "torch": "pytorch"}
# Snakemake is in another channel; conda-forge's newest latex2mathml was 3.78 when this was written.
BY_PIP = ("latex2mathml", "snakemake")


def environment_text() -> str:
    """Return the content of environment.yml; its head, down to Python, is kept."""
    head, python, _ = re.split(r"(  - python=.+\n)", (ROOT / "environment.yml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = map(Requirement, project["dependencies"] + project["optional-dependencies"]["neuraloperator"])
    asked = {one.name: one.specifier for one in wanted}
    conda = [f"  - {NAMES.get(name, name)}{asked[name]}" for name in asked if name not in BY_PIP]
    pip = [f"      - {name}{asked[name]}" for name in BY_PIP]
    return head + python + "\n".join([*conda, "  - pip", "  - pip:", *pip, ""])


if __name__ == "__main__":
    (ROOT / "environment.yml").write_text(environment_text())
