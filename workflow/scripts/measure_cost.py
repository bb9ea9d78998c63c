"""Measure what a step of training costs with each attention."""

from workflow.job import job

with job(snakemake, alone=True):
    from training.evaluation import write_table
    from training.step_cost import step_costs

    write_table(step_costs(**snakemake.params.settings, gpus=snakemake.resources.gpu), snakemake.output.table)
