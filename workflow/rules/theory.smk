# Measurements of the theorems on attention by Cao (2021) and Calvello et al. (2024), and their page. Needs no dataset
# and no training.

from resolvent.figures.theory.page import EXHIBITS as THEORY_EXHIBITS
from resolvent.figures.theory.page import TABLES as THEORY_TABLES
from resolvent.models.registry import ARCHITECTURES, examples, settings_class

THEORY = f"{plan.results}/theory"


rule theory:
    output:
        **{table: f"{THEORY}/{table}.csv" for table in THEORY_TABLES},
    log:
        f"logs/theory/{plan.configuration.name}.log",
    group:
        together("theory")
    conda:
        "../../environment.yml"
    resources:
        **requested(needs.theory),
    params:
        # The job uses all architectures of the registry.
        **does(
            "theory",
            "resolvent.models.registry:ARCHITECTURES",
            *(settings_class(name).operator for name in ARCHITECTURES),
        ),
        settings=plan.configuration.theory.model_dump(mode="json"),
        examples=examples(),
    script:
        "../scripts/jobs.py"


rule theory_page:
    input:
        **rules.theory.output,
        assets=ancient(rules.page_assets.output),
    output:
        [f"{THEORY}/{name}{suffix}" for name in THEORY_EXHIBITS for suffix in SUFFIXES["figure"]],
        page=f"{plan.results}/theory.html",
    log:
        f"logs/theory_page/{plan.configuration.name}.log",
    group:
        together("theory")
    conda:
        "../../environment.yml"
    resources:
        **requested(drawing(len(THEORY_TABLES))),
    params:
        **does("theory_page"),
        settings=plan.configuration.theory.model_dump(mode="json"),
        root=lambda wildcards: str(plan.results),
    script:
        "../scripts/jobs.py"
