"""Evaluate the rows that need no trained network."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.evaluation.baselines import write_baselines

    write_baselines(
        Path(snakemake.input.card),
        Path(snakemake.output.cost).parent,
        experiment=snakemake.wildcards.experiment,
        resolutions=snakemake.params.resolutions,
        counts=snakemake.params.samples,
        noise=snakemake.params.noise,
        realisations=snakemake.params.realisations,
        metrics=snakemake.params.metrics,
        own=snakemake.params.own,
    )
