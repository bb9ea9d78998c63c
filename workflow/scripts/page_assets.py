"""Write what the pages of a study load: style, script and libraries."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.common.assets import write_assets

    write_assets(Path(snakemake.output[0]).parent)
