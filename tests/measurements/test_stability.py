"""The study of stability: every rate and seed is trained once, and what is finished is not trained again."""

import csv

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


def study(output, card, seeds=tuple(SEEDS), code="c", rates=tuple(RATES)):
    run = {
        "architecture": "fno1d", "settings": FNO, "grids": "stored", "noise": 0.0, "noise_samples": 8,
        "training": TrainingSettings(epochs=2, batch_size=4, initial_division=1.0).model_dump(mode="json"),
        "samples": {"train": 8, "validation": 2},
    }  # fmt: skip
    resolution = small_settings().resolutions[0]
    train_study(
        output, card=card, model="tiny", resolution=resolution, run=run, learning_rates=list(rates),
        seeds=list(seeds), code_digest=code, threads=1, gpus=0,
    )  # fmt: skip
    with open(output, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def trained(monkeypatch):
    """Peaks and seeds of the runs that are trained, in order."""
    calls = []

    def watched(card, folder, resolution, seed, run, *more):
        calls.append((run["training"]["learning_rate"], seed))
        train_run(card, folder, resolution, seed, run, *more)

    monkeypatch.setattr(module, "train_run", watched)
    return calls


def test_every_rate_and_seed_is_a_run_of_its_own(card, tmp_path, trained):
    rows = study(tmp_path / "tiny.csv", card)
    assert list(rows[0]) == [*OF_RUN, *HISTORY_COLUMNS]
    assert trained == [(peak, seed) for seed in SEEDS for peak in RATES]
    assert [(float(row["peak"]), int(row["seed"]), row["epoch"]) for row in rows] == [
        (*run, epoch) for run in trained for epoch in "12"
    ]
    assert len({row["validation_relative_l2"] for row in rows}) == len(rows)
    assert {row["status"] for row in rows} == {"finished"}
    first = [float(row["learning_rate"]) for row in rows[:4:2]]
    assert first[0] == pytest.approx(2 * first[1])  # the peak is that of the study, not of the model
    assert sorted(path.suffix for path in (tmp_path / "tiny.runs").iterdir()) == [".json"] * 4


def test_a_run_is_what_training_alone_makes_of_it(card, tmp_path):
    rows = study(tmp_path / "tiny.csv", card)
    again = study(tmp_path / "other.csv", card, seeds=SEEDS[1:], rates=RATES[:1])
    found = [row for row in rows if (row["peak"], row["seed"]) == (again[0]["peak"], again[0]["seed"])]
    same = [*OF_RUN[:4], *HISTORY_COLUMNS]
    assert [[row[name] for name in same] for row in found] == [[row[name] for name in same] for row in again]


def test_a_job_that_is_ended_goes_on_with_the_run_that_it_was_at(card, tmp_path, trained, monkeypatch):
    undisturbed = study(tmp_path / "undisturbed.csv", card)
    trained.clear()
    watched = module.train_run

    def ended(card, folder, resolution, seed, run, *more):
        if len(trained) == 2:
            raise TrainingError("SIGTERM asked to end")
        watched(card, folder, resolution, seed, run, *more)

    monkeypatch.setattr(module, "train_run", ended)
    output = tmp_path / "tiny.csv"
    with pytest.raises(TrainingError):
        study(output, card)
    assert not output.exists()
    monkeypatch.setattr(module, "train_run", watched)
    rows = study(output, card)
    assert trained == [(peak, seed) for seed in SEEDS for peak in RATES]
    for row in (*rows, *undisturbed):
        del row["seconds"]
    assert rows == undisturbed


def test_further_seeds_train_alone_and_other_code_trains_all_again(card, tmp_path, trained):
    output = tmp_path / "tiny.csv"
    study(output, card, seeds=SEEDS[:1])
    trained.clear()
    assert len(study(output, card)) == 8
    assert trained == [(peak, SEEDS[1]) for peak in RATES]
    trained.clear()
    study(output, card, code="another")
    assert len(trained) == 4
