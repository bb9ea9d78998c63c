"""Apply one trained step of a flow again and again, from every test sample."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.datasets.storage.layout import resolution_of
    from resolvent.evaluation.rollout import write_rollout

    write_rollout(
        card=Path(snakemake.input.card),
        folder=Path(snakemake.output.rollout).parent,
        resolution=resolution_of(snakemake.wildcards.group),
        test_samples=snakemake.params.test_samples,
        threads=snakemake.threads,
        gpus=snakemake.resources.gpu,
    )
