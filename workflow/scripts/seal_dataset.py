"""Verify a dataset's shards, measure its errors, write its card."""

from pathlib import Path

from workflow.job import job

with job(snakemake):
    from datasets.card import seal
    from datasets.tasks import build_task, settings_of

    seal(
        build_task(settings_of(snakemake.params.settings)),
        store=Path(snakemake.params.store),
        receipts=[Path(path) for path in snakemake.input.receipts],
        card=Path(snakemake.output.card),
        code_digest=snakemake.params.code,
    )
