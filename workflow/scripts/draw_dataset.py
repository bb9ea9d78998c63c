"""Draw the figures of a dataset's page."""

from pathlib import Path

from workflow.job import job

with job(snakemake):
    from figures.dataset_gallery import draw_dataset_gallery
    from figures.dataset_histograms import draw_dataset_histograms
    from figures.dataset_spectra import draw_dataset_spectra
    from figures.truth_budget import draw_truth_budget

    folder = Path(snakemake.output[0]).parent
    card, preview = snakemake.input.card, snakemake.input.preview
    draw_dataset_gallery(card, preview, folder / "dataset_gallery.svg")
    draw_truth_budget(card, folder / "truth_budget.svg")
    draw_dataset_spectra(card, preview, folder / "dataset_spectra.svg")
    draw_dataset_histograms(card, preview, folder / "dataset_histograms.svg")
