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
        [case.architecture for case in MEASURED.values()],
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
            **does(_job, later(parts_of_architectures, _architectures)),
            settings=without_defaults(_sizes),
        script:
            "../scripts/jobs.py"


# One job for each table and figure, which can be drawn as soon as its own experiments have finished.
rule show:
    input:
        of_wildcards(inputs_of_item),
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
        **requested(drawing_of_item),
    params:
        **does("show", of_wildcards(parts_of_item)),
        given=of_wildcards(sources_of_item),
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
        unpack(of_paper("page_inputs")),
        pages=of_wildcards(compared_pages),
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
        **requested(drawing_of_page),
    params:
        **does("paper_page", of_wildcards(parts_of_page)),
        made=of_paper("all_made"),
        root=later(str, plan.results),
    script:
        "../scripts/jobs.py"
