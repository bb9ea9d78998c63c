"""Add the workflow to the wheel: Snakefile, rules, scripts, profiles and configuration."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

WORKFLOW_FILES = (
    "Snakefile", "config.yaml", "config", "workflow", "environment.yml", "LICENSE", "tests/golden",
)  # fmt: skip


class BuildWithWorkflow(build_py):
    """Copy the workflow files into the built package; an editable install finds them in the checkout."""

    def run(self):
        super().run()
        for name in () if self.editable_mode else WORKFLOW_FILES:
            to = Path(self.build_lib, "resolvent", name)
            if Path(name).is_dir():
                shutil.copytree(name, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(name, to)


setup(cmdclass={"build_py": BuildWithWorkflow})
