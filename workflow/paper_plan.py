"""The tables and figures of a paper that a configuration makes, and from which files."""

from __future__ import annotations

from functools import cached_property

from figures.cao2021.items import ITEMS, PAPER
from workflow.plan import Plan

RUN_FILES = ("run.json", "cost.json", "history.csv", "errors.csv", "predictions.npz")


class PaperPlan:
    """Items of Cao 2021, each with the experiments that give it."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.folder = plan.results / PAPER
        self.page = f"{plan.results / PAPER}.html"
        self.costs = f"{self.folder}/cost.csv"

    @cached_property
    def experiments(self) -> dict[str, list[str]]:
        """The experiments of each item that is made, in the order of the paper; empty if nothing is shown."""
        named = {
            item: [
                name
                for name, e in self.plan.configuration.experiments.items()
                if item in e.shows.get(PAPER, [])
            ]
            for item in ITEMS
        }
        for name, item in ITEMS.items():
            named[name] += dict.fromkeys(one for source in item.of for one in named[source])
        if not any(named.values()):
            return {}
        return {name: given for name, given in named.items() if given or ITEMS[name].takes == "cost"}

    @property
    def pages(self) -> list[str]:
        """The page, if it has anything to show."""
        return [self.page] if self.experiments else []

    def link(self, experiment: str) -> str | None:
        """From the page of an experiment to the paper's."""
        return f"../{PAPER}.html" if any(experiment in given for given in self.experiments.values()) else None

    def made_like(self, kind: str) -> str:
        """A regular expression of the items of a kind ("table", "figure") that are made."""
        return "|".join(item for item in self.experiments if item.startswith(kind)) or "none"

    @property
    def folders(self) -> list[str]:
        """Every run behind an item."""
        folders = (folder for item in self.experiments for runs in self.runs(item) for folder in runs)
        return list(dict.fromkeys(folders))

    def file(self, item: str) -> str:
        """What the page shows of an item."""
        return f"{self.folder}/{item}.{'html' if item.startswith('table') else 'svg'}"

    def runs(self, item: str) -> list[list[str]]:
        """Folders of the runs of each of the item's experiments."""
        if ITEMS[item].takes in ("shown", "each_shown", "latent_basis"):
            return [[self.plan.shown_run(name)] for name in self.experiments[item]]
        return [self.plan.run_folders(name) for name in self.experiments[item]]

    def source(self, item: str) -> list:
        """The first arguments of the item's writer or drawer, as `figures.cao2021.items.Item.takes` says."""
        runs = self.runs(item)
        match ITEMS[item].takes:
            case "cost":
                return [self.costs]
            case "comparisons":
                return [self._comparisons(item), runs]
            case "shown":
                return runs[0]
            case "latent_basis":
                return [self._latent_basis(item)]
        return [runs]

    def inputs(self, item: str) -> list[str]:
        """The files that the item is made from."""
        files = [
            f"{folder}/{file}" for folders in self.runs(item) for folder in folders for file in RUN_FILES
        ]
        match ITEMS[item].takes:
            case "cost":
                return [self.costs]
            case "comparisons":
                return files + self._comparisons(item)
            case "latent_basis":
                return [self._latent_basis(item)]
        return files

    def facts(self, item: str) -> dict:
        """Words and numbers that the item's caption quotes."""
        given = self.experiments[item]
        return self.plan.caption_facts(given[0]) if given else {}

    def made(self, item: str) -> dict:
        """What the page says of an item, beside its caption (`figures.cao2021.page.Made`)."""
        given = self.experiments[item]
        return {
            "file": self.file(item),
            "runs": [folder for folders in self.runs(item) for folder in folders],
            "costs": "" if given else self.costs,
            "reports": [(self.plan.experiment(name).title, f"{name}/report.html") for name in given],
        }

    def _comparisons(self, item: str) -> list[str]:
        return [f"{self.plan.results}/{name}/comparison.csv" for name in self.experiments[item]]

    def _latent_basis(self, item: str) -> str:
        return f"{self.plan.shown_run(self.experiments[item][0])}/latent_basis.npz"
