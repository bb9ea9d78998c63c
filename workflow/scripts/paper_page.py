"""Write the page of a paper."""

from workflow.job import job

with job(snakemake):
    from figures.paper_page import Made, write_paper_page
    from workflow.captions import read_captions
    from workflow.provenance import command, provenance

    key = snakemake.wildcards.paper
    captions = read_captions(snakemake.input.captions)[key]
    facts = snakemake.params.facts
    write_paper_page(
        key,
        snakemake.output.page,
        made={
            item: Made(caption=captions[item].format(**facts[item]), **made)
            for item, made in snakemake.params.made.items()
        },
        command=command(),
        provenance=provenance(),
    )
