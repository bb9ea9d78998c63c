"""Draw the figures of the study of stability and write its page."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.stability.page import write_stability_page
    from resolvent.planning.provenance import command, provenance

    write_stability_page(
        snakemake.output.page,
        tables=snakemake.input.tables,
        facts=snakemake.params.facts,
        figures=snakemake.output.figures,
        command=command(),
        provenance=provenance(),
        root=snakemake.params.root,
    )
