"""Gather runs and baselines into the comparison and its tables."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.experiment.comparison import write_comparison
    from resolvent.figures.experiment.error_table import write_error_tables

    write_comparison(snakemake.params.runs, snakemake.params.baselines, snakemake.output.comparison)
    write_error_tables(snakemake.output.comparison, snakemake.output.tables)
