"""Gather runs and yardsticks into the comparison and its tables."""

from workflow.job import job

with job(snakemake):
    from figures.comparison import write_comparison
    from figures.table import write_table

    write_comparison(snakemake.params.runs, snakemake.params.yardsticks, snakemake.output.comparison)
    write_table(snakemake.output.comparison, snakemake.output.tables)
