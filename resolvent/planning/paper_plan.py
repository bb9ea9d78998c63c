"""The tables and figures of a paper that a configuration makes, and from which files."""

from __future__ import annotations

from functools import cache, cached_property

from resolvent.common import records
from resolvent.figures.papers.registry import PAPERS
from resolvent.planning.captions import caption_facts
from resolvent.planning.plan import Plan

ITEMS = "resolvent.figures.papers.{key}.items"
RUN_FILES = ("run.json", "cost.json", *records.RUN_FILES)


class PaperPlan:
    """Items of the paper `key`, each with the experiments that give it."""

    def __init__(self, plan: Plan, key: str):
        self.plan, self.key, self.items = plan, key, PAPERS[key].items
        self.folder = plan.results / key
        self.page = f"{plan.results / key}.html"
        self.costs = f"{self.folder}/cost.csv"
        self.runs, self.inputs = cache(self.runs), cache(self.inputs)

    @cached_property
    def experiments(self) -> dict[str, list[str]]:
        """The experiments of each item that is made, in the order of the paper; empty if nothing is shown."""
        named = {
            item: [
                name
                for name, e in self.plan.configuration.experiments.items()
                if item in e.shows.get(self.key, [])
            ]
            for item in self.items
        }
        for name, item in self.items.items():
            named[name] += dict.fromkeys(one for source in item.of for one in named[source])
        if not any(named.values()):
            return {}
        return {name: given for name, given in named.items() if given or self.items[name].takes == "cost"}

    @property
    def shown(self) -> list[str]:
        """The page, if it has anything to show, and what it shows."""
        return [self.page, *map(self.file, self.experiments)] if self.experiments else []

    def link(self, experiment: str) -> str | None:
        """Return the link from the page of an experiment to the paper's page, if it has one."""
        return (
            f"../{self.key}.html" if any(experiment in given for given in self.experiments.values()) else None
        )

    @property
    def page_inputs(self) -> dict[str, list[str]]:
        """The files that the page is made from."""
        kinds = {self.items[item].takes for item in self.experiments}
        return {
            "shown": [self.file(item) for item in self.experiments],
            "runs": [
                f"{folder}/{file}"
                for folder in self.folders
                for file in ("run.json", "cost.json", "errors.csv")
            ],
            "costs": [self.costs] if "cost" in kinds else [],
            "models": list(dict.fromkeys(file for item in self.experiments for file in self._compared(item))),
        }

    @property
    def page_modules(self) -> list[str]:
        """What the page's script chooses by the paper's key."""
        return [
            ITEMS.format(key=self.key),
            *sorted({item.remark for item in self.items.values() if item.remark}),
        ]

    @property
    def all_made(self) -> dict[str, dict]:
        return {item: self.made(item) for item in self.experiments}

    @property
    def all_facts(self) -> dict[str, dict]:
        return {item: self.facts(item) for item in self.experiments}

    @cached_property
    def folders(self) -> list[str]:
        """Every run behind an item."""
        folders = (folder for item in self.experiments for runs in self.runs(item) for folder in runs)
        return list(dict.fromkeys(folders))

    def file(self, item: str) -> str:
        """Return what the page shows of an item."""
        return f"{self.folder}/{item}.{'html' if item.startswith('table') else 'svg'}"

    def runs(self, item: str) -> list[list[str]]:
        """Return the folders of the runs of each of its experiments; where one is shown, the configured one
        first."""
        if self.items[item].shows_one_run:
            of_latents = self.items[item].file == "latent_basis.npz"
            return [self.plan.shown_candidates(name, of_latents) for name in self.experiments[item]]
        return [self.plan.run_folders(name) for name in self.experiments[item]]

    def source(self, item: str) -> list:
        """Return the first arguments of the item's writer or drawer, as
        `resolvent.figures.papers.items.Item.takes` says."""
        runs = self.runs(item)
        match self.items[item].takes:
            case "cost":
                return [self.costs]
            case "comparisons":
                return [self._comparisons(item), runs]
            case "shown" | "of_shown" | "of_each":
                return runs
        return [runs]

    def inputs(self, item: str) -> list[str]:
        """Return the files that the item is made from."""
        files = [
            f"{folder}/{file}" for folders in self.runs(item) for folder in folders for file in RUN_FILES
        ]
        match self.items[item].takes:
            case "cost":
                return [self.costs]
            case "comparisons":
                return files + self._comparisons(item) + self._models(item)
            case "of_shown" | "of_each":
                return files + [f"{folder}/{self.items[item].file}" for folder in self.runs(item)[0]]
        return files

    def facts(self, item: str) -> dict:
        """Return the words and numbers that the item's caption quotes."""
        given = self.experiments[item]
        return caption_facts(self.plan, given[0]) if given else {}

    def made(self, item: str) -> dict:
        """Return what the page says of an item, beside its caption (`resolvent.figures.papers.page.Made`)."""
        given = self.experiments[item]
        return {
            "file": self.file(item),
            "runs": self.runs(item),
            "costs": "" if given else self.costs,
            "models": self._compared(item),
            "reports": [(self.plan.experiment(name).title, f"{name}/report.html") for name in given],
        }

    def _comparisons(self, item: str) -> list[str]:
        return [f"{self.plan.results}/{name}/comparison.csv" for name in self.experiments[item]]

    def _compared(self, item: str) -> list[str]:
        """Return the files with the ratios to the numbers that the item's table reports."""
        return self._models(item) if self.items[item].takes == "comparisons" else []

    def _models(self, item: str) -> list[str]:
        """Return the files that are read beside the comparisons."""
        return [f"{self.plan.results}/{name}/models.csv" for name in self.experiments[item]]
