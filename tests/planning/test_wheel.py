"""The wheel has one top-level package, with the workflow in it, and runs from any folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pipeline_project import NOT_COPIED, ROOT, job_counts

STAND_IN = "def load_dataset():\n    return 'of another package'\n"
VERSIONS = """
from resolvent.planning.edits import changed_modules
from resolvent.planning.versions import PARTS, versions_of
print(versions_of("pages", *PARTS), changed_modules())
"""
FOUND = """
import datasets, resolvent, resolvent.models.registry, resolvent.solvers.registry
print(datasets.load_dataset(), resolvent.__file__, resolvent.solvers.__file__, sep="\\n")
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the installed wheel, beside a stand-in for another package called `datasets`."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "sources", ignore=NOT_COPIED, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    alone = ["--no-deps", "--no-index"]
    build = ["wheel", "--no-build-isolation", "--wheel-dir", str(folder), "."]
    subprocess.run([*pip, *build[:1], *alone, *build[1:]], cwd=folder / "sources", check=True)
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    (site / "datasets").mkdir(parents=True)
    (site / "datasets/__init__.py").write_text(STAND_IN)
    subprocess.run([*pip, "install", *alone, "--target", str(site), str(wheel)], check=True)
    return site


def printed(site: Path, folder: Path, *words: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_one_package_is_installed_and_leaves_others_whole(site, tmp_path):
    entries = {entry.name for entry in site.iterdir() if not entry.name.endswith(".dist-info")}
    assert entries == {"datasets", "resolvent", "bin"}
    assert (site / "datasets/__init__.py").read_text() == STAND_IN
    other, resolvent, solvers = printed(site, tmp_path, "-c", FOUND).splitlines()
    assert other == "of another package"
    assert Path(resolvent) == site / "resolvent/__init__.py"
    assert Path(solvers) == site / "resolvent/solvers/__init__.py"
    assert Path(printed(site, tmp_path, "-m", "resolvent", "where").strip()) == site / "resolvent"


def test_what_lies_beside_the_package_in_a_checkout_is_installed(site):
    code = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "resolvent").rglob("*.py"))
    named = re.findall(r'HOME / "([^"]+)"', code)
    assert {"LICENSE", "Snakefile"} <= set(named)
    assert [one for one in named if not (site / "resolvent" / one).exists()] == []


def test_the_installed_package_knows_the_tasks(site, tmp_path):
    said = printed(site, tmp_path, "-m", "resolvent", "tasks")
    assert said.splitlines()[0].startswith("burgers-v1 ")
    for one in (site / "resolvent/config/tasks").iterdir():
        assert one.stem in said


def test_the_installed_workflow_plans_the_demo_in_an_empty_folder(site, tmp_path):
    words = ("-m", "resolvent", "snakemake", "-n", "--cores", "2", "--configfile", "demo")
    output = printed(site, tmp_path, *words)
    planned = job_counts(output)
    rows = re.findall(r"^(\w+) +([\d,]+) +0 +[\d.]+ .* +[\d.]+", output, re.MULTILINE)  # of the forecast
    forecast = {rule: int(count) for rule, count in rows}
    assert forecast.pop("total") == sum(forecast.values())
    assert forecast | {"all": 1} == planned
    assert planned["train"] == planned["evaluate"] == 9
    assert planned["solve_burgers"] == 2
    assert (planned["report_burgers"], planned["paper_page"]) == (1, 1)


def test_the_installed_code_has_the_versions_of_the_checkout(site, tmp_path):
    assert printed(site, tmp_path, "-c", VERSIONS) == printed(ROOT, tmp_path, "-c", VERSIONS)
    assert any((site / "resolvent/tests/golden").iterdir())
