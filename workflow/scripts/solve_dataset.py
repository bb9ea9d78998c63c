"""Compute one shard of a dataset."""

from pathlib import Path

from workflow.job import job

with job(snakemake):
    from datasets.files import write_json
    from datasets.generation import generate_shard
    from datasets.tasks import build_task, settings_of

    cost = generate_shard(
        build_task(settings_of(snakemake.params.settings)),
        store=Path(snakemake.params.store),
        shard=int(snakemake.wildcards.shard),
        receipt=Path(snakemake.output.receipt),
        code_digest=snakemake.params.code,
        address=snakemake.params.address,
    )
    write_json(snakemake.params.cost, cost)
