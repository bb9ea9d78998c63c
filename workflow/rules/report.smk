# From result files to the tables, figures and the page of an experiment.

from resolvent.common.records import RUN_FILES
from resolvent.planning.captions import read_captions
from resolvent.planning.captions import caption_facts

FIGURES = [
    "error_intervals",
    "resolution_curves",
    "error_distributions",
    "training_curves",
    "samples",
    "error_location",
    "cost_scatter",
    "inference",
]
CAPTIONS = read_captions()
EXPERIMENT = f"{plan.results}/{{experiment}}"
BASELINES = f"{EXPERIMENT}/baselines"


rule compare:
    input:
        runs=lambda wildcards: [
            f"{folder}/{file}"
            for folder in plan.run_folders(wildcards.experiment)
            for file in ("run.json", "cost.json", "errors.csv")
        ],
        baselines=[f"{BASELINES}/{file}" for file in ("errors.csv", "cost.json")],
    output:
        comparison=f"{EXPERIMENT}/comparison.csv",
        models=f"{EXPERIMENT}/models.csv",
        tables=[
            report(
                f"{EXPERIMENT}/table.html",
                caption="../report/table.rst",
                category="Experiments",
                subcategory="{experiment}",
                labels={"what": "Table of errors"},
            ),
            *[f"{EXPERIMENT}/table.{suffix}" for suffix in ("csv", "tex")],
        ],
    log:
        f"logs/compare/{plan.configuration.name}/{{experiment}}.log",
    group:
        together("report")
    conda:
        "../../environment.yml"
    resources:
        **requested(lambda wildcards: drawing(3 * len(plan.run_folders(wildcards.experiment)))),
    params:
        runs=lambda wildcards: plan.run_folders(wildcards.experiment),
        baselines=[BASELINES],
        code=script_digest("compare"),
    script:
        "../scripts/compare.py"


rule draw_figures:
    input:
        comparison=f"{EXPERIMENT}/comparison.csv",
        models=f"{EXPERIMENT}/models.csv",
        baselines=[f"{BASELINES}/{file}" for file in ("errors.csv", "cost.json")],
        inference=f"{EXPERIMENT}/inference.csv",
        histories=lambda wildcards: [f"{f}/history.csv" for f in plan.run_folders(wildcards.experiment)],
        predictions=lambda wildcards: [f"{f}/predictions.nc" for f in plan.run_folders(wildcards.experiment)],
    output:
        *[
            report(
                f"{EXPERIMENT}/figures/{figure}.svg",
                caption=f"../report/{figure}.rst",
                category="Experiments",
                subcategory="{experiment}",
                labels={"what": CAPTIONS[figure]["title"]},
            )
            for figure in FIGURES
        ],
        *[f"{EXPERIMENT}/figures/{figure}.{suffix}" for figure in FIGURES for suffix in ("png", "pdf")],
    log:
        f"logs/draw_figures/{plan.configuration.name}/{{experiment}}.log",
    group:
        together("report")
    conda:
        "../../environment.yml"
    resources:
        **requested(lambda wildcards: drawing(3 * len(plan.run_folders(wildcards.experiment)))),
    params:
        runs=lambda wildcards: plan.run_folders(wildcards.experiment),
        baselines=[BASELINES],
        candidates=lambda wildcards: plan.shown_candidates(wildcards.experiment),
        named=lambda wildcards: plan.experiment(wildcards.experiment).names_shown,
        quantities=lambda wildcards: plan.dataset_of(wildcards.experiment).settings.quantities,
        code=script_digest("draw_figures"),
    script:
        "../scripts/draw_figures.py"


rule draw_own_figure:
    input:
        lambda wildcards: [
            f"{folder}/{file}"
            for folder in plan.run_folders(wildcards.experiment)
            for file in ("run.json", "cost.json", *RUN_FILES)
        ],
    output:
        report(
            f"{EXPERIMENT}/own_figures/{{figure}}.svg",
            category="Experiments",
            subcategory="{experiment}",
            labels={"what": "{figure}"},
        ),
        [f"{EXPERIMENT}/own_figures/{{figure}}.{suffix}" for suffix in ("png", "pdf")],
    log:
        f"logs/draw_own_figure/{plan.configuration.name}/{{experiment}}/{{figure}}.log",
    group:
        together("report")
    conda:
        "../../environment.yml"
    resources:
        **requested(lambda wildcards: drawing(3 * len(plan.run_folders(wildcards.experiment)))),
    params:
        runs=lambda wildcards: plan.run_folders(wildcards.experiment),
        location=lambda wildcards: plan.experiment(wildcards.experiment).own_figures[wildcards.figure],
        code=lambda wildcards: script_digest(
            "draw_own_figure", plan.experiment(wildcards.experiment).own_figures[wildcards.figure]
        ),
    script:
        "../scripts/draw_own_figure.py"


rule report:
    input:
        comparison=f"{EXPERIMENT}/comparison.csv",
        models=f"{EXPERIMENT}/models.csv",
        tables=rules.compare.output.tables,
        inference=f"{EXPERIMENT}/inference.csv",
        figures=[f"{EXPERIMENT}/figures/{figure}.svg" for figure in FIGURES],
        own_figures=lambda wildcards: [
            f"{plan.results}/{wildcards.experiment}/own_figures/{figure}.svg"
            for figure in plan.experiment(wildcards.experiment).own_figures
        ],
        film=lambda wildcards: (
            f"{ROLLED_OUT[wildcards.experiment]}/rollout.mp4" if wildcards.experiment in ROLLED_OUT else []
        ),
        card=lambda wildcards: card_of(plan.dataset_of(wildcards.experiment)),
        assets=ancient(rules.page_assets.output),
    output:
        page=f"{EXPERIMENT}/report.html",
    log:
        f"logs/report/{plan.configuration.name}/{{experiment}}.log",
    group:
        together("report")
    conda:
        "../../environment.yml"
    resources:
        **requested(lambda wildcards: drawing(3 * len(plan.run_folders(wildcards.experiment)))),
    params:
        title=lambda wildcards: plan.experiment(wildcards.experiment).title,
        runs=lambda wildcards: plan.run_folders(wildcards.experiment),
        candidates=lambda wildcards: plan.shown_candidates(wildcards.experiment),
        named=lambda wildcards: plan.experiment(wildcards.experiment).names_shown,
        baselines=[BASELINES],
        facts=lambda wildcards: caption_facts(plan, wildcards.experiment),
        paper_pages=lambda wildcards: [
            (PAPERS[key].name, link)
            for key, paper in papers.items()
            if (link := paper.link(wildcards.experiment))
        ],
        own_figures=lambda wildcards: list(plan.experiment(wildcards.experiment).own_figures.values()),
        root=lambda wildcards: str(plan.results),
        code=lambda wildcards: script_digest(
            "report", *plan.experiment(wildcards.experiment).own_figures.values()
        ),
    script:
        "../scripts/report.py"


# The pages of all runs of an experiment are one job: to start a job takes longer than to write a page.
RUN_PAGES = {
    name: [
        *[f"{folder}/{file}" for folder in plan.run_folders(name) for file in ("run.html", "run.js")],
        *[f"{plan.results}/{name}/{file}" for file in ("compare.html", "runs.js")],
    ]
    for name in plan.configuration.experiments
}

for _experiment, _pages in RUN_PAGES.items():

    rule:
        name:
            f"run_pages_{_experiment}"
        input:
            runs=lambda wildcards, experiment=_experiment: [
                f"{folder}/{file}"
                for folder in plan.run_folders(experiment)
                for file in ("run.json", "cost.json", *RUN_FILES)
            ],
            card=card_of(plan.test_dataset_of(_experiment)),
            assets=ancient(rules.page_assets.output),
        output:
            _pages,
        log:
            f"logs/run_pages/{plan.configuration.name}/{_experiment}.log",
        conda:
            "../../environment.yml"
        resources:
            **requested(drawing(3 * len(plan.run_folders(_experiment)))),
        params:
            runs=plan.run_folders(_experiment),
            experiment=lambda wildcards, experiment=_experiment: f"{plan.results}/{experiment}",
            title=plan.experiment(_experiment).title,
            quantities=plan.dataset_of(_experiment).settings.quantities,
            root=lambda wildcards: str(plan.results),
            code=script_digest("run_pages"),
        script:
            "../scripts/run_pages.py"
