# What Cao (2021) and Calvello et al. (2024) prove of attention, measured, and its page.
# Needs no dataset and no training.

from resolvent.figures.theory.page import EXHIBITS as THEORY_EXHIBITS
from resolvent.figures.theory.page import TABLES as THEORY_TABLES
from resolvent.models.registry import examples

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
        **does("theory", *plan.every_architecture),
        settings=plan.configuration.theory.model_dump(mode="json"),
        examples=examples(),
    script:
        "../scripts/jobs.py"


rule theory_page:
    input:
        **rules.theory.output,
        assets=ancient(rules.page_assets.output),
    output:
        [
            report(
                f"{THEORY}/{name}.svg",
                caption="../report/exhibit.rst",
                category="Theory",
                labels={"figure": exhibit.title},
            )
            for name, exhibit in THEORY_EXHIBITS.items()
        ],
        [f"{THEORY}/{name}{suffix}" for name in THEORY_EXHIBITS for suffix in SUFFIXES["figure"][1:]],
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
