"""Write a table of a paper."""

from workflow.job import job

with job(snakemake):
    from figures.items import loaded
    from figures.papers import PAPERS

    item = PAPERS[snakemake.wildcards.paper].items[snakemake.wildcards.item]
    loaded(item.location)(*snakemake.params.source, snakemake.output)
