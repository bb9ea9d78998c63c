"""Measure what a step of training costs with each attention."""

from resolvent.planning.job import job

with job(snakemake, alone=True):
    from resolvent.common.runs import save_table
    from resolvent.measurements.step_cost import step_costs

    save_table(step_costs(**snakemake.params.settings, gpus=snakemake.resources.gpu), snakemake.output.table)
