"""When versions, settings and edits let jobs run again, in plans of the real Snakefile.

The study is not computed: its files are empty, and `--touch` lets Snakemake record their parameters.
"""

import copy
import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest
from pipeline_project import Project, job_counts
from planning_forks import without_jobs

from resolvent.planning.configuration.read import merged

CONFIG = {
    "name": "small",
    "build": {"experiments": ["burgers"], "datasets": ["lorenz63_yz"]},
    "datasets": {"burgers": {"resolutions": [64], "finest": 128, "samples_per_shard": 2000}},
    "experiments": {
        "burgers": {
            "models": ["fno", "deeponet"], "resolutions": [64], "test_resolutions": [64], "seeds": [1],
            "shown": "fno", "training": {"epochs": 2},
        }
    },
}  # fmt: skip
PAGES = {
    "all", "compare", "report_burgers", "run_pages_burgers", "dataset_page_burgers",
    "dataset_page_lorenz63_yz", "show", "show_table", "paper_page", "page_assets",
    "plan_study", "front_page",
}  # fmt: skip
AFTER_TRAINING = {"evaluate": 2, "inference": 1, "estimates": 1}


class Study(Project):
    """A study whose files are all there, empty."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.before: dict[Path, str] = {}

    def configured(self, config=None):
        (self.folder / "small.json").write_text(json.dumps(merged(CONFIG, config or {})))
        return ["--configfile", "small.json"]

    def snakemake(self, *words: str) -> str:
        status, output = without_jobs(self.folder, "--cores", 1, *words, *self.configured())
        assert status == 0, output[-2000:]
        return output

    def finish(self) -> None:
        rows = [line.split("\t") for line in self.snakemake("--summary").splitlines() if line.count("\t") > 3]
        for name, *_ in rows[1:]:
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch() if file.suffix else file.mkdir()  # the folders of figures
            if re.fullmatch(r"[0-9a-f]{12}\.json", file.name):
                file.with_suffix(".zarr").mkdir()
            if file.name == "run.json":
                for page in ("run.html", "run.js"):
                    file.with_name(page).touch()
        self.snakemake("--touch", "--forceall")  # records every job

    def edit(self, *changes: tuple[str, str, str]) -> None:
        for name, old, new in changes:
            file = self.folder / name
            text = file.read_text()
            assert old in text, (name, old)
            self.before.setdefault(file, text)
            file.write_text(text.replace(old, new))

    def restore(self) -> None:
        """Take every edit back."""
        for file, text in self.before.items():
            file.write_text(text)
        self.before.clear()

    def release(self, **raised: int) -> None:
        """Write the table of a release of these files, in which some parts have another version."""
        table = self.folder / "resolvent/planning/versions.json"
        content = json.loads(self.before.setdefault(table, table.read_text()))
        content["versions"] |= raised
        content["files"] = {}
        for package in ("resolvent", "resolvent/solvers", "resolvent/models"):
            for file in (self.folder / package).rglob("*.py"):
                module = ".".join(file.relative_to(self.folder).with_suffix("").parts)
                digest = hashlib.sha256(file.read_bytes()).hexdigest()
                content["files"][module.removesuffix(".__init__")] = digest
        table.write_text(json.dumps(content))

    def runs(self) -> dict[str, int]:
        """Return the jobs that are planned, except pages."""
        return without_pages(self.planned())


def without_pages(planned: dict[str, int]) -> dict[str, int]:
    return {rule: count for rule, count in planned.items() if rule not in PAGES}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    study = Study(tmp_path_factory.mktemp("versions") / "study")
    study.finish()
    return study


@pytest.fixture
def study(finished):
    yield finished
    finished.restore()


def test_a_finished_study_plans_nothing_and_imports_nothing_for_it(finished):
    output = finished.dry_run("--cores", "1")
    assert "Nothing to be done" in output
    assert "edited" not in output


NEW = '    novelty: int = Field(3, description="new")\n'
MEAN = "def _mean_error(self, data: InMemory | Streamed) -> float:"
UPGRADE = (
    # new settings with defaults, and documentation
    ("resolvent/training/settings.py", "    train_samples: int", f"{NEW}    train_samples: int"),
    ("resolvent/datasets/tasks/burgers.py", "    restriction: Literal", f"{NEW}    restriction: Literal"),
    (
        "models/other_works/settings.py",
        '    """Fourier neural operator in one',
        '    """Neural operator in one',
    ),
    # messages and long names
    ("resolvent/datasets/storage/reading.py", "is damaged", "is broken"),
    ("solvers/burgers/equation.py", "use more num_steps", "try more num_steps"),
    ("resolvent/datasets/tasks/burgers.py", "initial velocity", "velocity at the start"),
    # renamed functions, and annotations
    ("resolvent/training/fit.py", "_in_loss_units", "_in_units_of_the_loss"),
    ("resolvent/training/fit.py", MEAN, MEAN.replace("float", "'float'")),
    ("resolvent/evaluation/metrics.py", "_square_h1", "_squared_h1"),
    # a remark, and a page
    ("workflow/scripts/jobs.py", "\n\n", "\n\n# A remark.\n"),
    ("resolvent/figures/templates/dataset.html.j2", "<h1", "<h1 id='dataset'"),
)


def moved_module(study) -> None:
    """Move a module of the layers, and import it from its new place."""
    before, after = study.folder / "models/layers/common.py", study.folder / "models/layers/shared.py"
    before.rename(after)
    for file in [*study.folder.glob("models/**/*.py"), *study.folder.glob("resolvent/**/*.py")]:
        text = file.read_text()
        if "resolvent.models.layers.common" in text:
            file.write_text(text.replace("resolvent.models.layers.common", "resolvent.models.layers.shared"))


def test_an_upgrade_without_new_versions_makes_pages_alone(finished, tmp_path):
    """The study is copied without the times of its files."""
    study = copy.copy(finished)
    study.folder = shutil.copytree(finished.folder, tmp_path / "study", copy_function=shutil.copyfile)
    assert study.planned() == {}
    study.before = {}
    study.edit(*UPGRADE)
    moved_module(study)
    study.release()
    planned = study.planned()
    assert without_pages(planned) == {}
    assert {"dataset_page_burgers", "report_burgers", "run_pages_burgers", "compare"} <= set(planned)


def test_other_settings_of_one_model_run_that_model_alone(study):
    model = {"models": {"deeponet": {"settings": {"num_layers": 2}}}}
    assert without_pages(study.planned(config=model)) == {"train": 1, **AFTER_TRAINING, "evaluate": 1}


def test_moved_data_run_nothing_again(finished, tmp_path):
    """The data lie below another `data_root`, and behind a link."""
    data = finished.folder / "data"
    elsewhere = shutil.move(data, tmp_path / "data")
    try:
        assert set(finished.planned(config={"data_root": str(elsewhere)})) <= {
            "all",
            "plan_study",
            "front_page",
        }
        data.symlink_to(elsewhere)
        assert finished.planned() == {}
        data.unlink()
    finally:
        shutil.move(elsewhere, data)


SOLVED = {"solve_burgers": 1, "finalise_burgers": 1, "preview_burgers": 1, "motion_burgers": 1}
RAISED = {
    "burgers": {**SOLVED, "baselines": 1, "train": 2, **AFTER_TRAINING},
    "burgers_checks": {
        "finalise_burgers": 1, "preview_burgers": 1, "motion_burgers": 1, "inference": 1, "estimates": 1,
    },
    "deeponet1d": {"train": 1, "evaluate": 1, "inference": 1, "estimates": 1},
}  # fmt: skip


@pytest.mark.parametrize("part", RAISED)  # of all other parts: the rules that record them, in the next test
def test_a_raised_version_runs_what_uses_it_and_nothing_else(study, part):
    study.release(**{part: 2})
    assert study.runs() == RAISED[part]


def test_each_job_is_recorded_with_the_parts_that_it_uses(finished):
    """Hold, for every part of the study, which rules have its version among their parameters."""
    rules: dict[str, set[str]] = {}
    for file in (finished.folder / ".snakemake/metadata").rglob("*"):
        record = json.loads(file.read_text()) if file.is_file() else {}
        for given in record.get("params", []):
            if isinstance(given, str) and given.startswith("{") and "'version" not in given:
                for part in re.findall(r"'(\w+)': \d+", given):
                    rules.setdefault(part, set()).add(record["rule"])
    expected = {
        "burgers": {"solve_burgers", "finalise_burgers"},
        "burgers_checks": {"finalise_burgers", "motion_burgers", "inference", "estimates"},
        "lorenz63": {"solve_lorenz63_yz", "finalise_lorenz63_yz"},
        "fno1d": {"train", "evaluate", "inference", "estimates"},
        "training": {"train"},
        "evaluation": {"evaluate"},
        "relative_l2": {"evaluate", "baselines"},
        "ridge_regression": {"baselines"},
        "preview": {"preview_burgers", "motion_burgers", "preview_lorenz63_yz", "motion_lorenz63_yz"},
    }
    assert {part: rules[part] for part in expected} == expected


def test_an_edit_runs_what_uses_numbers_that_moved_and_nothing_else_and_says_so(study):
    study.edit(
        ("models/other_works/deeponet.py", "torch.relu(self.trunk(x))", "2 * torch.relu(self.trunk(x))"),
        ("resolvent/datasets/preview.py", "labels of the samples shown", "their labels"),
    )
    output = study.dry_run("--cores", "1")
    assert "deeponet1d is edited, and its numbers moved by " in output
    assert ": what uses it runs again, as version 1+edited-" in output
    assert "edited, but with the golden numbers of the release: preview; results stand (-R preview_" in output
    assert without_pages(job_counts(output)) == RAISED["deeponet1d"]


NORM = "return square_norm(values, grid.weights) + "


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "part", "expected"),
    [
        (
            ("resolvent/evaluation/metrics.py", f"{NORM}slope", f"{NORM}2 * slope"),
            "relative_h1",
            {"evaluate": 2, "baselines": 1},
        ),
        (
            ("solvers/random_fields/gaussian.py", "self.sigma * (eigen", "1.001 * self.sigma * (eigen"),
            "burgers",
            SOLVED | {"train": 2},
        ),
        (
            ("models/other_works/fno.py", "torch.relu(layer(v))", "2 * torch.relu(layer(v))"),
            "fno1d",
            {"train": 1},
        ),
    ],
)
def test_an_edited_constant_of_shared_code_runs_all_that_it_moves(study, change, part, expected):
    study.edit(change)
    output = study.dry_run("--cores", "1")
    assert re.search(
        rf"^{part} is edited, and its numbers moved by \S+ \(.*\): what uses it runs", output, re.M
    )
    planned = job_counts(output)
    assert {rule: planned.get(rule) for rule in expected} == expected


def test_data_that_are_made_again_train_nothing(finished, tmp_path):
    kept = shutil.move(finished.folder / "data/burgers", tmp_path / "aside")
    planned = finished.runs()
    shutil.move(kept, finished.folder / "data/burgers")
    assert planned == SOLVED


def test_a_deleted_checkpoint_is_missed(finished):
    (checkpoint,) = finished.folder.glob("results/small/burgers/fno/*/*/checkpoint.pt")
    aside = checkpoint.rename(checkpoint.with_name("aside"))
    assert finished.runs()["train"] == 1
    aside.rename(checkpoint)
