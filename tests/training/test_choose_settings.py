"""The choice among short runs: the lowest error on validation samples, whatever diverged."""

import json
from dataclasses import asdict, replace

import pytest
from run_files import COST

from resolvent.common.errors import FileError
from resolvent.common.settings import settings_hash
from resolvent.training.tuning import choose_settings, tuned_description, tuned_run

RATES = (5e-4, 1e-3, 2e-3)
RUN = {"architecture": "fno1d", "training": {"epochs": 40}, "samples": {"train": 8}}


@pytest.fixture
def choose(tmp_path):
    """Choose among short runs with these errors, None for one that diverged; returns the file."""

    def choose(*errors, config_hash=None):
        short_runs = {}
        for rate, error in zip(RATES, errors, strict=True):
            folder = tmp_path / f"tuning/learning_rate_{rate}/seed7"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "cost.json").write_text(json.dumps(cost(f"c{rate}", error)))
            (folder / "resume.pt").touch()
            settings = {"learning_rate": rate}
            short_runs[str(folder)] = {"settings": settings, "config_hash": config_hash or f"c{rate}"}
        choose_settings(short_runs, resolution=64, seed=7, epochs=4, output=tmp_path / "tuned.json")
        return tmp_path / "tuned.json"

    return choose


def cost(config_hash, error):
    """The cost.json of a short run; one that diverged had a good epoch before."""
    diverged = {"status": "diverged", "diverged_epoch": 3} if error is None else {}
    named = {"seed": 7, "config_hash": config_hash, "best_validation_relative_l2": error or 1e-9}
    return asdict(replace(COST, **named, **diverged))


@pytest.mark.parametrize(
    ("errors", "rate"),
    [
        ((0.3, 0.1, 0.2), 1e-3),
        ((0.3, 0.2, 0.2), 1e-3),  # equal: the first
        ((0.3, None, None), 5e-4),  # its good epoch does not count
        ((None, None, 0.9), 2e-3),
        ((None, None, None), 5e-4),
    ],
)
def test_the_lowest_validation_error_chooses(choose, errors, rate):
    record = json.loads(choose(*errors).read_text())
    assert record["chosen"] == {"learning_rate": rate}
    assert [one["validation_relative_l2"] for one in record["candidates"]] == list(errors)
    assert (record["epochs"], record["seed"]) == (4, 7)


def test_a_chosen_run_leaves_no_state_between_epochs(choose, tmp_path):
    choose(0.3, 0.1, 0.2)
    assert not list(tmp_path.rglob("resume.pt"))


def test_a_short_run_of_other_settings_is_refused(choose):
    with pytest.raises(FileError, match=r"cost\.json belongs to another run \(config_hash"):
        choose(0.3, 0.1, 0.2, config_hash="other")


def test_the_run_and_its_description_have_what_was_chosen(choose):
    tuned = choose(0.3, 0.1, 0.2)
    run = tuned_run(RUN, tuned)
    assert run == {**RUN, "training": {"epochs": 40, "learning_rate": 1e-3}}
    description = {"model": "fno", "training": {"epochs": 40, "noise": 0.0}, "config_hash": "?", "run": RUN}
    found = tuned_description(description, tuned)
    assert found == {
        "model": "fno",
        "training": {"epochs": 40, "noise": 0.0, "learning_rate": 1e-3},
        "config_hash": settings_hash(run),
        "tuning": {key: value for key, value in json.loads(tuned.read_text()).items() if key != "sha256"},
    }
