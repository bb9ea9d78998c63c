# Tables, figures and pages of an experiment.

from resolvent.common.records import RUN_FILES
from resolvent.planning.pages import RECORDS, forced_where_missing, sources_of_report

EXPERIMENT = f"{plan.results}/{{experiment}}"
BASELINES = f"{EXPERIMENT}/baselines"


rule compare:
    input:
        runs=of_wildcards(files_of_runs, *RECORDS, "errors.csv", "history.csv"),
        baselines=[f"{BASELINES}/{file}" for file in ("errors.csv", "cost.json")],
    output:
        comparison=report(f"{EXPERIMENT}/comparison.csv", category="{experiment}"),
        models=report(f"{EXPERIMENT}/models.csv", category="{experiment}"),
        tables=[f"{EXPERIMENT}/{name}" for name in ("table.html", "table.csv", "table.tex", "metrics.tex")],
    log:
        f"logs/compare/{plan.configuration.name}/{{experiment}}.log",
    group:
        together("report")
    conda:
        "../../environment.yml"
    resources:
        **requested(drawing_of_runs),
    params:
        **does("compare"),
        runs=of_wildcards(plan.run_folders),
        baselines=[BASELINES],
    script:
        "../scripts/jobs.py"


# One job for all figures of an experiment and its page: starting a job takes longer than drawing a figure.
for _experiment, _settings in plan.configuration.experiments.items():
    _folder = f"{plan.results}/{_experiment}"

    rule:
        name:
            f"report_{_experiment}"
        input:
            comparison=f"{_folder}/comparison.csv",
            models=f"{_folder}/models.csv",
            tables=[f"{_folder}/{name}" for name in ("table.html", "metrics.tex")],
            baselines=[f"{_folder}/baselines/{file}" for file in ("errors.csv", "cost.json")],
            inference=f"{_folder}/inference.csv",
            estimates=f"{_folder}/estimates.csv",
            runs=later(files_of_runs, _experiment, *RECORDS, *RUN_FILES),
            rollout=f"{ROLLED_OUT[_experiment]}/rollout.npz" if _experiment in ROLLED_OUT else [],
            card=card_of(plan.test_dataset_of(_experiment)),
            assets=ancient(rules.page_assets.output),
        output:
            # One folder: a new figure is then no new output, whose missing metadata would hide that the page is outdated.
            report(directory(f"{_folder}/figures"), patterns=["{figure}.svg"], category=_experiment),
            **({"scaling": f"{_folder}/scaling.csv"} if _settings.scaling else {}),
            page=f"{_folder}/report.html",
        log:
            f"logs/report/{plan.configuration.name}/{_experiment}.log",
        group:
            together("report")
        conda:
            "../../environment.yml"
        resources:
            **requested(partial(drawing_of_runs, _experiment)),
        params:
            **does("report", *_settings.own_figures.values()),
            title=_settings.title,
            own=_settings.own_figures,
            sources=later(sources_of_report, plan, _experiment),
            paper_pages=[
                (PAPERS[key].name, link)
                for key, paper in papers.items()
                if (link := paper.link(_experiment))
            ],
            root=later(str, plan.results),
        script:
            "../scripts/jobs.py"


REPORTS = [f"{plan.results}/{name}/report.html" for name in plan.configuration.experiments]


# One job for the pages of all runs of an experiment: starting a job takes longer than writing a page. Only the pages
# about all runs are outputs, since planning slows down with outputs times inputs.
for _experiment in plan.configuration.experiments:

    rule:
        name:
            f"run_pages_{_experiment}"
        input:
            runs=later(inputs_of_run_pages, _experiment),
            card=card_of(plan.test_dataset_of(_experiment)),
            assets=ancient(rules.page_assets.output),
        output:
            [f"{plan.results}/{_experiment}/{file}" for file in ("compare.html", "runs.js")],
        log:
            f"logs/run_pages/{plan.configuration.name}/{_experiment}.log",
        conda:
            "../../environment.yml"
        resources:
            **requested(partial(drawing_of_runs, _experiment)),
        params:
            **does("run_pages"),
            runs=plan.run_folders(_experiment),
            experiment=later(str, plan.results / _experiment),
            title=plan.experiment(_experiment).title,
            quantities=plan.dataset_of(_experiment).settings.quantities,
            root=later(str, plan.results),
        script:
            "../scripts/jobs.py"
