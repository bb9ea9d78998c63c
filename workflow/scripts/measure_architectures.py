"""Count parameters and operations of the architectures of Calvello et al. 2024."""

from resolvent.planning.job import job

with job(snakemake, alone=True):
    from resolvent.common.runs import save_table
    from resolvent.measurements.architecture_costs import architecture_costs

    table = architecture_costs(gpus=snakemake.resources.gpu, **snakemake.params.settings)
    save_table(table, snakemake.output.table)
