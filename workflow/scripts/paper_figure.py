"""Draw a figure of a paper."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.papers.items import loaded
    from resolvent.figures.papers.registry import PAPERS

    item = PAPERS[snakemake.wildcards.paper].items[snakemake.wildcards.item]
    loaded(item.location)(*snakemake.params.source, snakemake.output[0])
