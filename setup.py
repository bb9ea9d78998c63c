"""Put what lies beside the package into the wheel: Snakefile, rules, scripts, profiles and configuration."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

BESIDE = ("Snakefile", "config.yaml", "config", "workflow", "environment.yml", "LICENSE")


class BuildWithWorkflow(build_py):
    """Copy what `BESIDE` names into the package that is built; an editable install finds it where it is."""

    def run(self):
        super().run()
        for name in () if self.editable_mode else BESIDE:
            to = Path(self.build_lib, "resolvent", name)
            if Path(name).is_dir():
                shutil.copytree(name, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(name, to)


setup(cmdclass={"build_py": BuildWithWorkflow})
