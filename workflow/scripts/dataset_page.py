"""Write the page of a dataset."""

from pathlib import Path

from workflow.job import job

with job(snakemake):
    from datasets.addresses import located
    from figures.dataset_page import write_dataset_page
    from workflow.captions import captioned
    from workflow.provenance import command, provenance

    write_dataset_page(
        snakemake.output.page,
        card=snakemake.input.card,
        store=str(located(Path(snakemake.input.card).with_suffix(".zarr"))),
        preview=snakemake.input.preview,
        figures=captioned(snakemake.input.figures, snakemake.input.captions, {}),
        command=command(),
        provenance=provenance(),
    )
