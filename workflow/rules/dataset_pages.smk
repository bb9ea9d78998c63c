# The page of each dataset: description, accuracy, samples, how to load it.

DATASET_PAGES = f"{plan.results}/datasets"
DATASET_FILES = [file for dataset in plan.datasets.values() for file in (dataset.card, dataset.preview)]


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

    rule:
        name:
            f"dataset_page_{_dataset.name}"
        input:
            **({"motion": of_data(_dataset.motion)} if _dataset.settings.moves else {}),
            card=of_data(_dataset.card),
            preview=of_data(_dataset.preview),
            assets=ancient(rules.page_assets.output),
        output:
            directory(f"{DATASET_PAGES}/{_dataset.name}"),
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
            root=later(str, plan.results),
            sources={name: getattr(_dataset.settings, name) for name in ("film_caption", "shows_flux")},
            used_by=later(plan.used_by, _dataset.name),
        script:
            "../scripts/jobs.py"
