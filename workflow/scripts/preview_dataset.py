"""Take from a store what its page shows."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.datasets.preview import write_preview

    write_preview(Path(snakemake.input.card), Path(snakemake.output.preview))
