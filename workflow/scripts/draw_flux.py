"""Draw coefficient, pressure and flux of a Darcy dataset."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.dataset.flux import draw_dataset_flux

    draw_dataset_flux(snakemake.input.card, snakemake.input.preview, snakemake.output[0])
