# What all pages share, and the front page.

from resolvent.figures.common.assets import NAMES as ASSETS


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
