"""The latent functions of one trained encoder, beside the eigenfunctions of the equation."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.datasets.storage.layout import resolution_of
    from resolvent.evaluation.latent_basis import write_latent_basis

    write_latent_basis(
        card=Path(snakemake.input.card),
        folder=Path(snakemake.output.latent).parent,
        resolution=resolution_of(snakemake.wildcards.group),
        seed=int(snakemake.wildcards.seed),
        test_samples=snakemake.params.test_samples,
        grids=snakemake.params.grids,
        threads=snakemake.threads,
    )
