"""Evaluate the rows that need no trained network."""

from pathlib import Path

from resolvent.planning.job import job

with job(snakemake):
    import pandas

    from resolvent.common.files import write_json
    from resolvent.evaluation.baselines import measured_baselines
    from resolvent.evaluation.conditions import write_table

    tables, costs = [], {}
    for resolution in snakemake.params.resolutions:
        errors, costs[resolution] = measured_baselines(
            Path(snakemake.input.card),
            resolution,
            counts=snakemake.params.samples,
            noise=snakemake.params.noise,
            realisations=snakemake.params.realisations,
        )
        tables.append(errors)
    write_json(snakemake.output.cost, costs)
    write_table(pandas.concat(tables), snakemake.output.errors)
