"""Inputs of the pages of experiments and papers, and the contents of a study's front page."""

from __future__ import annotations

import itertools
import os
import sys
from dataclasses import asdict
from functools import cache, cached_property
from pathlib import Path

from resolvent.common.counts import counted
from resolvent.common.errors import ResolventError
from resolvent.common.sums import SUMS, write_sums
from resolvent.figures.common.page import other_pages
from resolvent.figures.front import study
from resolvent.figures.papers.items import RUN_FILES
from resolvent.figures.papers.registry import PAPERS
from resolvent.planning.plan import Plan
from resolvent.planning.provenance import command, provenance

# Stand for all files of a run, since run.json holds their digests: each further input slows planning down.
RECORDS = ("run.json", "cost.json")
CHOSEN = {  # which test samples the pages show: of functions of space, of trajectories
    False: "The same {some} for every model{compare}.",
    True: "Of {all} that of median error and the worst one{compare}.",
}
LOCATED = {  # where errors are drawn: of functions of space, of trajectories
    False: "The root mean power of targets and errors by wavenumber: a model whose error reaches "
    "the target's line knows nothing of waves beyond. Then the root mean square error at each point over the "
    "root mean square of the targets.",
    True: "The root mean square error at each time over the root mean square of the targets.",
}
SLICE = " Drawn is the middle slice in z."


class PaperPlan:
    """Items of the paper `key`, each with the experiments that show it."""

    def __init__(self, plan: Plan, key: str):
        self.plan, self.key, self.items = plan, key, PAPERS[key].items
        self.folder = plan.results / key
        self.page = f"{plan.results / key}.html"
        self.costs = f"{self.folder}/cost.csv"
        for method in (self.given, self.inputs):
            setattr(self, method.__name__, cache(method))

    @cached_property
    def experiments(self) -> dict[str, list[str]]:
        """Return the experiments of each item that is built, in the paper's order; empty if none is."""
        shows = {name: e.shows.get(self.key, []) for name, e in self.plan.configuration.experiments.items()}
        named = {item: [name for name, shown in shows.items() if item in shown] for item in self.items}
        for name, item in self.items.items():
            named[name] += dict.fromkeys(itertools.chain.from_iterable(named[source] for source in item.of))
        if not any(named.values()):
            return {}
        return {name: shown for name, shown in named.items() if shown or self.items[name].remark}

    @property
    def shown(self) -> list[str]:
        return [self.page, *map(self.file, self.experiments)] if self.experiments else []

    def link(self, experiment: str) -> str | None:
        return f"../{self.key}.html" if experiment in self.sources else None

    @property
    def page_inputs(self) -> dict[str, list[str]]:
        return {
            "shown": [self.file(item) for item in self.experiments],
            "runs": [f"{folder}/{file}" for folder in self.folders for file in RECORDS],
            "costs": [self.costs] if any(self.items[item].remark for item in self.experiments) else [],
            "models": list(dict.fromkeys(file for item in self.experiments for file in self._compared(item))),
        }

    @property
    def all_made(self) -> dict[str, dict]:
        """Return the arguments of `resolvent.figures.papers.page.Made` for each item, by name."""
        return {
            name: {
                "file": self.file(name),
                "given": self.given(name),
                "models": self._compared(name),
                "reports": [(self.plan.experiment(e).title, f"{e}/report.html") for e in experiments],
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
        """Return the sources of the item (`resolvent.figures.papers.sources.READERS`)."""
        names, needs = self.experiments[item], self.items[item].exhibit.needs
        if not names:
            return {"cost_file": self.costs}
        given = {
            "run_folders": [self.plan.run_folders(name) for name in names],
            # The first candidate of each experiment is the configured run.
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
        extra = [RUN_FILES[name] for name in needs if name in RUN_FILES]
        folders = list(itertools.chain.from_iterable(folders))
        files = [f"{folder}/{file}" for folder in folders for file in (*RECORDS, *extra)]
        return files + given.get("comparison_files", []) + self._compared(item)

    def _compared(self, item: str) -> list[str]:
        """Return the files with the ratios of our numbers to the reported numbers of the item's table."""
        names = self.experiments[item] if "comparisons" in self.items[item].exhibit.needs else []
        return [f"{self.plan.results}/{name}/models.csv" for name in names]


def caption_facts(plan: Plan, experiment: str) -> dict:
    e, dataset = plan.experiment(experiment), plan.dataset_of(experiment).settings
    tested = ", ".join(map(str, plan.tested(experiment)))
    in_time = dataset.grid_kind == "explicit"
    unlike = len(set(dataset.sides(dataset.resolutions[0]))) > 1
    compared = [
        (paper.name, paper.samples[in_time]) for paper in (PAPERS[key] for key in e.shows if e.shows[key])
    ]
    compare = "; ".join(f"compare {name}, {samples}" for name, samples in compared if samples)
    counts = plan.sample_counts(experiment)
    tests = counted(counts["test"], "test sample")
    shown = {"all": tests, "some": f"four of the {tests}" if counts["test"] > 4 else tests}
    return {
        **counts,
        "epochs": e.training.epochs,
        "batch_size": e.training.batch_size,
        "seeds": counted(len(e.seeds), "seed"),
        "tested": tested if in_time else f"{tested} points{' along x' * unlike}",
        "chosen": CHOSEN[in_time].format(compare=f" ({compare})" if compare else "", **shown)
        + SLICE * (dataset.dimension == 3),
        "located": LOCATED[in_time] + SLICE * (dataset.dimension == 3),
        **dict(zip(("input", "target"), dataset.quantities, strict=True)),
        "model": plan.configuration.models[e.shown_model].label,
    }


def forced_where_missing(workflow, rule: str, output: str, beside: list[str]) -> None:
    """Force a rule to run if its output exists and a file written with it (`beside`) is missing."""
    if Path(output).exists() and workflow.is_main_process and not all(map(os.path.exists, beside)):
        from resolvent.planning.dag import force  # can only be imported inside Snakemake

        force(workflow, rule)


def sources_of_report(plan: Plan, experiment: str) -> dict:
    """Return the sources for `resolvent.figures.experiment.report.write_report`."""
    folder, rolled = f"{plan.results}/{experiment}", plan.rolled_out(experiment)
    return {
        "run_folders": plan.run_folders(experiment),
        "candidates": plan.shown_candidates(experiment),
        "named": plan.experiment(experiment).names_shown,
        "comparison_file": f"{folder}/comparison.csv",
        "baseline_folders": [f"{folder}/baselines"],
        "inference_file": f"{folder}/inference.csv",
        "estimates_file": f"{folder}/estimates.csv",
        "shifts": plan.experiment(experiment).stress.shifts,
        "scaled": plan.experiment(experiment).scaling is not None,
        "rates": plan.experiment(experiment).rates_swept,
        "quantities": plan.dataset_of(experiment).settings.quantities,
        "planned_facts": caption_facts(plan, experiment),
        "rollout_file": f"{rolled}/rollout.npz" if rolled else None,
    }


def planned_study(plan: Plan, papers: dict[str, PaperPlan]) -> dict:
    """Return the fields of `Study`, except the command and the provenance of the calling process."""

    def below(path: str) -> str:
        return os.path.relpath(path, plan.results)

    experiments = {}
    for name, e in plan.configuration.experiments.items():
        rows = []
        for model, resolution in itertools.product(e.models, e.resolutions):
            m = plan.configuration.models[model]
            runs = {str(seed): below(plan.run_folder(name, model, resolution, seed)) for seed in e.seeds}
            rows.append(study.PlannedRow(model, m.label, m.recipe, resolution, e.noise, runs))
        experiments[name] = study.PlannedExperiment(
            title=e.title,
            dataset=e.dataset,
            page=f"{name}/report.html",
            finest=plan.finest(name),
            papers=[key for key, paper in papers.items() if paper.link(name)],
            rows=rows,
        )
    planned = study.Study(
        name=plan.configuration.name,
        about=plan.configuration.about,
        experiments=experiments,
        datasets={
            name: study.PlannedDataset(
                page=f"datasets/{name}.html",
                **{file: below(getattr(dataset, file)) for file in ("card", "preview", "store")},
            )
            for name, dataset in plan.datasets.items()
        },
        papers={
            key: study.PlannedPaper(
                name=PAPERS[key].name,
                page=below(paper.page) if paper.experiments else "",
                items={name: item.title for name, item in paper.items.items()},
                made=list(paper.experiments),
            )
            for key, paper in papers.items()
        },
        pages=other_pages(),
    )
    return asdict(planned)


def sum_up(plan: Plan) -> None:
    """Write SHA256SUMS of the study's folder, or print why it cannot be written."""
    try:
        write_sums(plan.results)
    except (ResolventError, OSError) as error:
        sys.stderr.write(f"no {SUMS}: {error}\n")


def show_what_there_is(
    plan: Plan, papers: dict[str, PaperPlan], file: str | Path, *, failed: bool = False
) -> None:
    """Write the plan of the study to `file`, and the front page from the finished results.

    Prints why if the page cannot be written. The plan is dated after the page, so the next complete run
    writes the page again if its plan differs from this one. If a job `failed`, a missing file is its result:
    the message then has no command for making it.
    """
    from resolvent.figures.front.page import write_front_page

    try:
        study.write_study(file, planned_study(plan, papers), command=command(), provenance=provenance())
        write_front_page(plan.results)
        Path(file).touch()
    except (ResolventError, OSError) as error:
        if failed and isinstance(error, ResolventError):
            error.remedy = ""
        sys.stderr.write(f"no front page: {error}\n")
