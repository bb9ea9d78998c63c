# The page of each dataset: what it is, how wrong it is, what it looks like, how to load it.

DATASET_FIGURES = ["dataset_gallery", "error_budget", "dataset_spectra", "dataset_histograms"]
DATASET_PAGES = f"{plan.results}/datasets"
# In `snakemake --report`.
DATASET_REPORT = {"category": "Datasets", "subcategory": "{dataset}"}
DATASET_FILMS = [
    f"{DATASET_PAGES}/{name}/film.mp4" for name, dataset in plan.datasets.items() if dataset.moves
]
# The figures of a page, in its order.
DATASET_SHOWN = {
    name: [
        *DATASET_FIGURES[:1],
        *["dataset_flux"] * dataset.settings.shows_flux,
        *DATASET_FIGURES[1:],
    ]
    for name, dataset in plan.datasets.items()
}


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
            together("dataset_page")
        conda:
            "../../environment.yml"
        resources:
            **requested(needs.preview(_dataset)),
        params:
            code=script_digest("preview_dataset"),
        script:
            "../scripts/preview_dataset.py"


# One sample solved again, observed at many moments.
for _dataset in (one for one in plan.datasets.values() if one.moves):

    rule:
        name:
            f"motion_{_dataset.name}"
        input:
            card=_dataset.card,
        output:
            motion=_dataset.motion,
        log:
            f"logs/motion_{_dataset.name}/{_dataset.base.name}.log",
        group:
            together("dataset_page")
        conda:
            "../../environment.yml"
        resources:
            **requested(needs.motion(_dataset)),
        params:
            code=script_digest("motion", *_dataset.modules, _dataset.moves),
        script:
            "../scripts/motion.py"


rule draw_dataset:
    input:
        card=lambda wildcards: of_data(plan.datasets[wildcards.dataset].card),
        preview=lambda wildcards: of_data(plan.datasets[wildcards.dataset].preview),
    output:
        [
            report(
                f"{DATASET_PAGES}/{{dataset}}/{figure}.svg",
                caption=f"../report/{figure}.rst",
                labels={"figure": figure.removeprefix("dataset_").replace("_", " ")},
                **DATASET_REPORT,
            )
            for figure in DATASET_FIGURES
        ],
        [
            f"{DATASET_PAGES}/{{dataset}}/{figure}.{suffix}"
            for figure in DATASET_FIGURES
            for suffix in ("png", "pdf")
        ],
    log:
        f"logs/draw_dataset/{plan.configuration.name}/{{dataset}}.log",
    group:
        together("dataset_page")
    conda:
        "../../environment.yml"
    resources:
        **requested(drawing(2)),
    params:
        code=script_digest("draw_dataset"),
    script:
        "../scripts/draw_dataset.py"


rule draw_flux:
    input:
        card=lambda wildcards: of_data(plan.datasets[wildcards.dataset].card),
        preview=lambda wildcards: of_data(plan.datasets[wildcards.dataset].preview),
    output:
        report(
            f"{DATASET_PAGES}/{{dataset}}/dataset_flux.svg",
            caption="../report/dataset_flux.rst",
            labels={"figure": "flux"},
            **DATASET_REPORT,
        ),
        [f"{DATASET_PAGES}/{{dataset}}/dataset_flux.{suffix}" for suffix in ("png", "pdf")],
    log:
        f"logs/draw_flux/{plan.configuration.name}/{{dataset}}.log",
    group:
        together("dataset_page")
    conda:
        "../../environment.yml"
    resources:
        **requested(drawing(2)),
    params:
        code=script_digest("draw_flux"),
    script:
        "../scripts/draw_flux.py"


rule dataset_film:
    input:
        motion=lambda wildcards: of_data(plan.datasets[wildcards.dataset].motion),
    output:
        film=report(
            f"{DATASET_PAGES}/{{dataset}}/film.mp4",
            caption="../report/dataset_film.rst",
            labels={"figure": "film"},
            **DATASET_REPORT,
        ),
        poster=f"{DATASET_PAGES}/{{dataset}}/film.png",
    log:
        f"logs/dataset_film/{plan.configuration.name}/{{dataset}}.log",
    group:
        together("dataset_page")
    conda:
        "../../environment.yml"
    resources:
        **requested(drawing(100)),
    params:
        code=script_digest("dataset_film"),
    script:
        "../scripts/dataset_film.py"


rule dataset_page:
    input:
        card=lambda wildcards: of_data(plan.datasets[wildcards.dataset].card),
        preview=lambda wildcards: of_data(plan.datasets[wildcards.dataset].preview),
        figures=lambda wildcards: [
            f"{DATASET_PAGES}/{wildcards.dataset}/{figure}.svg"
            for figure in DATASET_SHOWN[wildcards.dataset]
        ],
        film=lambda wildcards: (
            f"{DATASET_PAGES}/{wildcards.dataset}/film.mp4" if plan.datasets[wildcards.dataset].moves else []
        ),
        assets=ancient(rules.page_assets.output),
    output:
        page=f"{DATASET_PAGES}/{{dataset}}.html",
        croissant=f"{DATASET_PAGES}/{{dataset}}.croissant.json",
    log:
        f"logs/dataset_page/{plan.configuration.name}/{{dataset}}.log",
    group:
        together("dataset_page")
    conda:
        "../../environment.yml"
    resources:
        **requested(drawing(2)),
    params:
        root=lambda wildcards: str(plan.results),
        equation=lambda wildcards: plan.datasets[wildcards.dataset].settings.equation,
        used_by=lambda wildcards: plan.used_by(wildcards.dataset),
        code=script_digest("dataset_page"),
    script:
        "../scripts/dataset_page.py"
