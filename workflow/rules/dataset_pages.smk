# The page of each dataset: what it is, how wrong it is, what it looks like, how to load it.

from resolvent.figures.dataset.page import exhibits_of

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
            together("dataset_page")
        conda:
            "../../environment.yml"
        resources:
            **requested(needs.preview(_dataset)),
        params:
            **does("preview_dataset"),
        script:
            "../scripts/jobs.py"


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
            **does("motion", *_dataset.modules, _dataset.moves),
        script:
            "../scripts/jobs.py"


for _dataset in plan.datasets.values():
    _shown = {
        "equation": _dataset.settings.equation,
        "moves": bool(_dataset.moves),
        "flows": _dataset.settings.shows_flux,
    }
    _files = [
        [f"{DATASET_PAGES}/{_dataset.name}/{file}" for file in exhibit.files(name)]
        for name, exhibit in exhibits_of(**_shown).items()
    ]

    rule:
        name:
            f"dataset_page_{_dataset.name}"
        input:
            **({"motion": of_data(_dataset.motion)} if _dataset.moves else {}),
            card=of_data(_dataset.card),
            preview=of_data(_dataset.preview),
            assets=ancient(rules.page_assets.output),
        output:
            [
                report(
                    files[0],
                    caption="../report/exhibit.rst",
                    category="Datasets",
                    subcategory=_dataset.name,
                    labels={"figure": Path(files[0]).stem.removeprefix("dataset_").replace("_", " ")},
                )
                for files in _files
            ],
            [file for files in _files for file in files[1:]],
            page=f"{DATASET_PAGES}/{_dataset.name}.html",
            croissant=f"{DATASET_PAGES}/{_dataset.name}.croissant.json",
        log:
            f"logs/dataset_page/{plan.configuration.name}/{_dataset.name}.log",
        group:
            together("dataset_page")
        conda:
            "../../environment.yml"
        resources:
            **requested(drawing(100 if _dataset.moves else 2)),
        params:
            **does("dataset_page"),
            root=lambda wildcards: str(plan.results),
            exhibits=_shown,
            used_by=lambda wildcards, name=_dataset.name: plan.used_by(name),
        script:
            "../scripts/jobs.py"
