# The front page, from all results of the study. If a job fails, `onerror` writes the page from the other results.


rule front_page:
    input:
        ancient(rules.page_assets.output),
        study=rules.plan_study.output.study,
        # Functions instead of lists, because Snakemake hashes a whole list once for each of its files.
        cards=lambda wildcards: [
            of_data(file) for dataset in plan.datasets.values() for file in (dataset.card, dataset.preview)
        ],
        runs=lambda wildcards: [
            file
            for e in plan.configuration.experiments
            for file in files_of_runs(e, "run.json", "cost.json")
        ],
        comparisons=lambda wildcards: expand(
            [rules.compare.output.comparison, rules.compare.output.models, rules.inference.output.table],
            experiment=plan.configuration.experiments,
        ),
        # Only linked to, so changes of their content do not matter.
        pages=lambda wildcards: ancient(
            [
                *REPORTS,
                *(f"{plan.results}/{e}/compare.html" for e in plan.configuration.experiments),
                *expand(f"{DATASET_PAGES}/{{dataset}}.html", dataset=plan.datasets),
                *(paper.page for paper in papers.values() if paper.experiments),
            ]
        ),
    output:
        page=f"{plan.results}/index.html",
        table=report(f"{plan.results}/leaderboard.csv", category="leaderboard"),
    log:
        f"logs/front_page/{plan.configuration.name}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        **does("front_page"),
        study=rules.plan_study.params.study,
    script:
        "../scripts/jobs.py"
