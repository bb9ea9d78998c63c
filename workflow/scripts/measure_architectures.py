"""Count parameters and operations of the architectures of Calvello et al. 2024."""

from resolvent.planning.job import job

with job(snakemake, alone=True):
    from resolvent.evaluation.conditions import write_table
    from resolvent.measurements.architecture_costs import architecture_costs

    table = architecture_costs(gpus=snakemake.resources.gpu, **snakemake.params.settings)
    write_table(table, snakemake.output.table)
