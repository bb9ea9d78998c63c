"""When versions, settings and edits let jobs run again, in plans of the real Snakefile.

The study is not computed: its files are empty, and `--touch` lets Snakemake record their parameters.
"""

import json
import re
import shutil
from pathlib import Path

import pytest
from pipeline_project import Project, compile_once
from planning_forks import run_code, without_jobs

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
        self.config = CONFIG
        self.before: dict[Path, str] = {}

    def configured(self, config=None):
        (self.folder / "small.json").write_text(json.dumps(CONFIG))
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

    def release(self) -> None:
        """Write the table of a release of these files, as the command does after its comparisons."""
        table = self.folder / "resolvent/planning/versions.json"
        self.before.setdefault(table, table.read_text())
        code = "from resolvent.planning.golden.__main__ import write_table; write_table()"
        status, output = run_code(self.folder, code)
        assert status == 0, output[-2000:]

    def runs(self) -> dict[str, int]:
        """Return the jobs that are planned, except pages."""
        return {rule: count for rule, count in self.planned().items() if rule not in PAGES}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    compile_once(tmp_path_factory)
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
    study = finished.copied_to(tmp_path / "study")
    study.edit(*UPGRADE)
    moved_module(study)
    study.release()
    assert study.runs() == {}


SOLVED = {"solve_burgers": 1, "finalise_burgers": 1, "preview_burgers": 1, "motion_burgers": 1}
VERSION = "    version = 1\n"
RAISED = {
    "burgers": (
        (
            "resolvent/datasets/tasks/burgers.py",
            "version, checks_version = 1, 1",
            "version, checks_version = 2, 1",
        ),
        {**SOLVED, "baselines": 1, "train": 2, **AFTER_TRAINING},
    ),
    "burgers_checks": (
        (
            "resolvent/datasets/tasks/burgers.py",
            "version, checks_version = 1, 1",
            "version, checks_version = 1, 2",
        ),
        {"finalise_burgers": 1, "preview_burgers": 1, "motion_burgers": 1, "inference": 1, "estimates": 1},
    ),
    "deeponet1d": (
        (
            "models/other_works/settings.py",
            VERSION + '    operator = "resolvent.models.other_works.deeponet:DeepONet1d"',
            VERSION.replace("1", "2") + '    operator = "resolvent.models.other_works.deeponet:DeepONet1d"',
        ),
        {"train": 1, "evaluate": 1, "inference": 1, "estimates": 1},
    ),
}


@pytest.mark.parametrize("part", RAISED)  # of all other parts: the rules that record them, in the next test
def test_a_raised_version_runs_what_uses_it_and_nothing_else(study, part):
    edit, expected = RAISED[part]
    study.edit(edit)
    study.release()
    assert study.runs() == expected


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


NORM = "return square_norm(values, grid.weights) + "
EDITS = {
    "a constant of a random field": (
        ("solvers/random_fields/gaussian.py", "self.sigma * (eigen", "1.001 * self.sigma * (eigen"),
        "burgers",
        SOLVED | {"train": 2},
    ),
    "a constant of a layer": (
        ("models/other_works/fno.py", "torch.relu(layer(v))", "2 * torch.relu(layer(v))"),
        "fno1d",
        {"train": 1},
    ),
    "a constant of a metric": (
        ("resolvent/evaluation/metrics.py", f"{NORM}slope", f"{NORM}2 * slope"),
        "relative_h1",
        {"evaluate": 2, "baselines": 1},
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_that_moves_numbers_runs_what_uses_them_and_says_so(study, edit):
    change, part, expected = EDITS[edit]
    study.edit(change)
    output = study.dry_run("--cores", "1")
    assert re.search(
        rf"^{part} is edited, and its numbers moved by \S+ \(.*\): what uses it runs again", output, re.M
    )
    planned = study.runs()
    assert {rule: planned.get(rule) for rule in expected} == expected
    assert planned.get("train", 0) == expected.get("train", 0)


def test_an_edit_that_moves_no_number_runs_nothing_and_says_so(study):
    network = "models/other_works/deeponet.py"
    study.edit((network, "_network(", "_perceptron("), (network, "at the sensors", "at its sensors"))
    output = study.dry_run("--cores", "1")
    (line,) = re.findall(r"^edited, but with the golden numbers of the release: (.*)", output, re.MULTILINE)
    assert line.startswith("deeponet1d; results stand (-R train")
    assert study.runs() == {}


@pytest.mark.parametrize("gone", ["data/burgers", "data/burgers/*.zarr", "data/burgers/*.json"])
def test_data_that_are_made_again_train_nothing(finished, gone, tmp_path):
    (path,) = finished.folder.glob(gone)
    shutil.move(path, tmp_path / "aside")
    planned = finished.runs()
    shutil.move(tmp_path / "aside", path)
    assert planned["finalise_burgers"] == 1
    assert not {"train", "evaluate", "baselines", "inference", "estimates"} & set(planned)


def test_a_deleted_checkpoint_is_missed(finished):
    (checkpoint,) = finished.folder.glob("results/small/burgers/fno/*/*/checkpoint.pt")
    aside = checkpoint.rename(checkpoint.with_name("aside"))
    assert finished.runs()["train"] == 1
    aside.rename(checkpoint)
