"""Write the page of a paper."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.papers.page import Made, write_paper_page
    from resolvent.planning.captions import read_captions
    from resolvent.planning.provenance import command, provenance

    key = snakemake.wildcards.paper
    captions, facts = read_captions()[key], snakemake.params.facts
    write_paper_page(
        key,
        snakemake.output.page,
        made={
            item: Made(caption=captions[item], facts=facts[item], **made)
            for item, made in snakemake.params.made.items()
        },
        command=command(),
        provenance=provenance(),
    )
