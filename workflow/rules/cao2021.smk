# The tables and figures of Cao 2021 that experiments say they show, and the page of the paper.


rule measure_cost:
    output:
        table=paper.costs,
    log:
        f"logs/measure_cost/{plan.configuration.name}.log",
    conda:
        "../../environment.yml"
    resources:
        gpu=1,
        mem_mb=plan.cost_memory,
        runtime=120,
    params:
        settings=plan.cost,
        code=code_digest("training.step_cost"),
    script:
        "../scripts/measure_cost.py"


rule paper_table:
    input:
        lambda wildcards: paper.inputs(wildcards.item),
        reported=REPORTED,
    output:
        [f"{paper.folder}/{{item}}.{suffix}" for suffix in ("csv", "tex", "html")],
    log:
        f"logs/paper_table/{plan.configuration.name}/{{item}}.log",
    wildcard_constraints:
        item=paper.made_like("table"),
    conda:
        "../../environment.yml"
    params:
        source=lambda wildcards: paper.source(wildcards.item),
        code=lambda wildcards: code_digest(ITEMS[wildcards.item].module),
    script:
        "../scripts/paper_table.py"


rule paper_figure:
    input:
        lambda wildcards: paper.inputs(wildcards.item),
    output:
        [f"{paper.folder}/{{item}}.{suffix}" for suffix in ("svg", "png")],
    log:
        f"logs/paper_figure/{plan.configuration.name}/{{item}}.log",
    wildcard_constraints:
        item=paper.made_like("figure"),
    conda:
        "../../environment.yml"
    params:
        source=lambda wildcards: paper.source(wildcards.item),
        code=lambda wildcards: code_digest(ITEMS[wildcards.item].module),
    script:
        "../scripts/paper_figure.py"


rule paper_page:
    input:
        shown=[paper.file(item) for item in paper.experiments],
        runs=[f"{folder}/{file}" for folder in paper.folders for file in ("run.json", "cost.json")],
        costs=paper.costs,
        captions=f"{workflow.basedir}/workflow/report/captions.yaml",
        templates=[
            f"{workflow.basedir}/figures/templates/{file}"
            for file in ("cao2021.html.j2", "macros.html.j2", "report.css", "report.js", "references.bib")
        ],
    output:
        page=paper.page,
    log:
        f"logs/paper_page/{plan.configuration.name}.log",
    conda:
        "../../environment.yml"
    params:
        made={item: paper.made(item) for item in paper.experiments},
        facts={item: paper.facts(item) for item in paper.experiments},
        code=code_digest("figures.cao2021.page", "workflow.provenance"),
    script:
        "../scripts/paper_page.py"
