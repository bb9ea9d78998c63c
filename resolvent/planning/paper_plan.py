"""The tables and figures of a paper that a configuration makes, and from which files."""

from __future__ import annotations

from functools import cache, cached_property

from resolvent.common import records
from resolvent.figures.papers.items import BESIDE
from resolvent.figures.papers.registry import PAPERS
from resolvent.planning.captions import caption_facts
from resolvent.planning.plan import Plan

RUN_FILES = ("run.json", "cost.json", *records.RUN_FILES)
READ_BY_PAGE = ("run.json", "cost.json", "errors.csv")


class PaperPlan:
    """Items of the paper `key`, each with the experiments that give it."""

    def __init__(self, plan: Plan, key: str):
        self.plan, self.key, self.items = plan, key, PAPERS[key].items
        self.folder = plan.results / key
        self.page = f"{plan.results / key}.html"
        self.costs = f"{self.folder}/cost.csv"
        self.given, self.inputs = cache(self.given), cache(self.inputs)

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
        return {name: given for name, given in named.items() if given or self.items[name].of_costs}

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
        return {
            "shown": [self.file(item) for item in self.experiments],
            "runs": [f"{folder}/{file}" for folder in self.folders for file in READ_BY_PAGE],
            "costs": [self.costs] if any(self.items[item].of_costs for item in self.experiments) else [],
            "models": list(dict.fromkeys(file for item in self.experiments for file in self._compared(item))),
        }

    @property
    def all_made(self) -> dict[str, dict]:
        """Return what the page says of each item, by name (`resolvent.figures.papers.page.Made`)."""
        return {
            name: {
                "file": self.file(name),
                "given": self.given(name),
                "models": self._compared(name),
                "reports": [(self.plan.experiment(one).title, f"{one}/report.html") for one in experiments],
            }
            for name, experiments in self.experiments.items()
        }

    @cached_property
    def folders(self) -> list[str]:
        """Every run behind an item."""
        named = dict.fromkeys(name for experiments in self.experiments.values() for name in experiments)
        return list(dict.fromkeys(folder for name in named for folder in self.plan.run_folders(name)))

    def file(self, item: str) -> str:
        """Return what the page shows of an item."""
        return self.items[item].files(f"{self.folder}/{item}")[0]

    def given(self, item: str) -> dict:
        """Return what the item is made from (`resolvent.figures.papers.items.READERS`)."""
        names, needs = self.experiments[item], self.items[item].needs
        if not names:
            return {"cost_file": self.costs}
        given = {
            "run_folders": [self.plan.run_folders(name) for name in names],
            # Of each experiment the configured run first, which is shown.
            "candidates": [self.plan.shown_candidates(name, "latent_basis" in needs) for name in names],
            "planned_facts": caption_facts(self.plan, names[0]),
            "quantities": self.plan.dataset_of(names[0]).settings.quantities,
        }
        if "comparisons" in needs:
            given["comparison_files"] = [f"{self.plan.results}/{name}/comparison.csv" for name in names]
        return given

    def inputs(self, item: str) -> list[str]:
        """Return the files that the item is made from."""
        given, needs = self.given(item), self.items[item].needs
        if "cost_file" in given:
            return [self.costs]
        folders = given["candidates" if self.items[item].shows_one_run else "run_folders"]
        beside = [BESIDE[name] for name in needs if name in BESIDE]
        files = [
            f"{folder}/{file}" for of_one in folders for folder in of_one for file in (*RUN_FILES, *beside)
        ]
        return files + given.get("comparison_files", []) + self._compared(item)

    def _compared(self, item: str) -> list[str]:
        """Return the files with the ratios to the numbers that the item's table reports."""
        names = self.experiments[item] if "comparisons" in self.items[item].needs else []
        return [f"{self.plan.results}/{name}/models.csv" for name in names]
