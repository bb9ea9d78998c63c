# What all pages share, what the study is to have, and its front page.

from resolvent.figures.common.assets import NAMES as ASSETS
from resolvent.figures.front.study import STUDY_FILE


# Pages take it as `ancient`: a changed style is seen by all of them as it is.
rule page_assets:
    output:
        [f"{plan.results}/assets/{name}" for name in ASSETS],
    log:
        f"logs/page_assets/{plan.configuration.name}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        code=script_digest("page_assets"),
    script:
        "../scripts/page_assets.py"


rule plan_study:
    output:
        study=f"{plan.results}/{STUDY_FILE}",
    log:
        f"logs/plan_study/{plan.configuration.name}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        study=planned_study(plan, papers),
        code=script_digest("plan_study"),
    script:
        "../scripts/plan_study.py"
