"""Small datasets of every equation, and the jobs that make them, without Snakemake."""

from pathlib import Path

from resolvent.datasets.storage.card import finalise
from resolvent.datasets.storage.generation import generate_shard
from resolvent.datasets.tasks.burgers import BurgersDataset
from resolvent.datasets.tasks.registry import build_task, settings_of

CODE = "0123456789abcdef"
FEW = {"train": 3, "validation": 1, "test": 2}
OBSERVATIONS = {"dt0.02": {"step": 0.02}, "random": {"kind": "random", "count": 30}}
SMALL = {
    "burgers": {
        "resolutions": [64, 128],
        "finest": 512,
        "samples": {"train": 20, "validation": 4, "test": 6},
        "samples_per_shard": 10,
    },
    "darcy": {"finest": 33, "resolutions": [33, 17], "samples": FEW, "samples_per_shard": 4},
    "darcy_inverse": {
        "finest": 25,
        "resolutions": [13],
        "coarse": [5],
        "samples": FEW,
        "samples_per_shard": 4,
    },
    "lorenz63": {
        "final_time": 0.4,
        "observations": OBSERVATIONS,
        "samples": FEW,
        "samples_per_shard": 4,
    },
    "controlled_ode": {
        "final_time": 0.4,
        "observations": OBSERVATIONS,
        "samples": FEW,
        "samples_per_shard": 4,
    },
    "kolmogorov": {
        "resolutions": [32, 48],
        "viscosity": 0.05,
        "num_modes": 16,
        "step": 0.02,
        "spin_up_time": 0.4,
        "samples": FEW,
        "samples_per_shard": 4,
        "accuracy": 1.0e-3,
    },
}


def small(equation: str, **changes):
    """Settings of a dataset of `equation` that takes a second or two to make."""
    return settings_of({"equation": equation, **SMALL[equation], **changes})


def small_settings(**changes) -> BurgersDataset:
    return small("burgers", **changes)


def make_dataset(folder: Path, settings, address: str | None = None) -> Path:
    """Generate and finalise in `folder`, under the equation's name; returns the card's path."""
    task, name = build_task(settings), settings.equation
    store, card = folder / f"{name}.zarr", folder / f"{name}.json"
    receipts = [folder / f"{name}.shards" / f"{shard}.json" for shard in range(settings.num_shards)]
    for shard, receipt in enumerate(receipts):
        generate_shard(task, store, shard, receipt, CODE, address)
    finalise(task, store, receipts, card, CODE)
    return card
