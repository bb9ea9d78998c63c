"""Write the page of the study of stability."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.stability.page import write_stability_page
    from resolvent.figures.stability.runs import read_study
    from resolvent.planning.provenance import command, provenance

    facts = snakemake.params.facts
    write_stability_page(
        snakemake.output.page,
        study=read_study(map(Path, snakemake.input.tables), facts["panels"]),
        facts=facts,
        figures=snakemake.input.figures,
        command=command(),
        provenance=provenance(),
        root=snakemake.params.root,
    )
