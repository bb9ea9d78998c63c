"""Write the page of a dataset."""

from pathlib import Path

import yaml

from workflow.job import job

with job(snakemake):
    from figures.dataset_page import write_dataset_page
    from workflow.provenance import command, provenance

    captions = yaml.safe_load(Path(snakemake.input.captions).read_text(encoding="utf-8"))
    write_dataset_page(
        snakemake.output.page,
        card=snakemake.input.card,
        preview=snakemake.input.preview,
        figures=[
            (path, captions[Path(path).stem]["title"], captions[Path(path).stem]["caption"])
            for path in snakemake.input.figures
        ],
        command=command(),
        provenance=provenance(),
    )
