"""What lives outside of the checkout, from an equation to a figure: from a configuration to a report."""

import html
import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from merged_configuration import DEFAULT, merged
from pipeline_project import ROOT, Project, job_counts
from planning_forks import EVERY_FORMAT, build, dry_run

from resolvent.planning.configuration.load import load_configuration

PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
OVERLAY = {
    "name": "outside",
    "build": {"experiments": ["heat"]},
    "datasets": {
        "heat": {"equation": "my_lab.heat:HeatDataset", "samples": {"train": 8, "validation": 2, "test": 4}}
    },
    "models": {
        "net": {"label": "A net of ours", "architecture": "my_lab.nets:NetSettings",
                "settings": {"channels": 8}}
    },
    "experiments": {
        "heat": {
            "title": "The heat equation", "dataset": "heat", "models": ["fno", "net"], "resolutions": [32],
            "seeds": [1], "training": {"epochs": 2, "batch_size": 4},
            "training_of": {"net": {"loss": "my_lab.losses:mean_square", "gradient_weight": 0}},
            "metrics": ["my_lab.metrics:largest_error"], "baselines": ["my_lab.baselines:nearest"],
            "figures": ["my_lab.figures:sorted_errors"], "shows": {"heat2026": ["table1"]},
        }
    },
}  # fmt: skip
MODULES = {  # of my_lab: the page with its code, and words of it
    "heat.py": ("own-equation", "class HeatDataset"),
    "nets.py": ("own-model", "class NetSettings"),
    "metrics.py": ("own-metric", "Metric("),
    "losses.py": ("own-metric", "def mean_square"),
    "baselines.py": ("own-metric", "Baseline("),
    "figures.py": ("own-metric", "Exhibit("),
}
YAML = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXPERIMENT, PAPERS_PAGE = "results/outside/heat", "results/outside/heat2026.html"
AFTER_TRAINING = dict.fromkeys(
    ("inference", "estimates", "compare", "report_heat", "run_pages_heat", "show_table", "paper_page"), 1
)


def snippet(page: str, words: str) -> str:
    """The Python that a page of the documentation gives as a whole file: the one with these words."""
    (code,) = (one for one in PYTHON.findall((ROOT / page).read_text(encoding="utf-8")) if words in one)
    return code


class Laboratory:
    """A package my_lab in one folder, a checkout with one paper more, and a working folder beside them."""

    def __init__(self, folder: Path):
        self.package, self.work = folder / "packages/my_lab", folder / "work"
        checkout = Project(folder / "checkout").folder
        shutil.copytree(ROOT / "tests/heat2026", checkout / "resolvent/figures/papers/heat2026")
        # The checkout's Snakefile in the working folder, for the report and the paper's page.
        self.words = (
            *("--snakefile", checkout / "Snakefile", "--cores", "2", "--resources", "gpu=0"),
            *("--configfile", "heat.yaml", "--", f"{EXPERIMENT}/report.html", PAPERS_PAGE),
        )
        self.package.mkdir(parents=True)
        self.work.mkdir()
        (self.package / "__init__.py").touch()
        for module, (page, words) in MODULES.items():
            (self.package / module).write_text(snippet(f"docs/tutorials/{page}.md", words))
        (self.work / "heat.yaml").write_text(yaml.safe_dump(OVERLAY))
        self.environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, (self.package.parent, checkout))),
            EVERY_FORMAT: "1",
        }

    def build(self) -> None:
        status, output = build(self.work, *self.words, environment=self.environment)
        assert status == 0, output[-3000:]

    def dry_run(self) -> str:
        status, output = dry_run(self.work, *self.words, environment=self.environment)
        assert status == 0, output[-3000:]
        return output

    def planned_after(self, module: str, old: str, new: str) -> dict[str, int]:
        """How many jobs of each rule are planned where `module` has `new` in place of `old`."""
        file = self.package / module
        source = file.read_text()
        assert source.count(old) == 1
        file.write_text(source.replace(old, new))
        try:
            return job_counts(self.dry_run())
        finally:
            file.write_text(source)


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory):
    laboratory = Laboratory(tmp_path_factory.mktemp("outside"))
    laboratory.build()
    return laboratory


def test_the_errors_of_models_and_baselines_are_finite(laboratory):
    comparison = pd.read_csv(laboratory.work / EXPERIMENT / "comparison.csv")
    means = comparison[(comparison["statistic"] == "mean") & (comparison["metric"] == "relative_l2")]
    tested = means.groupby("key")["test_resolution"].agg(set).to_dict()
    keys = ("fno", "net", "mean_predictor", "ridge_regression", "nearest_sample")
    assert tested == {key: {32, 64} for key in keys}
    assert np.isfinite(means["value"]).all()
    assert (means["value"] > 0).all()


def words_of(page: Path) -> str:
    text = re.sub(r"<svg.*?</svg>|<[^>]*>", " ", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(html.unescape(text).split()).partition("How to cite")[0]


def test_the_report_is_of_this_equation_and_model_and_compares_with_its_paper_alone(laboratory):
    words = words_of(laboratory.work / EXPERIMENT / "report.html")
    for expected in ("A net of ours", "the heat equation on the circle", "Heat 2026"):
        assert expected in words
    assert not re.search(r"Cao|Calvello", words)
    models = pd.read_csv(laboratory.work / EXPERIMENT / "models.csv").set_index("key")
    assert models.loc["fno", "reported"] == 0.5
    assert models.loc["fno", "ratio_to_reported"] > 0
    assert np.isnan(models.loc["net", "reported"])


def test_a_paper_that_is_one_more_folder_has_its_page(laboratory):
    words = words_of(laboratory.work / PAPERS_PAGE)
    for expected in ("Heat 2026: reported and ours", "Table 1. Errors", "The heat equation"):
        assert expected in words
    table = pd.read_csv(laboratory.work / "results/outside/heat2026/table1.csv").set_index("model")
    assert table.loc["A net of ours", "Heat 2026"] == "—"
    assert set(table["Heat 2026"]) == {"—", "0.5"}
    assert (table["ours"] > 0).all()


def test_a_metric_of_ones_own_is_in_the_tables_and_on_the_page_with_its_words(laboratory):
    comparison = pd.read_csv(laboratory.work / EXPERIMENT / "comparison.csv")
    largest = comparison[comparison["metric"] == "largest_error"]
    assert set(largest["key"]) == set(comparison["key"])
    assert set(largest["statistic"]) >= {"mean", "median", "worst"}
    assert np.isfinite(largest["value"]).all()
    page = (laboratory.work / EXPERIMENT / "report.html").read_text(encoding="utf-8")
    for words in (
        "largest error",
        "max |p - u|/max |u| of prediction p and target u",
        "Nearest training sample",
    ):
        assert words in html.unescape(page)


def test_a_figure_of_ones_own_is_on_the_page(laboratory):
    folder = laboratory.work / EXPERIMENT
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "figures/own_sorted_errors.svg" in page
    assert "The errors of all test samples, of each run." in page
    assert all((folder / f"figures/own_sorted_errors.{suffix}").exists() for suffix in ("svg", "png", "pdf"))


@pytest.mark.parametrize("page", ["own-equation", "own-model", "own-metric"])
def test_the_configuration_of_a_tutorial_is_accepted(laboratory, monkeypatch, page):
    (overlay,) = YAML.findall((ROOT / f"docs/tutorials/{page}.md").read_text(encoding="utf-8"))
    monkeypatch.syspath_prepend(laboratory.package.parent)
    load_configuration(merged(DEFAULT, yaml.safe_load(overlay)))


USED_BY = {
    "heat": {"solve_heat", "finalise_heat", "inference", "estimates"},
    "nets": {"train", "evaluate", "inference", "estimates"},
    "losses": {"train"},
    "metrics": {"evaluate", "baselines"},
    "baselines": {"baselines"},
    "figures": {"report_heat"},
}


def test_each_job_is_recorded_with_the_modules_that_it_uses(laboratory):
    rules: dict[str, set[str]] = {}
    for file in (laboratory.work / ".snakemake/metadata").rglob("*"):
        record = json.loads(file.read_text()) if file.is_file() else {}
        for module in re.findall(r"'my_lab\.(\w+)': '", " ".join(map(str, record.get("params", [])))):
            rules.setdefault(module, set()).add(record["rule"])
    assert rules == USED_BY


def test_an_edited_module_reruns_what_uses_it_and_no_other_model(laboratory):
    planned = laboratory.planned_after("nets.py", "torch.cat([u, x", "torch.cat([2 * u, x")
    assert planned == {"train": 1, "evaluate": 1, **AFTER_TRAINING}
