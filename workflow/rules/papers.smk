# The tables and figures of papers named in the key `shows` of experiments, and a page for each paper.

from resolvent.figures.common.exhibit import SUFFIXES
from resolvent.measurements.architecture_formulas import MEASURED

SHOWN = f"{plan.results}/{{paper}}/{{item}}"
COSTS = {PAPERS[key].costs: paper.costs for key, paper in papers.items()}  # by rule


for _job, _sizes, _architectures in (
    ("measure_cost", plan.configuration.cost, [STEP_MEASURED]),
    (
        "measure_architectures",
        plan.configuration.architecture_costs,
        [one.architecture for one in MEASURED.values()],
    ),
):

    rule:
        name:
            _job
        output:
            table=COSTS[_job],
        log:
            f"logs/{_job}/{plan.configuration.name}.log",
        conda:
            "../../environment.yml"
        resources:
            **requested(getattr(needs, _job)),
            gpu=1,
        params:
            **does(_job, *(part for name in _architectures for part in of_architecture(name))),
            settings=without_defaults(_sizes),
        script:
            "../scripts/jobs.py"


# One job for each table and figure, which can be drawn as soon as its own experiments have finished.
rule show:
    input:
        lambda wildcards: papers[wildcards.paper].inputs(wildcards.item),
    output:
        [SHOWN + suffix for suffix in SUFFIXES["figure"]],
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
        [SHOWN + suffix for suffix in SUFFIXES["table"]],
    log:
        f"logs/show_table/{plan.configuration.name}/{{paper}}/{{item}}.log",
    wildcard_constraints:
        paper="|".join(papers),
        item=r"table\w+",


rule paper_page:
    input:
        unpack(lambda wildcards: papers[wildcards.paper].page_inputs),
        # Only linked to, so changes of their content do not matter.
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
