"""Write the page of a dataset."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.datasets.storage.addresses import located
    from resolvent.figures.dataset.page import write_dataset_page
    from resolvent.planning.captions import captioned
    from resolvent.planning.provenance import command, provenance

    write_dataset_page(
        snakemake.output.page,
        card=snakemake.input.card,
        store=str(located(Path(snakemake.input.card).with_suffix(".zarr"))),
        preview=snakemake.input.preview,
        figures=captioned(snakemake.input.figures, {}),
        command=command(),
        provenance=provenance(),
        root=snakemake.params.root,
    )
