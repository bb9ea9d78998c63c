"""Verify a dataset's shards, measure its errors, write its card."""

import sys
from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.datasets.storage.card import finalise
    from resolvent.datasets.tasks.registry import build_task, settings_of

    facts = finalise(
        build_task(settings_of(snakemake.params.settings)),
        store=Path(snakemake.params.store),
        receipts=[Path(path) for path in snakemake.input.receipts],
        card=Path(snakemake.output.card),
        code_digest=snakemake.params.code,
    )
    imported = facts.get("imported", {"warnings": []})
    for warning in imported["warnings"]:
        sys.stderr.write(f"{snakemake.rule}: warning: {warning}\n")
