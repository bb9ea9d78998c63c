"""Results that were copied into the folder of others are refused, and not left out without a word."""

import json
import shutil
from dataclasses import asdict

import pytest

from resolvent.common.errors import FileError
from resolvent.common.files import write_json
from resolvent.figures.common.assets import write_assets
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.front.page import write_front_page
from resolvent.figures.front.study import PlannedExperiment, PlannedRow, Study
from resolvent.public.runs import load_run

MODELS = ("galerkin", "fourier")


@pytest.fixture
def study(make_run, make_baselines, tmp_path):
    """Return the folder of a study of two experiments with two models each, laid out by the pipeline."""
    folder, experiments = tmp_path / "study", {}
    write_assets(folder / "assets")
    for name in ("burgers", "other"):
        runs = []
        for model in MODELS:
            place = folder / name / model / "n512" / "seed1"
            place.parent.mkdir(parents=True)
            shutil.move(make_run(model, attention=model, level=1e-3 if model == "fourier" else 4e-3), place)
            change(place / "run.json", experiment=name, config_hash=f"{name}-{model}")
            change(place / "cost.json", config_hash=f"{name}-{model}")
            runs.append(place)
        baselines = folder / name / "baselines"
        shutil.move(make_baselines(), baselines)
        change(baselines / "cost.json", experiment=name)
        write_comparison(runs, [baselines], folder / name / "comparison.csv")
        rows = [
            PlannedRow(
                model=model, label=model, recipe=None, resolution=512, noise=0.0,
                runs={"1": f"{name}/{model}/n512/seed1"},
            )
            for model in MODELS
        ]  # fmt: skip
        experiments[name] = PlannedExperiment(
            title=name, dataset="waves", page=f"{name}/report.html", finest=512, papers=[], rows=rows
        )
    write_json(folder / "study.json", asdict(Study(name="small", experiments=experiments)))
    return folder


def change(path, **changes):
    content = json.loads(path.read_text()) | changes
    content.pop("sha256", None)
    path.write_text(json.dumps(content))


def copied(study, source, target):
    shutil.rmtree(study / target)
    shutil.copytree(study / source, study / target)


@pytest.mark.parametrize("source", ["burgers/fourier/n512/seed1", "other/galerkin/n512/seed1"])
def test_a_run_copied_over_another_is_named_by_all_who_read_it(study, source):
    place = study / "burgers/galerkin/n512/seed1"
    write_front_page(study)
    copied(study, source, place)
    words = rf"run\.json is of the run {source}, not of .*burgers/galerkin/n512/seed1.*: .*snakemake"
    runs = [study / f"burgers/{model}/n512/seed1" for model in MODELS]
    for read in (
        lambda: write_front_page(study),
        lambda: write_comparison(runs, [study / "burgers/baselines"], study / "burgers/comparison.csv"),
        lambda: load_run(place),
    ):
        with pytest.raises(FileError, match=words) as error:
            read()
        assert "\n" not in str(error.value)


def test_an_exported_run_may_lie_anywhere(study):
    place = study / "burgers/galerkin/n512/seed1"
    copied(study, "burgers/fourier/n512/seed1", place)
    (place / "model.safetensors").touch()
    assert load_run(place).record.model == "fourier"


def test_baselines_of_another_experiment_are_named(study):
    copied(study, "other/baselines", "burgers/baselines")
    runs = [study / f"burgers/{model}/n512/seed1" for model in MODELS]
    with pytest.raises(FileError, match=r"baselines/cost\.json is of the experiment other, not of burgers"):
        write_comparison(runs, [study / "burgers/baselines"], study / "burgers/comparison.csv")


def test_a_comparison_of_other_runs_is_not_shown_as_theirs(study):
    """Its models have the same names, and the digests beside it are right."""
    for name in ("comparison.csv", "models.csv"):
        for one in (name, f"{name}.sha256"):
            shutil.copy(study / "other" / one, study / "burgers" / one)
    results = write_front_page(study)
    assert [row.state for row in results.of("burgers")] == ["compared with other runs"] * 2
    assert [row.error for row in results.of("burgers")] == [None, None]
    assert all(row.error for row in results.of("other"))
    assert "compared with other runs" in (study / "index.html").read_text()
