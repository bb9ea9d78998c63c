"""Choose the training settings of a model among those that its short runs tried."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.datasets.storage.layout import resolution_of
    from resolvent.training.tuning import choose_settings

    choose_settings(
        snakemake.params.short_runs,
        resolution=resolution_of(snakemake.wildcards.group),
        seed=snakemake.params.seed,
        epochs=snakemake.params.epochs,
        output=Path(snakemake.output.tuned),
    )
