"""The study of stability: every rate and seed is trained once, and what is finished is not trained again."""

import csv
import shutil

import pytest
from dataset_fixtures import make_dataset, small_settings

import resolvent.measurements.stability as module
from resolvent.common.records import HISTORY_COLUMNS
from resolvent.measurements.stability import OF_RUN, train_study
from resolvent.training.errors import TrainingError
from resolvent.training.settings import TrainingSettings
from resolvent.training.train import train_run

COUNTS = {"train": 8, "validation": 2, "test": 1}
FNO = {"width": 6, "num_layers": 1, "modes": 5, "projection_width": 6}
RATES, SEEDS = [1e-3, 5e-4], [1, 2]


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    settings = small_settings(samples=COUNTS, samples_per_shard=sum(COUNTS.values()))
    return make_dataset(tmp_path_factory.mktemp("burgers"), settings)


def study(output, card, seeds=tuple(SEEDS), code=None, rates=tuple(RATES)):
    run = {
        "architecture": "fno1d", "settings": FNO, "grids": "stored", "noise": 0.0, "noise_samples": 8,
        "training": TrainingSettings(epochs=2, batch_size=4, initial_division=1.0).model_dump(mode="json"),
        "samples": {"train": 8, "validation": 2},
    }  # fmt: skip
    resolution = small_settings().resolutions[0]
    train_study(
        output, card=card, model="tiny", resolution=resolution, run=run, learning_rates=list(rates),
        seeds=list(seeds), code_versions=code or {"training": 1}, threads=1, gpus=0,
    )  # fmt: skip
    with open(output, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def watch(patch) -> list:
    """Return the peaks and seeds of the runs that will be trained, in order."""
    calls = []

    def watched(card, folder, resolution, seed, run, *more):
        calls.append((run["training"]["learning_rate"], seed))
        train_run(card, folder, resolution, seed, run, *more)

    patch.setattr(module, "train_run", watched)
    return calls


@pytest.fixture
def trained(monkeypatch):
    return watch(monkeypatch)


@pytest.fixture(scope="module")
def undisturbed(card, tmp_path_factory):
    """The file of a study, its rows, and what was trained."""
    output = tmp_path_factory.mktemp("undisturbed") / "tiny.csv"
    with pytest.MonkeyPatch.context() as patch:
        calls = watch(patch)
        return output, study(output, card), calls


def without_seconds(rows):
    return [{name: value for name, value in row.items() if name not in ("seconds", "device")} for row in rows]


def test_every_rate_and_seed_is_a_run_of_its_own(undisturbed):
    output, rows, trained = undisturbed
    assert list(rows[0]) == [*OF_RUN, *HISTORY_COLUMNS]
    assert trained == [(peak, seed) for seed in SEEDS for peak in RATES]
    assert [(float(row["peak"]), int(row["seed"]), row["epoch"]) for row in rows] == [
        (*run, epoch) for run in trained for epoch in "12"
    ]
    assert len({row["validation_relative_l2"] for row in rows}) == len(rows)
    assert {row["status"] for row in rows} == {"finished"}
    first = [float(row["learning_rate"]) for row in rows[:4:2]]
    assert first[0] == pytest.approx(2 * first[1])  # the peak is that of the study, not of the model
    assert sorted(path.suffix for path in output.with_suffix(".runs").iterdir()) == [".json"] * 4


def test_a_job_that_is_ended_goes_on_with_the_run_that_it_was_at(
    card, undisturbed, tmp_path, trained, monkeypatch
):
    watched, output = module.train_run, tmp_path / "tiny.csv"

    def ended(*arguments):
        if len(trained) == 2:
            raise TrainingError("SIGTERM asked to end")
        watched(*arguments)

    monkeypatch.setattr(module, "train_run", ended)
    with pytest.raises(TrainingError):
        study(output, card)
    assert not output.exists()
    monkeypatch.setattr(module, "train_run", watched)
    rows = study(output, card)
    assert trained == [(peak, seed) for seed in SEEDS for peak in RATES]
    assert without_seconds(rows) == without_seconds(undisturbed[1])


def test_further_seeds_train_alone_and_other_code_trains_all_again(card, undisturbed, tmp_path, trained):
    output = tmp_path / "tiny.csv"
    shutil.copytree(undisturbed[0].with_suffix(".runs"), output.with_suffix(".runs"))
    assert len(study(output, card, seeds=[*SEEDS, 3])) == 12
    assert trained == [(peak, 3) for peak in RATES]
    study(output, card, seeds=SEEDS[:1], code={"training": 2})
    assert trained[2:] == [(peak, SEEDS[0]) for peak in RATES]
