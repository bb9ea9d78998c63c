"""Train one model."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.datasets.storage.layout import resolution_of
    from resolvent.training.train import train_run
    from resolvent.training.tuning import tuned_run

    run, tuned = snakemake.params.run, snakemake.input.get("tuned")
    train_run(
        card=Path(snakemake.input.card),
        folder=Path(snakemake.output.checkpoint).parent,
        resolution=resolution_of(snakemake.wildcards.group),
        seed=int(snakemake.wildcards.seed),
        run=tuned_run(run, Path(tuned)) if tuned else run,
        code_digest=snakemake.params.code,
        threads=snakemake.threads,
        gpus=snakemake.resources.gpu,
        processes=snakemake.resources.processes,
        nodes=snakemake.resources.nodes,
    )
