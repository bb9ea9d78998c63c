"""Train one model from several seeds at several learning rates."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.measurements.stability import train_study

    train_study(
        Path(snakemake.output.table),
        card=Path(snakemake.input.card),
        **snakemake.params.study,
        code_digest=snakemake.params.code,
        threads=snakemake.threads,
        gpus=snakemake.resources.gpu,
    )
