# Shared assets of all pages, and the plan of the study.

from resolvent.figures.common.assets import NAMES as ASSETS
from resolvent.figures.front.study import STUDY_FILE


# `ancient` for all pages: they load the style at viewing time, so a changed style needs no new pages.
rule page_assets:
    output:
        [f"{plan.results}/assets/{name}" for name in ASSETS],
    log:
        f"logs/page_assets/{plan.configuration.name}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        **does("page_assets"),
    script:
        "../scripts/jobs.py"


rule plan_study:
    output:
        study=f"{plan.results}/{STUDY_FILE}",
    log:
        f"logs/plan_study/{plan.configuration.name}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        **does("plan_study"),
        study=planned_study(plan, papers),
    script:
        "../scripts/jobs.py"
