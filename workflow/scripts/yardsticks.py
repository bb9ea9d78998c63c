"""Evaluate the rows that need no training."""

from pathlib import Path

from workflow.job import job

with job(snakemake):
    from datasets.files import write_json
    from datasets.loading import load_samples, read_card
    from datasets.tasks import build_task, settings_of
    from training.evaluation import write_table
    from training.yardsticks import yardsticks

    card, points, counts = (
        Path(snakemake.input.card),
        int(snakemake.wildcards.resolution),
        snakemake.params.samples,
    )
    errors, costs = yardsticks(
        load_samples(card, points, "train", counts["train"]),
        load_samples(card, points, "test", counts["test"]),
        build_task(settings_of(read_card(card)["settings"])),
    )
    write_json(snakemake.output.cost, costs)
    write_table(errors, snakemake.output.errors)
