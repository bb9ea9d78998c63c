"""What the figures of an experiment are made from, and the facts that their captions quote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvent.common.counts import counted
from resolvent.figures.papers.registry import PAPERS

if TYPE_CHECKING:
    from resolvent.planning.plan import Plan

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


def caption_facts(plan: Plan, experiment: str) -> dict:
    """Return the words and numbers that captions of an experiment quote."""
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
