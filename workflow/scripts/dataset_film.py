"""Draw the film of a dataset's page."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.dataset.film import draw_dataset_film

    draw_dataset_film(snakemake.input.motion, snakemake.output.film)
