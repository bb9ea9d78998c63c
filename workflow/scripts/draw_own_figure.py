"""Draw a figure of a user's own."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.common.own import OwnFigure
    from resolvent.figures.common.results import read_runs
    from resolvent.figures.common.style import save
    from resolvent.models.outside import find

    figure = find(snakemake.params.location, OwnFigure)
    save(figure.draw(read_runs(snakemake.params.runs)), snakemake.output[0])
