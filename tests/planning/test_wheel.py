"""The wheel has one top-level package, with the workflow in it, and runs from any folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from pipeline_project import NOT_COPIED, ROOT, job_counts

from resolvent.judging.tasks import names
from resolvent.planning.edits import changed_modules
from resolvent.planning.versions import PARTS, versions_of

STAND_IN = "def load_dataset():\n    return 'of another package'\n"
FOUND = """
import datasets, resolvent, resolvent.models.registry, resolvent.solvers.registry
from resolvent.judging.tasks import names
from resolvent.planning.edits import changed_modules
from resolvent.planning.versions import PARTS, versions_of
print(datasets.load_dataset(), resolvent.__file__, resolvent.solvers.__file__, sep="\\n")
print(names(), versions_of("pages", *PARTS), changed_modules())
"""
PLANNED = {
    "all": 1, "page_assets": 1, "plan_study": 1, "front_page": 1,
    "train": 9, "evaluate": 9, "baselines": 1, "inference": 1, "estimates": 1, "compare": 1,
    "report_burgers": 1, "run_pages_burgers": 1, "dataset_page_lorenz63_yz": 1,
    "dataset_page_burgers": 1, "dataset_page_darcy_cao": 1, "dataset_page_kolmogorov": 1,
    "motion_burgers": 1, "motion_kolmogorov": 1, "motion_lorenz63_yz": 1,
    "measure_cost": 1, "show_table": 4, "show": 1, "paper_page": 1,
    "solve_burgers": 2, "finalise_burgers": 1, "preview_burgers": 1,
    "solve_darcy_cao": 1, "finalise_darcy_cao": 1, "preview_darcy_cao": 1,
    "solve_lorenz63_yz": 1, "finalise_lorenz63_yz": 1, "preview_lorenz63_yz": 1,
    "solve_kolmogorov": 1, "finalise_kolmogorov": 1, "preview_kolmogorov": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the unpacked wheel, beside a stand-in for another package called `datasets`."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "sources", ignore=NOT_COPIED, symlinks=True)
    words = ["wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(folder), "."]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, *words], cwd=folder / "sources", check=True)
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    ZipFile(wheel).extractall(site)
    (site / "datasets").mkdir()
    (site / "datasets/__init__.py").write_text(STAND_IN)
    return site


def printed(site: Path, folder: Path, *words: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_one_package_is_installed_with_the_tasks_and_versions_of_the_checkout(site, tmp_path):
    (metadata,) = site.glob("*.dist-info")
    assert {entry.name for entry in site.iterdir()} == {"datasets", "resolvent", metadata.name}
    assert "resolvent = resolvent.__main__:main" in (metadata / "entry_points.txt").read_text()
    other, resolvent, solvers, versions = printed(site, tmp_path, "-c", FOUND).splitlines()
    assert other == "of another package"
    assert Path(resolvent) == site / "resolvent/__init__.py"
    assert Path(solvers) == site / "resolvent/solvers/__init__.py"
    assert versions == f"{names()} {versions_of('pages', *PARTS)} {changed_modules()}"


def test_what_lies_beside_the_package_in_a_checkout_is_installed(site):
    code = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "resolvent").rglob("*.py"))
    named = re.findall(r'HOME / "([^"]+)"', code)
    assert {"LICENSE", "Snakefile"} <= set(named)
    assert [name for name in named if not (site / "resolvent" / name).exists()] == []
    assert any((site / "resolvent/tests/golden").iterdir())


def test_the_workflow_plans_every_job_of_the_demo_in_an_empty_folder(site, tmp_path):
    words = ("-m", "resolvent", "snakemake", "-n", "--cores", "2", "--configfile", "demo")
    output = printed(site, tmp_path, *words)
    rows = re.findall(r"^(\w+) +([\d,]+) +0 +[\d.]+ .* +[\d.]+", output, re.MULTILINE)  # of the forecast
    forecast = {rule: int(count) for rule, count in rows}
    assert forecast.pop("total") == sum(forecast.values())
    assert forecast | {"all": 1} == job_counts(output) == PLANNED
