"""Write the front page of a study."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.front.page import write_front_page
    from resolvent.figures.front.study import write_study
    from resolvent.planning.provenance import command, provenance

    study = snakemake.input.study
    write_study(study, snakemake.params.study, command=command(), provenance=provenance())
    write_front_page(Path(snakemake.output.page).parent)
