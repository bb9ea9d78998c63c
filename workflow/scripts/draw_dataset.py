"""Draw the figures of a dataset's page."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.dataset.error_budget import draw_error_budget
    from resolvent.figures.dataset.gallery import draw_dataset_gallery
    from resolvent.figures.dataset.histograms import draw_dataset_histograms
    from resolvent.figures.dataset.spectra import draw_dataset_spectra

    folder = Path(snakemake.output[0]).parent
    card, preview = snakemake.input.card, snakemake.input.preview
    draw_dataset_gallery(card, preview, folder / "dataset_gallery.svg")
    draw_error_budget(card, folder / "error_budget.svg")
    draw_dataset_spectra(card, preview, folder / "dataset_spectra.svg")
    draw_dataset_histograms(card, preview, folder / "dataset_histograms.svg")
