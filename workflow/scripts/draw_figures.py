"""Draw the figures of an experiment."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.experiment.cost_scatter import draw_cost_scatter
    from resolvent.figures.experiment.error_distributions import draw_error_distributions
    from resolvent.figures.experiment.error_intervals import draw_error_intervals
    from resolvent.figures.experiment.error_location import draw_error_location
    from resolvent.figures.experiment.inference import draw_inference
    from resolvent.figures.experiment.resolution_curves import draw_resolution_curves
    from resolvent.figures.experiment.samples import draw_samples
    from resolvent.figures.experiment.training_curves import draw_training_curves

    folder = Path(snakemake.output[0]).parent
    runs, comparison = snakemake.params.runs, snakemake.input.comparison
    candidates, named = snakemake.params.candidates, snakemake.params.named
    draw_training_curves(runs, folder / "training_curves.svg")
    draw_samples(candidates, folder / "samples.svg", named, snakemake.params.quantities)
    draw_resolution_curves(comparison, runs, folder / "resolution_curves.svg")
    draw_cost_scatter(comparison, runs, folder / "cost_scatter.svg")
    draw_error_distributions(runs, snakemake.params.baselines, folder / "error_distributions.svg")
    draw_error_intervals(comparison, runs, folder / "error_intervals.svg")
    draw_inference(snakemake.input.inference, runs, folder / "inference.svg")
    draw_error_location(runs, candidates, folder / "error_location.svg", named)
