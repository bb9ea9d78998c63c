"""Evaluate one trained model on every resolution and level of noise asked for."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.evaluation.evaluate import evaluate_run
    from resolvent.training.tuning import tuned_description

    description, tuned = snakemake.params.description, snakemake.input.get("tuned")
    evaluate_run(
        card=Path(snakemake.input.card),
        folder=Path(snakemake.output.errors).parent,
        description=tuned_description(description, Path(tuned)) if tuned else description,
        threads=snakemake.threads,
        gpus=snakemake.resources.gpu,
        metrics=snakemake.params.metrics,
    )
