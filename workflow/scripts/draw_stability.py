"""Draw the figures of the study of stability."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.stability.curves import draw_stability_curves
    from resolvent.figures.stability.errors import draw_stability_errors
    from resolvent.figures.stability.fractions import draw_stability_fractions
    from resolvent.figures.stability.runs import read_study

    panels, folder = snakemake.params.facts["panels"], Path(snakemake.output[0]).parent
    study = read_study(map(Path, snakemake.input), panels)
    draw_stability_fractions(study, folder / "stability_fractions.svg")
    draw_stability_errors(study, folder / "stability_errors.svg")
    draw_stability_curves(study, folder / "stability_curves.svg")
