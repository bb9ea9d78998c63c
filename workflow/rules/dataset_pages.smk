# The page of each dataset: what it looks like, how wrong it is, how to load it.

DATASET_FIGURES = ["dataset_gallery", "error_budget", "dataset_spectra", "dataset_histograms"]
DATASET_PAGES = f"{plan.results}/datasets"


# A changed card is a changed page: these rules take it as it is, not as `ancient`.
for _dataset in plan.datasets.values():

    rule:
        name:
            f"preview_{_dataset.name}"
        input:
            card=_dataset.card,
        output:
            preview=_dataset.preview,
        log:
            f"logs/preview_{_dataset.name}/{_dataset.base.name}.log",
        group:
            "dataset_page"
        conda:
            "../../environment.yml"
        resources:
            **requested(needs.preview(_dataset)),
        params:
            code=script_digest("preview_dataset"),
        script:
            "../scripts/preview_dataset.py"


rule draw_dataset:
    input:
        card=lambda wildcards: plan.datasets[wildcards.dataset].card,
        preview=lambda wildcards: plan.datasets[wildcards.dataset].preview,
    output:
        [
            f"{DATASET_PAGES}/{{dataset}}/{figure}.{suffix}"
            for figure in DATASET_FIGURES
            for suffix in ("svg", "png")
        ],
    log:
        f"logs/draw_dataset/{plan.configuration.name}/{{dataset}}.log",
    group:
        "dataset_page"
    conda:
        "../../environment.yml"
    resources:
        **requested(drawing(2)),
    params:
        code=script_digest("draw_dataset"),
    script:
        "../scripts/draw_dataset.py"


rule dataset_page:
    input:
        card=lambda wildcards: plan.datasets[wildcards.dataset].card,
        preview=lambda wildcards: plan.datasets[wildcards.dataset].preview,
        figures=[f"{DATASET_PAGES}/{{dataset}}/{figure}.svg" for figure in DATASET_FIGURES],
        assets=ancient(rules.page_assets.output),
    output:
        page=f"{DATASET_PAGES}/{{dataset}}.html",
    log:
        f"logs/dataset_page/{plan.configuration.name}/{{dataset}}.log",
    group:
        "dataset_page"
    conda:
        "../../environment.yml"
    resources:
        **requested(drawing(2)),
    params:
        root=str(plan.results),
        code=script_digest("dataset_page"),
    script:
        "../scripts/dataset_page.py"
