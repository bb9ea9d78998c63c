"""Gather runs and baselines into the comparison and its tables."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.common.table import write_table
    from resolvent.figures.experiment.comparison import write_comparison

    write_comparison(snakemake.params.runs, snakemake.params.baselines, snakemake.output.comparison)
    write_table(snakemake.output.comparison, snakemake.output.tables)
