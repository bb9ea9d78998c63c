"""Synthetic result directories: what a finished (or diverged) run and the yardsticks leave behind."""

import json
import math

import numpy as np
import pandas as pd
import pytest

PAPER_SETTING = {
    "viscosity": 0.1 / (2 * math.pi),
    "final_time": 1.0,
    "sigma": 25.0,
    "tau": 5.0,
    "gamma": 2.0,
    "train_samples": 1024,
    "epochs": 100,
    "batch_size": 8,
}
SAMPLES = 40
YARDSTICKS = {
    "mean_predictor": ("Mean predictor", 0.9),
    "identity": ("Identity", 0.7),
    "coarse_solve": ("Coarse classical solve", 4e-7),
    "interpolation_oracle": ("Interpolation oracle", 8e-4),
}


@pytest.fixture
def make_run(tmp_path):
    """Write a run directory and return its path; `level` is the size of its errors."""

    def make(model="galerkin", **options):
        return write_run(tmp_path / "runs", model, **options)

    return make


@pytest.fixture
def make_yardsticks(tmp_path):
    """Write the yardsticks on one grid and return their directory."""

    def make(resolution=512):
        return write_yardsticks(tmp_path / "yardsticks", resolution)

    return make


def write_run(
    folder, model, *, label=None, architecture="transformer1d", attention="galerkin", layer_norm="projection",
    resolution=512, tested=None, seed=1, level=1e-3, errors=None, diverged_epoch=None, setting=None,
    parameters=530_305, seconds=180.0, epochs=30, dimension=1, training=None,
):  # fmt: skip
    """A run directory with lognormal errors about `level`, or exactly `errors` at the training resolution."""
    tested = tested or (resolution,)
    directory = folder / f"{model}-n{resolution}-seed{seed}"
    directory.mkdir(parents=True)
    setting = {**PAPER_SETTING, **(setting or {})}
    settings = {"attention": attention, "layer_norm": layer_norm} if attention else {"width": 64}
    facts = {
        "experiment": "burgers", "model": model, "label": label or model, "architecture": architecture,
        "settings": settings, "resolution": resolution, "seed": seed, "dataset": "burgers_cao",
        "dataset_hash": "d" * 12, "config_hash": f"c{seed}" * 6, "code_digest": "e" * 12,
        "versions": {"torch": "2.13.0", "numpy": "2.4.6"},
        "dataset_settings": {
            "viscosity": setting["viscosity"], "final_time": setting["final_time"],
            "initial_law": {name: setting[name] for name in ("sigma", "tau", "gamma")},
        },
        "training": {
            "train_samples": setting["train_samples"], "validation_samples": 128,
            "test_samples": SAMPLES, "epochs": setting["epochs"],
            "batch_size": setting["batch_size"], **(training or {}),
        },
    }  # fmt: skip
    diverged = diverged_epoch is not None
    lasted = diverged_epoch if diverged else epochs
    cost = {
        "status": "diverged" if diverged else "finished", "diverged_epoch": diverged_epoch, "epochs": lasted,
        "steps": 128 * lasted, "best_epoch": lasted, "parameters": parameters, "train_seconds": seconds,
        "seconds_per_step": seconds / 128 / max(1, lasted), "peak_memory_bytes": 10**9, "device": "cpu",
        "threads": 1,
    }  # fmt: skip
    (directory / "run.json").write_text(json.dumps(facts))
    (directory / "cost.json").write_text(json.dumps(cost))
    generator = np.random.default_rng([resolution, seed, *model.encode()])
    _write_history(directory, generator, lasted, epochs, level, diverged)
    hardness = np.random.default_rng(7).normal(size=SAMPLES) * 0.45
    rows = []
    for points in tested:
        drift = 1 + 0.4 * abs(math.log2(points / resolution))
        drawn = level * drift * np.exp(hardness + 0.15 * generator.normal(size=SAMPLES))
        drawn = errors if errors is not None else np.full(SAMPLES, np.nan) if diverged else drawn
        rows += [(points, sample, value, 3 * value) for sample, value in enumerate(drawn)]
    _errors(rows).to_csv(directory / "errors.csv", index=False)
    write = _write_predictions if dimension == 1 else _write_fields
    write(directory, generator, tested, level, diverged)
    return directory


def write_yardsticks(folder, resolution):
    """The `n<resolution>` directory of yardsticks."""
    directory = folder / f"n{resolution}"
    directory.mkdir(parents=True)
    hardness = np.random.default_rng(7).normal(size=SAMPLES) * 0.3
    rows = [
        (key, resolution, sample, level * math.exp(hardness[sample]), level)
        for key, (_, level) in YARDSTICKS.items()
        for sample in range(SAMPLES)
    ]
    columns = ["yardstick", "resolution", "sample", "relative_l2", "relative_h1"]
    pd.DataFrame(rows, columns=columns).to_csv(directory / "errors.csv", index=False)
    costs = {
        key: {"label": label, "seconds_per_sample": 1e-3, "parameters": 0}
        for key, (label, _) in YARDSTICKS.items()
    }
    (directory / "cost.json").write_text(json.dumps(costs))
    return directory


def _errors(rows):
    return pd.DataFrame(rows, columns=["resolution", "sample", "relative_l2", "relative_h1"])


def _write_history(directory, generator, lasted, epochs, level, diverged):
    epoch = np.arange(1, lasted + 1)
    train = level * (0.7 + 300 * np.exp(-7 * epoch / epochs)) * np.exp(0.1 * generator.normal(size=lasted))
    validation = 1.3 * train
    if diverged and lasted:
        train[-1] = validation[-1] = np.nan
    history = {
        "epoch": epoch, "learning_rate": 1e-3, "train_loss": train, "train_relative_l2": train,
        "validation_relative_l2": validation,
    }  # fmt: skip
    pd.DataFrame(history).to_csv(directory / "history.csv", index=False)


def _write_predictions(directory, generator, tested, level, diverged):
    stored = {"samples": np.array([3, 11, 19, 27])}
    phases = np.random.default_rng(11).uniform(0, 1, size=(4, 1))
    for points in tested:
        x = np.arange(points) / points
        wave = np.sin(2 * np.pi * (x - phases)) + 0.4 * np.sin(6 * np.pi * (x + phases))
        target = np.sin(2 * np.pi * (x - phases)) * 0.4
        wrong = (
            level * np.sin(10 * np.pi * x + 20 * phases) * np.exp(3 * np.cos(2 * np.pi * (x - phases)) - 3)
        )
        prediction = np.full_like(target, np.nan) if diverged else target + wrong
        stored |= {
            f"x_{points}": x, f"input_{points}": wave, f"target_{points}": target,
            f"prediction_{points}": prediction,
        }  # fmt: skip
    np.savez(directory / "predictions.npz", **stored)


def _write_fields(directory, generator, tested, level, diverged):
    stored = {"samples": np.array([3, 11, 19, 27])}
    for points in tested:
        x = np.linspace(0, 1, points)
        target = 0.02 * np.sin(np.pi * x) * np.sin(np.pi * x[:, None]) * np.arange(1, 5)[:, None, None]
        prediction = np.full_like(target, np.nan) if diverged else target * (1 + level)
        stored |= {
            f"x_{points}": x, f"input_{points}": np.where(target > 0.01, 12.0, 3.0),
            f"target_{points}": target, f"prediction_{points}": prediction,
        }  # fmt: skip
    np.savez(directory / "predictions.npz", **stored)
