"""Draw the figures of the study of stability, one for each panel."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.stability.panel import draw_stability_panel
    from resolvent.figures.stability.runs import read_study

    panels = snakemake.params.facts["panels"]
    figures = [file for file in snakemake.output if file.endswith(".svg")]  # the PDF and the PNG lie beside
    study = read_study(map(Path, snakemake.input), panels)
    for panel, figure in zip(panels, figures, strict=True):
        draw_stability_panel(study, panel, figure)
