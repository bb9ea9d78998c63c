"""Print what a configuration will take."""

from workflow.job import job

with job(snakemake):
    from figures.papers import PAPERS
    from workflow.configuration import load_configuration
    from workflow.forecast import forecast, jobs
    from workflow.needs import Needs
    from workflow.paper_plan import PaperPlan
    from workflow.plan import Plan

    plan = Plan(load_configuration(snakemake.config))
    papers = [PaperPlan(plan, key) for key in PAPERS]
    gpus = snakemake.params.gpus
    print(forecast(jobs(plan, papers, Needs(plan, gpu=gpus != 0)), snakemake.params.cores, gpus))
