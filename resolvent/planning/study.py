"""What a study is to have, in the words of its front page (`resolvent.figures.front.study`)."""

from __future__ import annotations

import itertools
import os
import sys
from dataclasses import asdict
from pathlib import Path

from resolvent.common.errors import ResolventError
from resolvent.figures.front.study import (
    PlannedDataset,
    PlannedExperiment,
    PlannedPaper,
    PlannedRow,
    Study,
    write_study,
)
from resolvent.figures.papers.registry import PAPERS
from resolvent.planning.paper_plan import PaperPlan
from resolvent.planning.plan import STABILITY, Plan
from resolvent.planning.provenance import command, provenance


def planned_study(plan: Plan, papers: dict[str, PaperPlan]) -> dict:
    """Return the fields of `Study`, without the command and the origin of the one who asks."""
    pages = {"theory": "theory.html"}  # which may be asked for by name
    if plan.configuration.stability:
        pages[STABILITY] = f"{STABILITY}.html"
    study = Study(
        name=plan.configuration.name,
        experiments={name: _experiment(plan, papers, name) for name in plan.configuration.experiments},
        datasets={
            name: PlannedDataset(
                page=f"datasets/{name}.html",
                card=_below(plan, dataset.card),
                store=_below(plan, dataset.store),
            )
            for name, dataset in plan.datasets.items()
        },
        papers={
            key: PlannedPaper(
                name=PAPERS[key].name,
                page=_below(plan, paper.page) if paper.experiments else "",
                items={name: item.title for name, item in paper.items.items()},
                made=list(paper.experiments),
            )
            for key, paper in papers.items()
        },
        pages=pages,
    )
    return asdict(study)


def show_what_there_is(plan: Plan, papers: dict[str, PaperPlan], study: str | Path) -> None:
    """Write the file `study` and the front page, of what is finished; say why on stderr where that fails.

    The plan is then newer than the page: where it is another one than that of the rule `front_page`, the next
    run of everything makes the page again.
    """
    from resolvent.figures.front.page import write_front_page

    try:
        write_study(study, planned_study(plan, papers), command=command(), provenance=provenance())
        write_front_page(plan.results)
        Path(study).touch()
    except (ResolventError, OSError) as error:
        sys.stderr.write(f"no front page: {error}\n")


def _experiment(plan: Plan, papers: dict[str, PaperPlan], name: str) -> PlannedExperiment:
    e = plan.experiment(name)
    rows = [
        PlannedRow(
            model=model,
            label=plan.configuration.models[model].label,
            recipe=plan.configuration.models[model].recipe,
            resolution=resolution,
            noise=e.noise,
            runs={
                str(seed): _below(plan, plan.run_folder(name, model, resolution, seed)) for seed in e.seeds
            },
        )
        for model, resolution in itertools.product(e.models, e.resolutions)
    ]
    return PlannedExperiment(
        title=e.title,
        dataset=e.dataset,
        page=f"{name}/report.html",
        finest=plan.finest(name),
        papers=[key for key, paper in papers.items() if paper.link(name)],
        rows=rows,
    )


def _below(plan: Plan, path: str) -> str:
    return os.path.relpath(path, plan.results)
