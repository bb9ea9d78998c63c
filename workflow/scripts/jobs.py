"""Run the job of a rule: the function named in the rule's parameter `job`.

Each function has its own imports, so that no job imports torch or JAX without need.
"""

import os
import random
import sys
from contextlib import suppress
from pathlib import Path

from resolvent.planning.job import job
from resolvent.planning.provenance import command, provenance

files, made, given, wildcards = snakemake.input, snakemake.output, snakemake.params, snakemake.wildcards
# The rule's parameters are the function's arguments, except parameters that only trigger reruns.
arguments = {name: value for name, value in given.items() if name not in ("job", "versions")}
computing = {"threads": snakemake.threads, "gpus": snakemake.resources.get("gpu")}
TIMED = ("inference", "measure_architectures", "measure_cost")  # need an exclusive GPU


def resolution():
    from resolvent.datasets.storage.layout import resolution_of

    return resolution_of(wildcards.group)


def measured_runs():
    """Return the dataset, the test dataset, the runs and the table of a measurement of all runs."""
    return Path(files.card), Path(files.test_card), list(map(Path, given.runs)), Path(made.table)


def origin():
    return {"command": command(), "provenance": provenance()}


def solve_dataset():
    from resolvent.common.files import write_json
    from resolvent.datasets.storage.generation import generate_shard
    from resolvent.datasets.tasks.registry import build_task, settings_of

    cost = generate_shard(
        build_task(settings_of(given.settings)),
        store=Path(given.store),
        shard=int(wildcards.shard),
        receipt=Path(made.receipt),
        code_versions=given.versions,
        address=given.address,
    )
    write_json(given.cost, cost)


def finalise_dataset():
    from resolvent.datasets.card import finalise
    from resolvent.datasets.tasks.registry import build_task, settings_of

    facts = finalise(
        build_task(settings_of(given.settings)),
        store=Path(given.store),
        receipts=list(map(Path, files.receipts)),
        card=Path(made.card),
        code_versions=given.solved_by,
    )
    for warning in facts.get("imported", {"warnings": []})["warnings"]:
        sys.stderr.write(f"{snakemake.rule}: warning: {warning}\n")


def preview_dataset():
    from resolvent.datasets.preview import write_preview

    write_preview(Path(files.card), Path(made.preview))


def motion():
    from resolvent.datasets.preview import write_motion

    write_motion(Path(files.card), Path(made.motion))


def train():
    from resolvent.training.train import train_run
    from resolvent.training.tuning import tuned_run

    tuned = files.get("tuned")
    train_run(
        card=Path(files.card),
        folder=Path(made.checkpoint).parent,
        resolution=resolution(),
        seed=int(wildcards.seed),
        run=tuned_run(given.run, Path(tuned)) if tuned else given.run,
        code_versions=given.versions,
        **computing,
        processes=snakemake.resources.processes,
        nodes=snakemake.resources.nodes,
    )


def choose_settings():
    from resolvent.training.tuning import choose_settings

    choose_settings(resolution=resolution(), output=Path(made.tuned), **arguments)


def evaluate():
    from resolvent.evaluation.evaluate import evaluate_run
    from resolvent.training.tuning import tuned_description

    tuned = files.get("tuned")
    evaluate_run(
        card=Path(files.card),
        folder=Path(made.errors).parent,
        description=tuned_description(given.description, Path(tuned)) if tuned else given.description,
        **computing,
        metrics=given.metrics,
    )


def baselines():
    from resolvent.evaluation.baselines import write_baselines

    folder, of_test = Path(made.cost).parent, {"test_card": Path(files.test_card)}
    write_baselines(Path(files.card), folder, experiment=wildcards.experiment, **of_test, **arguments)


def inference():
    # Give JAX, which uses every visible core, as many cores as torch has threads.
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, random.sample(cores, min(snakemake.threads, len(cores))))
    from resolvent.evaluation.inference import measure_inference

    measure_inference(*measured_runs(), counts=given.counts, **computing)


def estimates():
    from resolvent.evaluation.estimates import measure_estimates

    options = {"shifts": given.shifts, "samples": given.samples, "counts": given.counts}
    measure_estimates(*measured_runs(), **options, **computing)


def latent_basis():
    from resolvent.evaluation.latent_basis import write_latent_basis

    write_latent_basis(
        card=Path(files.card),
        folder=Path(made.latent).parent,
        resolution=resolution(),
        seed=int(wildcards.seed),
        threads=snakemake.threads,
        **arguments,
    )


def rollout():
    from resolvent.evaluation.rollout import write_rollout

    write_rollout(
        card=Path(files.card),
        folder=Path(made.rollout).parent,
        resolution=resolution(),
        **arguments,
        **computing,
    )


def predict():
    import torch

    from resolvent.public.files import predict_file
    from resolvent.public.runs import load_run
    from resolvent.training.devices import choose_device

    torch.set_num_threads(snakemake.threads)
    run = load_run(Path(files.run).parent, data=given.card)
    predict_file(run, files.source, made.predicted, device=str(choose_device(snakemake.resources.gpu)))


def measure_cost():
    from resolvent.common.runs import save_table
    from resolvent.measurements.settings import CostSettings
    from resolvent.measurements.step_cost import step_costs

    sizes = CostSettings.model_validate(given.settings)
    save_table(step_costs(**sizes.model_dump(), gpus=snakemake.resources.gpu), made.table)


def measure_architectures():
    from resolvent.common.runs import save_table
    from resolvent.measurements.architecture_costs import architecture_costs
    from resolvent.measurements.settings import ArchitectureCostSettings

    sizes = ArchitectureCostSettings.model_validate(given.settings)
    save_table(architecture_costs(gpus=snakemake.resources.gpu, **sizes.model_dump()), made.table)


def compare():
    from resolvent.figures.experiment.comparison import write_comparison
    from resolvent.figures.experiment.error_table import write_error_tables

    write_comparison(given.runs, given.baselines, made.comparison)
    write_error_tables(made.comparison, made.tables)


def report():
    from resolvent.common.outside import find
    from resolvent.figures.common.exhibit import Exhibit
    from resolvent.figures.experiment.report import write_report

    own = {name: find(location, Exhibit) for name, location in given.own.items()}
    write_report(made.page, card=files.card, **arguments | {"own": own}, **origin())


def run_pages():
    from resolvent.figures.run.page import write_run_pages

    write_run_pages(card=files.card, **arguments, **origin())


def dataset_page():
    from resolvent.datasets.storage.addresses import located
    from resolvent.datasets.storage.object_store import size_of
    from resolvent.figures.dataset.croissant import write_croissant
    from resolvent.figures.dataset.page import write_dataset_page

    page, store = Path(made.page), located(Path(files.card).with_suffix(".zarr"))
    stored = {"card": Path(files.card), "store": str(store)}
    write_croissant(made.croissant, **stored, page=page.name)
    write_dataset_page(
        page,
        **stored,
        size=size_of(store),
        preview=files.preview,
        croissant=made.croissant,
        **arguments | {"sources": given.sources | {"motion_file": files.get("motion")}},
        **origin(),
    )


def show():
    from resolvent.figures.common.exhibit import Sources
    from resolvent.figures.papers.registry import PAPERS
    from resolvent.figures.papers.sources import READERS

    PAPERS[wildcards.paper].items[wildcards.item].exhibit.write(Sources(READERS, **given.given), made[0])


def paper_page():
    from resolvent.figures.papers.page import Made, write_paper_page

    items = {item: Made(**facts) for item, facts in given.made.items()}
    write_paper_page(wildcards.paper, made.page, **arguments | {"made": items}, **origin())


def page_assets():
    from resolvent.figures.common.assets import write_assets

    write_assets(Path(made[0]).parent)


def plan_study():
    from resolvent.figures.front.study import write_study

    write_study(made.study, given.study, **origin())


def study_page():
    from resolvent.figures.front.study import write_study
    from resolvent.figures.papers.items import imported

    write_study(files.study, given.study, **origin())
    imported(given.write)(Path(made.page).parent)


# On Linux `ps` and `top` then show the job's name instead of "python".
with suppress(OSError):
    Path("/proc/self/comm").write_text(given.job)
with job(snakemake, alone=given.job in TIMED):
    globals()[given.job]()
