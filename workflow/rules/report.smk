# From result files to the tables, figures and the page of an experiment.

FIGURES = ["training_curves", "samples", "resolution_curves", "cost_scatter", "error_distributions"]
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
        tables=[f"{EXPERIMENT}/table.{suffix}" for suffix in ("csv", "tex", "html")],
    log:
        f"logs/compare/{plan.configuration.name}/{{experiment}}.log",
    group:
        "report"
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
        histories=lambda wildcards: [f"{f}/history.csv" for f in plan.run_folders(wildcards.experiment)],
        predictions=lambda wildcards: [f"{f}/predictions.nc" for f in plan.run_folders(wildcards.experiment)],
    output:
        [f"{EXPERIMENT}/figures/{figure}.{suffix}" for figure in FIGURES for suffix in ("svg", "png", "pdf")],
    log:
        f"logs/draw_figures/{plan.configuration.name}/{{experiment}}.log",
    group:
        "report"
    conda:
        "../../environment.yml"
    resources:
        **requested(lambda wildcards: drawing(3 * len(plan.run_folders(wildcards.experiment)))),
    params:
        runs=lambda wildcards: plan.run_folders(wildcards.experiment),
        baselines=[BASELINES],
        candidates=lambda wildcards: plan.shown_candidates(wildcards.experiment),
        code=script_digest("draw_figures"),
    script:
        "../scripts/draw_figures.py"


rule report:
    input:
        comparison=f"{EXPERIMENT}/comparison.csv",
        models=f"{EXPERIMENT}/models.csv",
        figures=[f"{EXPERIMENT}/figures/{figure}.svg" for figure in FIGURES],
        card=lambda wildcards: ancient(plan.dataset_of(wildcards.experiment).card),
        assets=ancient(rules.page_assets.output),
    output:
        page=f"{EXPERIMENT}/report.html",
    log:
        f"logs/report/{plan.configuration.name}/{{experiment}}.log",
    group:
        "report"
    conda:
        "../../environment.yml"
    resources:
        **requested(lambda wildcards: drawing(3 * len(plan.run_folders(wildcards.experiment)))),
    params:
        title=lambda wildcards: plan.experiment(wildcards.experiment).title,
        runs=lambda wildcards: plan.run_folders(wildcards.experiment),
        candidates=lambda wildcards: plan.shown_candidates(wildcards.experiment),
        facts=lambda wildcards: plan.caption_facts(wildcards.experiment),
        paper_pages=lambda wildcards: [
            (PAPERS[key].name, link)
            for key, paper in papers.items()
            if (link := paper.link(wildcards.experiment))
        ],
        root=str(plan.results),
        code=script_digest("report"),
    script:
        "../scripts/report.py"
