"""What figures of experiments and papers are made from, and the facts that their captions quote."""

from __future__ import annotations

from functools import cache, cached_property

from resolvent.common import records
from resolvent.common.counts import counted
from resolvent.figures.papers.items import BESIDE
from resolvent.figures.papers.registry import PAPERS
from resolvent.planning.plan import Plan

RUN_FILES = ("run.json", "cost.json", *records.RUN_FILES)
CHOSEN = {  # which test samples the pages show: of functions of space, of trajectories
    False: "The same four of the {test} test samples for every model{compare}.",
    True: "Of the {test} test samples that of median error and the worst one{compare}.",
}
LOCATED = {  # where errors are drawn: of functions of space, of trajectories
    False: "The root mean power of targets and errors by wavenumber: a model whose error reaches "
    "the target's line knows nothing of waves beyond. Then the root mean square error at each point over the "
    "root mean square of the targets.",
    True: "The root mean square error at each time over the root mean square of the targets.",
}
READ_BY_PAGE = ("run.json", "cost.json", "errors.csv")


class PaperPlan:
    """Items of the paper `key`, each with the experiments that give it."""

    def __init__(self, plan: Plan, key: str):
        self.plan, self.key, self.items = plan, key, PAPERS[key].items
        self.folder = plan.results / key
        self.page = f"{plan.results / key}.html"
        self.costs = f"{self.folder}/cost.csv"
        for method in (self.given, self.inputs):
            setattr(self, method.__name__, cache(method))

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
        return {name: given for name, given in named.items() if given or self.items[name].remark}

    @property
    def shown(self) -> list[str]:
        return [self.page, *map(self.file, self.experiments)] if self.experiments else []

    def link(self, experiment: str) -> str | None:
        return (
            f"../{self.key}.html" if any(experiment in given for given in self.experiments.values()) else None
        )

    @property
    def page_inputs(self) -> dict[str, list[str]]:
        return {
            "shown": [self.file(item) for item in self.experiments],
            "runs": [f"{folder}/{file}" for folder in self.folders for file in READ_BY_PAGE],
            "costs": [self.costs] if any(self.items[item].remark for item in self.experiments) else [],
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
    def sources(self) -> list[str]:
        return list(dict.fromkeys(name for given in self.experiments.values() for name in given))

    @cached_property
    def folders(self) -> list[str]:
        return [folder for name in self.sources for folder in self.plan.run_folders(name)]

    def file(self, item: str) -> str:
        return self.items[item].exhibit.files(f"{self.folder}/{item}")[0]

    def given(self, item: str) -> dict:
        """Return what the item is made from (`resolvent.figures.papers.sources.READERS`)."""
        names, needs = self.experiments[item], self.items[item].exhibit.needs
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
        given, needs = self.given(item), self.items[item].exhibit.needs
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
        names = self.experiments[item] if "comparisons" in self.items[item].exhibit.needs else []
        return [f"{self.plan.results}/{name}/models.csv" for name in names]


def caption_facts(plan: Plan, experiment: str) -> dict:
    e, dataset = plan.experiment(experiment), plan.dataset_of(experiment).settings
    tested = ", ".join(map(str, plan.tested(experiment)))
    in_time = dataset.grid_kind == "explicit"
    shown = [PAPERS[key] for key, items in e.shows.items() if items]
    compare = "; ".join(
        f"compare {paper.name}, {paper.samples[in_time]}" for paper in shown if paper.samples[in_time]
    )
    counts = plan.sample_counts(experiment)
    return {
        **counts,
        "epochs": e.training.epochs,
        "batch_size": e.training.batch_size,
        "seeds": counted(len(e.seeds), "seed"),
        "tested": tested if in_time else f"{tested} points",
        "chosen": CHOSEN[in_time].format(compare=f" ({compare})" if compare else "", **counts),
        "located": LOCATED[in_time],
        **dict(zip(("input", "target"), dataset.quantities, strict=True)),
        "model": plan.configuration.models[e.shown_model].label,
    }


def given_to_report(plan: Plan, experiment: str) -> dict:
    """Return what `resolvent.figures.experiment.report.write_report` is given."""
    folder, rolled = f"{plan.results}/{experiment}", plan.rolled_out(experiment)
    return {
        "run_folders": plan.run_folders(experiment),
        "candidates": plan.shown_candidates(experiment),
        "named": plan.experiment(experiment).names_shown,
        "comparison_file": f"{folder}/comparison.csv",
        "baseline_folders": [f"{folder}/baselines"],
        "inference_file": f"{folder}/inference.csv",
        "quantities": plan.dataset_of(experiment).settings.quantities,
        "planned_facts": caption_facts(plan, experiment),
        **({"rollout_file": f"{rolled}/rollout.npz"} if rolled else {}),
    }
