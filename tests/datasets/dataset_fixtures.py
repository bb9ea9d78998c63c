"""A small Burgers dataset, and the job that makes it, without Snakemake."""

from pathlib import Path

from datasets.card import seal
from datasets.generation import generate_shard
from datasets.settings import BurgersDataset
from datasets.tasks import build_task

CODE = "0123456789abcdef"


def small_settings(**changes) -> BurgersDataset:
    content = {
        "equation": "burgers",
        "resolutions": [64, 128],
        "finest": 512,
        "samples": {"train": 20, "validation": 4, "test": 6},
        "samples_per_shard": 10,
    }
    return BurgersDataset.model_validate(content | changes)


def make_dataset(folder: Path, settings: BurgersDataset) -> Path:
    """Generate and seal; returns the card's path."""
    task, store, card = build_task(settings), folder / "burgers.zarr", folder / "burgers.json"
    receipts = [folder / "burgers.shards" / f"{shard}.json" for shard in range(settings.num_shards)]
    for shard, receipt in enumerate(receipts):
        generate_shard(task, store, shard, receipt, CODE)
    seal(task, store, receipts, card, CODE)
    return card
