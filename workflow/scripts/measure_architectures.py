"""Count parameters and operations of the architectures of Calvello et al. 2024."""

from workflow.job import job

with job(snakemake, alone=True):
    from training.architecture_costs import architecture_costs
    from training.evaluation import write_table

    table = architecture_costs(gpus=snakemake.resources.gpu, **snakemake.params.settings)
    write_table(table, snakemake.output.table)
