# Tables, figures and pages of an experiment.

from resolvent.common.records import RUN_FILES
from resolvent.figures.common.exhibit import SUFFIXES
from resolvent.figures.experiment.report import exhibits_of
from resolvent.planning.pages import RECORDS, forced_where_missing, given_to_report

EXPERIMENT = f"{plan.results}/{{experiment}}"
BASELINES = f"{EXPERIMENT}/baselines"
# Result files of the evaluated runs of an experiment, for figures and pages.
results_of = lambda experiment: files_of_runs(experiment, "run.json", "cost.json", *RUN_FILES)


rule compare:
    input:
        runs=lambda wildcards: files_of_runs(
            wildcards.experiment, "run.json", "cost.json", "errors.csv", "history.csv"
        ),
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
        **requested(lambda wildcards: drawing(3 * len(plan.run_folders(wildcards.experiment)))),
    params:
        **does("compare"),
        runs=lambda wildcards: plan.run_folders(wildcards.experiment),
        baselines=[BASELINES],
    script:
        "../scripts/jobs.py"


# One job for all figures of an experiment and its page: starting a job takes longer than drawing a figure.
for _experiment, _settings in plan.configuration.experiments.items():
    _folder = f"{plan.results}/{_experiment}"
    _own = {f"{_folder}/own_figures/{name}.svg": where for name, where in _settings.own_figures.items()}
    _shown = exhibits_of(_settings.stress.shifts, _settings.scaling is not None, _settings.rates_swept)
    _film = f"{ROLLED_OUT[_experiment]}/rollout" if _experiment in ROLLED_OUT else None

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
            runs=lambda wildcards, experiment=_experiment: results_of(experiment),
            rollout=f"{ROLLED_OUT[_experiment]}/rollout.npz" if _film else [],
            card=card_of(plan.test_dataset_of(_experiment)),
            assets=ancient(rules.page_assets.output),
        output:
            [
                report(made, category=_experiment) if suffix == ".svg" else made
                for file in [*(f"{_folder}/figures/{name}.svg" for name in _shown), *_own]
                for suffix in SUFFIXES["figure"]
                for made in [str(Path(file).with_suffix(suffix))]
            ],
            **({"film": f"{_film}.mp4", "poster": f"{_film}.png"} if _film else {}),
            **({"scaling": f"{_folder}/scaling.csv"} if _settings.scaling else {}),
            page=f"{_folder}/report.html",
        log:
            f"logs/report/{plan.configuration.name}/{_experiment}.log",
        group:
            together("report")
        conda:
            "../../environment.yml"
        resources:
            **requested(drawing(3 * len(plan.run_folders(_experiment)))),
        params:
            **does("report", *_own.values()),
            title=_settings.title,
            own=_own,
            given=lambda wildcards, experiment=_experiment: given_to_report(plan, experiment),
            paper_pages=[
                (PAPERS[key].name, link)
                for key, paper in papers.items()
                if (link := paper.link(_experiment))
            ],
            root=lambda wildcards: str(plan.results),
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
            runs=lambda wildcards, experiment=_experiment: forced_where_missing(
                workflow,
                f"run_pages_{experiment}",
                f"{plan.results}/{experiment}/compare.html",
                files_of_runs(experiment, "run.html", "run.js"),
            )
            or files_of_runs(experiment, *RECORDS),
            card=card_of(plan.test_dataset_of(_experiment)),
            assets=ancient(rules.page_assets.output),
        output:
            [f"{plan.results}/{_experiment}/{file}" for file in ("compare.html", "runs.js")],
        log:
            f"logs/run_pages/{plan.configuration.name}/{_experiment}.log",
        conda:
            "../../environment.yml"
        resources:
            **requested(drawing(3 * len(plan.run_folders(_experiment)))),
        params:
            **does("run_pages"),
            runs=plan.run_folders(_experiment),
            experiment=lambda wildcards, experiment=_experiment: f"{plan.results}/{experiment}",
            title=plan.experiment(_experiment).title,
            quantities=plan.dataset_of(_experiment).settings.quantities,
            root=lambda wildcards: str(plan.results),
        script:
            "../scripts/jobs.py"
