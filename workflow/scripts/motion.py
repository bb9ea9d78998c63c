"""Solve a sample of a dataset again, and observe it at many moments."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.datasets.preview import write_motion

    write_motion(Path(snakemake.input.card), Path(snakemake.output.motion))
