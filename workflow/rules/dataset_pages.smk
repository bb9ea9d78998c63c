# The page of each dataset: description, accuracy, samples, how to load it.

from resolvent.figures.dataset.page import exhibits_of

DATASET_PAGES = f"{plan.results}/datasets"


# The samples for each dataset's page and, for time-dependent problems, one sample solved again at many times. The
# card is not `ancient` here, because the page shows its contents.
for _dataset in plan.datasets.values():
    _made = {"preview": ["preview_dataset"]}
    if _dataset.settings.moves:
        _made["motion"] = ["motion", *_dataset.checks]

    for _what, _job in _made.items():

        rule:
            name:
                f"{_what}_{_dataset.name}"
            input:
                card=_dataset.card,
            output:
                **{_what: getattr(_dataset, _what)},
            log:
                f"logs/{_what}_{_dataset.name}/{_dataset.base.name}.log",
            group:
                together("dataset_page")
            conda:
                "../../environment.yml"
            resources:
                **requested(getattr(needs, _what)(_dataset)),
            params:
                **does(*_job),
            script:
                "../scripts/jobs.py"


for _dataset in plan.datasets.values():
    _shown = {
        "equation": _dataset.settings.equation,
        "moves": _dataset.settings.moves,
        "flows": _dataset.settings.shows_flux,
    }
    _files = [
        f"{DATASET_PAGES}/{_dataset.name}/{file}"
        for name, exhibit in exhibits_of(**_shown).items()
        for file in exhibit.files(name)
    ]

    rule:
        name:
            f"dataset_page_{_dataset.name}"
        input:
            **({"motion": of_data(_dataset.motion)} if _dataset.settings.moves else {}),
            card=of_data(_dataset.card),
            preview=of_data(_dataset.preview),
            assets=ancient(rules.page_assets.output),
        output:
            _files,
            page=f"{DATASET_PAGES}/{_dataset.name}.html",
            croissant=f"{DATASET_PAGES}/{_dataset.name}.croissant.json",
        log:
            f"logs/dataset_page/{plan.configuration.name}/{_dataset.name}.log",
        group:
            together("dataset_page")
        conda:
            "../../environment.yml"
        resources:
            **requested(drawing(100 if _dataset.settings.moves else 2)),
        params:
            **does("dataset_page"),
            root=lambda wildcards: str(plan.results),
            exhibits=_shown,
            used_by=lambda wildcards, name=_dataset.name: plan.used_by(name),
        script:
            "../scripts/jobs.py"
