"""Generate a dataset without Snakemake: all shards, and the card."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from resolvent.datasets.card import finalise
from resolvent.datasets.storage.generation import generate_shard
from resolvent.datasets.tasks.registry import build_task
from resolvent.datasets.tasks.settings import DatasetSettings


def make_dataset(settings: DatasetSettings, base: Path, code_versions: dict, cores: int = 1) -> Path:
    """Generate the store `base`.zarr in `cores` processes; return the path of its card.

    `code_versions` are the versions of what computes the samples. Existing shards are reused. Raises
    `DatasetError` as `finalise`.
    """
    card, receipts = base.with_suffix(".json"), make_shards(settings, base, code_versions, cores)
    finalise(build_task(settings), base.with_suffix(".zarr"), receipts, card, code_versions)
    return card


def make_shards(settings: DatasetSettings, base: Path, code_versions: dict, cores: int = 1) -> list[Path]:
    """Generate the missing shards of the store `base`.zarr in `cores` processes; return all receipts."""
    receipts = [base.with_suffix(".shards") / f"{shard}.json" for shard in range(settings.num_shards)]
    make_shard = partial(_make_shard, settings, base, code_versions)
    missing = [(shard, path) for shard, path in enumerate(receipts) if not path.exists()]
    if cores == 1 or len(missing) < 2:
        for shard, path in missing:
            make_shard(shard, path)
    else:
        with ProcessPoolExecutor(min(cores, len(missing)), get_context("spawn")) as pool:
            for job in as_completed([pool.submit(make_shard, *shard) for shard in missing]):
                job.result()
    return receipts


def _make_shard(
    settings: DatasetSettings, base: Path, code_versions: dict, shard: int, receipt: Path
) -> None:
    generate_shard(build_task(settings), base.with_suffix(".zarr"), shard, receipt, code_versions)
