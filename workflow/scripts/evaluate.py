"""Evaluate one trained model on every resolution and level of noise asked for."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.evaluation.evaluate import evaluate_run

    evaluate_run(
        card=Path(snakemake.input.card),
        folder=Path(snakemake.output.errors).parent,
        description=snakemake.params.description,
        threads=snakemake.threads,
        gpus=snakemake.resources.gpu,
    )
