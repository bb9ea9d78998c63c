"""Draw the film of a rollout: truth, prediction and difference."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.experiment.rollout_film import draw_rollout_film

    draw_rollout_film(snakemake.input.rollout, snakemake.output.film)
