"""Write the page of a paper."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.papers.page import Made, write_paper_page
    from resolvent.planning.provenance import command, provenance

    write_paper_page(
        snakemake.wildcards.paper,
        snakemake.output.page,
        made={item: Made(**made) for item, made in snakemake.params.made.items()},
        command=command(),
        provenance=provenance(),
        root=snakemake.params.root,
    )
