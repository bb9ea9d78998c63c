"""Make a table or figure of a paper."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.common.exhibit import Sources
    from resolvent.figures.papers.items import READERS
    from resolvent.figures.papers.registry import PAPERS

    item = PAPERS[snakemake.wildcards.paper].items[snakemake.wildcards.item]
    item.write(Sources(READERS, **snakemake.params.given), snakemake.output[0])
