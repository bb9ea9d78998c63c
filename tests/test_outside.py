"""An equation and a model that live outside of the checkout, from a configuration to a report."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from pipeline_project import ROOT, job_counts

PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
OVERLAY = {
    "name": "outside",
    "build": {"experiments": ["heat"]},
    "datasets": {
        "heat": {
            "equation": "my_lab.heat:HeatDataset",
            "samples": {"train": 8, "validation": 2, "test": 4},
        },
    },
    "models": {
        "net": {
            "label": "A net of ours",
            "architecture": "my_lab.nets:NetSettings",
            "settings": {"channels": 8},
        },
    },
    "experiments": {
        "heat": {
            "title": "The heat equation",
            "dataset": "heat",
            "models": ["fno", "net"],
            "resolutions": [32],
            "seeds": [1],
            "training": {"epochs": 2, "batch_size": 4},
        },
    },
}
EXPERIMENT = "results/outside/heat"
AFTER_TRAINING = {"compare": 1, "draw_figures": 1, "report": 1}


def snippet(page: str, words: str) -> str:
    """The Python that a page of the documentation gives as a whole file: the one with these words."""
    (code,) = (one for one in PYTHON.findall((ROOT / page).read_text(encoding="utf-8")) if words in one)
    return code


class Laboratory:
    """A package my_lab in one folder, and a working folder with a configuration in another."""

    def __init__(self, folder: Path):
        self.package, self.work = folder / "packages/my_lab", folder / "work"
        self.package.mkdir(parents=True)
        self.work.mkdir()
        (self.package / "__init__.py").touch()
        (self.package / "heat.py").write_text(snippet("docs/datasets.md", "class HeatDataset"))
        (self.package / "nets.py").write_text(snippet("docs/models.md", "class NetSettings"))
        (self.work / "heat.yaml").write_text(yaml.safe_dump(OVERLAY))

    def snakemake(self, *words: str) -> str:
        """Run the checkout's Snakefile in the working folder for the report; returns what it printed."""
        command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", *words]
        command += ["--cores", "2", "--resources", "gpu=0", "--configfile", "heat.yaml"]
        done = subprocess.run(
            [*command, "--", f"{EXPERIMENT}/report.html"],
            cwd=self.work,
            env=os.environ | {"PYTHONPATH": str(self.package.parent)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout

    def planned_after(self, module: str, old: str, new: str) -> dict[str, int]:
        """How many jobs of each rule are planned where `module` has `new` in place of `old`."""
        file = self.package / module
        source = file.read_text()
        assert source.count(old) == 1
        file.write_text(source.replace(old, new))
        try:
            return job_counts(self.snakemake("--dry-run"))
        finally:
            file.write_text(source)


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory):
    """One whose report is made."""
    laboratory = Laboratory(tmp_path_factory.mktemp("outside"))
    laboratory.snakemake()
    return laboratory


def test_the_errors_of_models_and_baselines_are_finite(laboratory):
    comparison = pd.read_csv(laboratory.work / EXPERIMENT / "comparison.csv")
    means = comparison[(comparison["statistic"] == "mean") & (comparison["metric"] == "relative_l2")]
    tested = means.groupby("key")["test_resolution"].agg(set).to_dict()
    assert tested == {key: {32, 64} for key in ("fno", "net", "mean_predictor", "ridge_regression")}
    assert np.isfinite(means["value"]).all()
    assert (means["value"] > 0).all()


def test_the_report_is_of_this_equation_and_model_and_compares_with_no_paper(laboratory):
    page = (laboratory.work / EXPERIMENT / "report.html").read_text(encoding="utf-8")
    words = " ".join(html.unescape(re.sub(r"<svg.*?</svg>|<[^>]*>", " ", page, flags=re.DOTALL)).split())
    results, _ = words.split("How to cite")
    for expected in ("A net of ours", "the heat equation on the circle", "No paper that we follow has this"):
        assert expected in results
    assert not re.search(r"Cao|Calvello|the paper\b|reported", results)


def test_nothing_is_planned_again(laboratory):
    assert "Nothing to be done" in laboratory.snakemake("--dry-run")


def test_an_edited_model_is_trained_again_and_no_other(laboratory):
    planned = laboratory.planned_after("nets.py", "torch.cat([u, x", "torch.cat([2 * u, x")
    assert planned == {"train": 1, "evaluate": 1, **AFTER_TRAINING}


def test_an_edited_equation_is_solved_again(laboratory):
    planned = laboratory.planned_after("heat.py", "1 + rate / 2", "1 + rate")
    assert planned == {
        "solve_heat": 1, "finalise_heat": 1, "baselines": 1, "train": 2, "evaluate": 2, **AFTER_TRAINING,
    }  # fmt: skip
