# From result files to the tables, figures and the page of an experiment.

REPORTED = sorted(map(str, Path(workflow.basedir).glob("resolvent/figures/published/*.csv")))
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
        reported=REPORTED,
    output:
        comparison=f"{EXPERIMENT}/comparison.csv",
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
        code=code_digest("resolvent.figures.experiment.comparison", "resolvent.figures.common.table"),
    script:
        "../scripts/compare.py"


rule draw_figures:
    input:
        comparison=f"{EXPERIMENT}/comparison.csv",
        baselines=[f"{BASELINES}/{file}" for file in ("errors.csv", "cost.json")],
        histories=lambda wildcards: [f"{f}/history.csv" for f in plan.run_folders(wildcards.experiment)],
        predictions=lambda wildcards: [f"{f}/predictions.nc" for f in plan.run_folders(wildcards.experiment)],
    output:
        [f"{EXPERIMENT}/figures/{figure}.{suffix}" for figure in FIGURES for suffix in ("svg", "png")],
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
        shown=lambda wildcards: plan.shown_run(wildcards.experiment),
        code=code_digest(*(f"resolvent.figures.experiment.{figure}" for figure in FIGURES)),
    script:
        "../scripts/draw_figures.py"


rule report:
    input:
        comparison=f"{EXPERIMENT}/comparison.csv",
        figures=[f"{EXPERIMENT}/figures/{figure}.svg" for figure in FIGURES],
        card=lambda wildcards: ancient(plan.dataset_of(wildcards.experiment).card),
        captions=f"{workflow.basedir}/workflow/report/captions.yaml",
        templates=[
            f"{workflow.basedir}/resolvent/figures/templates/{file}"
            for file in ("report.html.j2", "macros.html.j2", "report.css", "report.js", "references.bib")
        ],
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
        facts=lambda wildcards: plan.caption_facts(wildcards.experiment),
        paper_pages=lambda wildcards: [
            (PAPERS[key].name, link)
            for key, paper in papers.items()
            if (link := paper.link(wildcards.experiment))
        ],
        code=code_digest(
            "resolvent.figures.experiment.report",
            "resolvent.planning.captions",
            "resolvent.planning.provenance",
        ),
    script:
        "../scripts/report.py"
