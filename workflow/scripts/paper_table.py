"""Write a table of the paper."""

from workflow.job import job

with job(snakemake):
    from figures.cao2021.items import ITEMS

    ITEMS[snakemake.wildcards.item].load()(*snakemake.params.source, snakemake.output)
