"""Write the front page of a study."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.front.page import write_front_page

    write_front_page(Path(snakemake.output.page).parent)
