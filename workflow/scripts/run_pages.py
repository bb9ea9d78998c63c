"""Write the pages of the runs of an experiment, and the page that compares two of them."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.run.page import write_run_pages
    from resolvent.planning.provenance import command, provenance

    write_run_pages(
        snakemake.params.runs,
        experiment=snakemake.params.experiment,
        root=snakemake.params.root,
        title=snakemake.params.title,
        card=snakemake.input.card,
        quantities=snakemake.params.quantities,
        command=command(),
        provenance=provenance(),
    )
