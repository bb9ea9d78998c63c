"""Evaluate the rows that need no trained network."""

from pathlib import Path

from workflow.job import job

with job(snakemake):
    from datasets.files import write_json
    from datasets.layout import resolution_of
    from training.evaluation import write_table
    from training.yardsticks import measured_yardsticks

    errors, costs = measured_yardsticks(
        Path(snakemake.input.card),
        resolution_of(snakemake.wildcards.group),
        counts=snakemake.params.samples,
        noise=snakemake.params.noise,
        realisations=snakemake.params.realisations,
    )
    write_json(snakemake.output.cost, costs)
    write_table(errors, snakemake.output.errors)
