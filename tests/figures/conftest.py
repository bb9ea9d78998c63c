"""Synthetic result directories: what a finished (or diverged) run and the baselines leave behind."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from paper_setting import completed
from run_files import one_level, square, vouched, write_same_predictions

from resolvent.common.records import CONDITION_COLUMNS
from resolvent.figures.common import style
from resolvent.models.registry import ARCHITECTURES, settings_class
from resolvent.models.settings import Settings

PAPER_SETTING = {
    "viscosity": 0.1 / (2 * math.pi),
    "final_time": 1 / (2 * math.pi),
    "sigma": 25.0,
    "tau": 5.0,
    "gamma": 2.0,
    "train_samples": 1024,
    "test_samples": 100,
    "epochs": 100,
    "batch_size": 8,
}
FNO_TRAINING = {"optimiser": "adam_torch_1_8"}  # as the author ran it
SAMPLES = 40
ERROR_COLUMNS = [*CONDITION_COLUMNS, "relative_l2", "relative_h1"]
BASELINES = {
    "mean_predictor": ("Mean predictor", 0.9),
    "identity": ("Identity", 0.7),
    "coarse_solve": ("Coarse classical solve", 4e-7),
    "interpolation_oracle": ("Interpolation oracle", 8e-4),
}


@pytest.fixture(autouse=True)
def formats(request, monkeypatch):
    """Write figures as SVG alone, in a third of the time; but for `every_format`."""
    if "every_format" not in request.keywords:
        monkeypatch.setattr(style, "FORMATS", {".svg": style.FORMATS[".svg"]})


@pytest.fixture
def make_run(tmp_path):
    """Return what writes a run directory and returns its path; `level` is the size of its errors."""
    return lambda model="galerkin", **options: write_run(tmp_path / "runs", model, **options)


@pytest.fixture
def make_baselines(tmp_path):
    """Return what writes the baselines on one grid, with one level of noise, and returns their directory."""
    return lambda resolution=512, noise=0.0: write_baselines(tmp_path / "baselines", resolution, noise)


@pytest.fixture(scope="session")
def writers():
    """Return what writes runs and baselines, for fixtures that outlive a test."""
    return write_run, write_baselines


def write_run(
    folder, model, *, label=None, architecture="transformer1d", attention="galerkin", layer_norm="projection",
    resolution=512, tested=None, seed=1, level=1e-3, errors=None, diverged_epoch=None, setting=None,
    parameters=530_305, seconds=180.0, epochs=30, dimension=1, noise=None, tested_noise=None, realisations=2,
    training=None, settings=None, dataset=None, best_test=(None, None), recipe="code", **more_facts,
):  # fmt: skip
    """A run directory with lognormal errors about `level`, or exactly `errors` at the training resolution.

    With `noise` in training, errors grow with that of the test, and differ between its `realisations`.
    What is not given is as the public code of the paper has it. `settings` of the model and of `training` are
    beside the paper's; `dataset` is in place of Burgers'.
    """
    tested = tested or (resolution,)
    tested_noise = tested_noise or (noise or 0.0,)
    directory = folder / f"{model}-n{resolution}-seed{seed}"
    directory.mkdir(parents=True)
    of_fno = FNO_TRAINING if architecture in ("fno1d", "fno2d") else {}
    setting = {**PAPER_SETTING, **(setting or {})}
    own = {"attention": attention, "layer_norm": layer_norm} if attention else {"width": 64}
    known = settings_class(architecture) if architecture in ARCHITECTURES else Settings
    facts = {
        "experiment": "burgers", "model": model, "label": label or model, "architecture": architecture,
        "recipe": recipe,
        "settings": {**own, **(settings or {})}, "look": list(known.look) if known.look else None,
        "cut_off": known.model_construct(**settings or {}).cut_off(), "resolution": resolution, "seed": seed,
        "dataset": "burgers_cao", "dataset_hash": "d" * 12, "config_hash": f"c{seed}" * 6,
        "code_versions": {"fno1d": 1, "training": 1}, "coarse_points": None,
        "versions": {"torch": "2.13.0", "numpy": "2.4.6"}, "metrics": {}, "grids": "stored",
        "grid": {
            "kind": "nodes" if isinstance(resolution, int) and resolution % 2 else "periodic",
            "points": resolution, "length": 1.0, "dimension": dimension,
        },
        "test_resolutions": list(tested), "test_noise": list(tested_noise),
        "noise_realisations": realisations,
        "dataset_settings": dataset or {
            "equation": "burgers", "viscosity": setting["viscosity"], "final_time": setting["final_time"],
            "initial_distribution": {name: setting[name] for name in ("sigma", "tau", "gamma")},
        },
        "training": {
            "train_samples": setting["train_samples"], "validation_samples": 100,
            "test_samples": setting["test_samples"], "epochs": setting["epochs"],
            "batch_size": setting["batch_size"], **({} if noise is None else {"noise": noise}),
            **of_fno, **(training or {}),
        },
        **more_facts,
    }  # fmt: skip
    facts = completed(facts)
    diverged = diverged_epoch is not None
    lasted = diverged_epoch if diverged else epochs
    cost = {
        "status": "diverged" if diverged else "finished", "diverged_epoch": diverged_epoch, "epochs": lasted,
        "steps": 128 * lasted, "best_epoch": lasted, "best_test_relative_l2": best_test[0],
        "best_test_epoch": best_test[1], "parameters": parameters, "train_seconds": seconds,
        "seconds_per_step": seconds / 128 / max(1, lasted), "peak_memory_bytes": 10**9, "device": "cpu",
        "threads": 1, "processes": 1, "micro_batch_size": setting["batch_size"], "resolution": resolution,
        "seed": seed, "config_hash": facts["config_hash"], "parameters_complex_once": None,
        "forward_flop": None, "best_validation_relative_l2": None if lasted == 0 else level,
    }  # fmt: skip
    (directory / "run.json").write_text(json.dumps(facts))
    (directory / "cost.json").write_text(json.dumps(cost))
    generator = np.random.default_rng([resolution, seed, *model.encode()])
    epoch = np.arange(1, lasted + 1)
    train = level * (0.7 + 300 * np.exp(-7 * epoch / epochs)) * np.exp(0.1 * generator.normal(size=lasted))
    train[lasted - 1 :] *= np.nan if diverged else 1
    history = {
        "epoch": epoch, "learning_rate": 1e-3, "train_loss": train, "train_relative_l2": train,
        "validation_relative_l2": 1.3 * train,
        "test_relative_l2": 1.2 * train if facts["training"].get("record_test_error") else np.nan,
    }  # fmt: skip
    pd.DataFrame(history).to_csv(directory / "history.csv", index=False)
    hardness = np.random.default_rng(7).normal(size=SAMPLES) * 0.45
    rows = []
    for points in tested:
        drift = 1 + 0.4 * abs(math.log2(points / resolution))
        drawn = level * drift * np.exp(hardness + 0.15 * generator.normal(size=SAMPLES))
        drawn = errors if errors is not None else np.full(SAMPLES, np.nan) if diverged else drawn
        rows += [
            (points, one, realisation, sample, value * (1 + one) * (1 + 0.5 * realisation), 3 * value)
            for one in tested_noise
            for realisation in range(realisations if one else 1)
            for sample, value in enumerate(drawn)
        ]
    pd.DataFrame(rows, columns=ERROR_COLUMNS).to_csv(directory / "errors.csv", index=False)
    if dimension == 1:
        write_same_predictions(directory, _lines, tuple(tested), level, diverged)
    else:
        write_same_predictions(directory, _fields, tuple(tested), tuple(tested_noise), level, diverged)
    return vouched(directory)


def write_baselines(folder, resolution, noise):
    """The `n<resolution>` directory of baselines."""
    directory = folder / f"n{resolution}"
    directory.mkdir(parents=True)
    hardness = np.random.default_rng(7).normal(size=SAMPLES) * 0.3
    rows = [
        (key, resolution, noise, 0, sample, level * math.exp(hardness[sample]), level)
        for key, (_, level) in BASELINES.items()
        for sample in range(SAMPLES)
    ]
    pd.DataFrame(rows, columns=["baseline", *ERROR_COLUMNS]).to_csv(directory / "errors.csv", index=False)
    costs = {
        key: {"label": label, "seconds_per_sample": 1e-3, "parameters": 0}
        for key, (label, _) in BASELINES.items()
    }
    record = {
        "experiment": "burgers", "dataset_hash": "d" * 12, "costs": {str(resolution): costs}, "metrics": {}
    }  # fmt: skip
    (directory / "cost.json").write_text(json.dumps(record))
    return vouched(directory)


def _lines(tested, level, diverged):
    phases = np.random.default_rng(11).uniform(0, 1, size=(4, 1))
    parts = {}
    for points in tested:
        x = np.arange(points) / points
        wave = np.sin(2 * np.pi * (x - phases)) + 0.4 * np.sin(6 * np.pi * (x + phases))
        target = np.sin(2 * np.pi * (x - phases)) * 0.4
        wrong = (
            level * np.sin(10 * np.pi * x + 20 * phases) * np.exp(3 * np.cos(2 * np.pi * (x - phases)) - 3)
        )
        prediction = np.full_like(target, np.nan) if diverged else target + wrong
        parts[points] = [one_level(0.0, {"x": x}, wave, target, prediction)]
    return parts


def _fields(tested, tested_noise, level, diverged):
    """Make predictions on squares; with noise, as in the inverse problem, targets have every second point."""
    parts = {}
    for points in tested:
        x = np.linspace(0, 1, points)
        field = 0.02 * np.sin(np.pi * x) * np.sin(np.pi * x[:, None]) * np.arange(1, 5)[:, None, None]
        stride = 2 if any(tested_noise) else 1
        target = field[:, ::stride, ::stride]
        parts[points] = [
            one_level(
                noise, square(x), np.where(field > 0.01, 12.0, 3.0) + noise, target,
                np.full_like(target, np.nan) if diverged else target * (1 + level + noise),
                target_axes=square(x[::2]) if stride > 1 else None,
            )
            for noise in tested_noise
        ]  # fmt: skip
    return parts
