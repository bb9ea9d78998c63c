# The tables and figures of the papers that experiments say they show, and a page for each paper.

from resolvent.figures.common.exhibit import SUFFIXES

SHOWN = f"{plan.results}/{{paper}}/{{item}}"
FIGURE, *FIGURES_BESIDE = [SHOWN + suffix for suffix in SUFFIXES["figure"]]
TABLE, *TABLES_BESIDE = [SHOWN + suffix for suffix in SUFFIXES["table"]]
COSTS = {PAPERS[key].costs: paper.costs for key, paper in papers.items()}  # by the rule that measures them


rule measure_cost:
    output:
        table=COSTS["measure_cost"],
    log:
        f"logs/measure_cost/{plan.configuration.name}.log",
    conda:
        "../../environment.yml"
    resources:
        **requested(needs.measure_cost),
        gpu=1,
    params:
        **does("measure_cost", *architecture_modules(STEP_MEASURED)),
        settings=plan.configuration.cost.model_dump(mode="json"),
    script:
        "../scripts/jobs.py"


rule measure_architectures:
    output:
        table=COSTS["measure_architectures"],
    log:
        f"logs/measure_architectures/{plan.configuration.name}.log",
    conda:
        "../../environment.yml"
    resources:
        **requested(needs.measure_architectures),
        gpu=1,
    params:
        **does("measure_architectures", *plan.counted_modules),
        settings=plan.configuration.architecture_costs.model_dump(mode="json"),
    script:
        "../scripts/jobs.py"


# Each table and figure is a job of its own: it can be made as soon as its experiments have ended.
rule show:
    input:
        lambda wildcards: papers[wildcards.paper].inputs(wildcards.item),
    output:
        report(
            FIGURE,
            caption="../report/exhibit.rst",
            category="Papers",
            subcategory="{paper}",
            labels={"item": "{item}"},
        ),
        FIGURES_BESIDE,
    log:
        f"logs/show/{plan.configuration.name}/{{paper}}/{{item}}.log",
    wildcard_constraints:
        paper="|".join(papers),
        item=r"figure\w+",
    group:
        together("paper")
    conda:
        "../../environment.yml"
    resources:
        **requested(lambda wildcards: drawing(len(papers[wildcards.paper].inputs(wildcards.item)))),
    params:
        **does("show", lambda wildcards: [papers[wildcards.paper].items[wildcards.item].draw]),
        given=lambda wildcards: papers[wildcards.paper].given(wildcards.item),
    script:
        "../scripts/jobs.py"


use rule show as show_table with:
    output:
        report(
            TABLE,
            caption="../report/exhibit.rst",
            category="Papers",
            subcategory="{paper}",
            labels={"item": "{item}"},
        ),
        TABLES_BESIDE,
    log:
        f"logs/show_table/{plan.configuration.name}/{{paper}}/{{item}}.log",
    wildcard_constraints:
        paper="|".join(papers),
        item=r"table\w+",


rule paper_page:
    input:
        unpack(lambda wildcards: papers[wildcards.paper].page_inputs),
        # It links to these, and takes nothing from them.
        pages=lambda wildcards: ancient(
            [f"{plan.results}/{experiment}/compare.html" for experiment in papers[wildcards.paper].sources]
        ),
        assets=ancient(rules.page_assets.output),
    output:
        page=f"{plan.results}/{{paper}}.html",
    log:
        f"logs/paper_page/{plan.configuration.name}/{{paper}}.log",
    wildcard_constraints:
        paper="|".join(papers),
    group:
        together("paper")
    conda:
        "../../environment.yml"
    resources:
        **requested(lambda wildcards: drawing(2 * len(papers[wildcards.paper].folders))),
    params:
        **does(
            "paper_page",
            lambda wildcards: [
                f"resolvent.figures.papers.{wildcards.paper}.paper:PAPER",
                *{item.remark for item in PAPERS[wildcards.paper].items.values() if item.remark},
            ],
        ),
        made=lambda wildcards: papers[wildcards.paper].all_made,
        root=lambda wildcards: str(plan.results),
    script:
        "../scripts/jobs.py"
