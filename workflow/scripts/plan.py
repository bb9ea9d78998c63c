"""Print what a configuration will take."""

from resolvent.planning.job import job

with job(snakemake):
    from resolvent.figures.papers.registry import PAPERS
    from resolvent.planning.configuration.contents import remarks
    from resolvent.planning.configuration.load import load_configuration
    from resolvent.planning.configuration.read import with_defaults
    from resolvent.planning.paper_plan import PaperPlan
    from resolvent.planning.plan import Plan
    from resolvent.planning.prediction.forecast import forecast, jobs
    from resolvent.planning.prediction.needs import Needs

    plan = Plan(load_configuration(with_defaults(snakemake.config)))
    papers = [PaperPlan(plan, key) for key in PAPERS]
    gpus = snakemake.params.gpus
    print(forecast(jobs(plan, papers, Needs(plan, gpu=gpus != 0)), snakemake.params.cores, gpus))
    for words in remarks(plan.configuration):
        print(f"Warning: {words}")
