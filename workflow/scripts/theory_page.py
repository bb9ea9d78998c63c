"""Draw the figures of the theory and write its page."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.theory.page import write_theory_page
    from resolvent.planning.provenance import command, provenance

    write_theory_page(
        snakemake.output.page,
        folder=Path(snakemake.input[0]).parent,
        settings=snakemake.params.settings,
        command=command(),
        provenance=provenance(),
        root=snakemake.params.root,
    )
