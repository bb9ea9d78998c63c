"""Draw the figures of a dataset, write its page, and its metadata beside it."""

from datetime import UTC, datetime
from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.datasets.storage.addresses import located
    from resolvent.datasets.storage.object_store import size_of
    from resolvent.figures.dataset.croissant import write_croissant
    from resolvent.figures.dataset.page import exhibits_of, write_dataset_page
    from resolvent.planning.provenance import command, provenance

    card, page = Path(snakemake.input.card), Path(snakemake.output.page)
    store = located(card.with_suffix(".zarr"))
    finished = datetime.fromtimestamp(card.stat().st_mtime, UTC).date().isoformat()
    write_croissant(snakemake.output.croissant, card=card, store=str(store), page=page.name, date=finished)
    write_dataset_page(
        page,
        card=card,
        store=str(store),
        size=size_of(store),
        preview=snakemake.input.preview,
        motion=snakemake.input.get("motion"),
        exhibits=exhibits_of(**snakemake.params.shown),
        used_by=snakemake.params.used_by,
        croissant=snakemake.output.croissant,
        command=command(),
        provenance=provenance(),
        root=snakemake.params.root,
    )
