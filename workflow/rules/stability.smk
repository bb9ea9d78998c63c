# Training stability: counts of collapsed runs by learning rate. One job per model, with all its runs in one process.

STUDY = plan.configuration.stability
STABILITY_FIGURES = [f"panel{number}" for number, _ in enumerate(STUDY.panels, 1)]
STABILITY_FOLDER = f"{plan.results}/{STABILITY}"


rule measure_stability:
    input:
        card=card_of(plan.dataset_of(STABILITY)),
    output:
        table=f"{STABILITY_FOLDER}/{{model}}.csv",
    log:
        f"logs/measure_stability/{plan.configuration.name}/{{model}}.log",
    wildcard_constraints:
        model="|".join(STUDY.models),
    conda:
        "../../environment.yml"
    threads: plan.configuration.training_threads
    resources:
        **requested(needs.stability),
        gpu=1,
    params:
        study=lambda wildcards: plan.stability(STUDY, wildcards.model),
        job="measure_stability",
        versions=lambda wildcards: plan.training_versions(
            STABILITY, wildcards.model, STUDY.resolution, "measure_stability"
        ),
    script:
        "../scripts/jobs.py"


rule stability_page:
    input:
        tables=expand(rules.measure_stability.output.table, model=STUDY.models),
        assets=ancient(rules.page_assets.output),
    output:
        page=f"{plan.results}/stability.html",
        figures=[f"{STABILITY_FOLDER}/{figure}.svg" for figure in STABILITY_FIGURES],
        others=[
            f"{STABILITY_FOLDER}/{figure}{suffix}"
            for figure in STABILITY_FIGURES
            for suffix in SUFFIXES["figure"][1:]
        ],
    log:
        f"logs/stability_page/{plan.configuration.name}.log",
    conda:
        "../../environment.yml"
    resources:
        **requested(drawing(len(STUDY.models))),
    params:
        **does("stability_page"),
        facts=plan.stability_facts(STUDY),
        root=lambda wildcards: str(plan.results),
    script:
        "../scripts/jobs.py"


# Only the stability study: `snakemake stability --configfile config/stability.yaml`.
rule stability:
    input:
        rules.stability_page.output,
    localrule: True
