"""Compute one shard of a dataset."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.common.files import write_json
    from resolvent.datasets.storage.generation import generate_shard
    from resolvent.datasets.tasks.registry import build_task, settings_of

    cost = generate_shard(
        build_task(settings_of(snakemake.params.settings)),
        store=Path(snakemake.params.store),
        shard=int(snakemake.wildcards.shard),
        receipt=Path(snakemake.output.receipt),
        code_digest=snakemake.params.code,
        address=snakemake.params.address,
    )
    write_json(snakemake.params.cost, cost)
