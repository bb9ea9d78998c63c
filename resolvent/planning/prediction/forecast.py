"""What a configuration will take, predicted before anything runs: jobs by rule, hours, memory and disk.

The jobs are listed from the plan, as the rules make them; a test holds the list to Snakemake's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage
from types import SimpleNamespace

from resolvent.common.counts import counted
from resolvent.common.machine import machine_memory
from resolvent.datasets.storage.layout import group_name
from resolvent.planning.configuration.settings import Resolution
from resolvent.planning.paper_plan import PaperPlan
from resolvent.planning.plan import Plan
from resolvent.planning.prediction.costs import Need, drawing, finalising, solving, store_bytes
from resolvent.planning.prediction.needs import Needs
from resolvent.planning.prediction.steps import Step, steps_that_do_not_fit

HEADER = ("rule", "jobs", "done", "core-hours", "GPU-hours", "GB of a job", "GB on disk")


@dataclass(frozen=True)
class Job:
    """A job: a file that it leaves, what it is predicted to take, on a core or a GPU, and bytes on disk.

    Each of its `processes` has a core or a GPU of its own. A training has its `step`.
    """

    rule: str
    output: str
    need: Need
    gpu: bool = False
    disk: float = 0.0
    processes: int = 1
    step: Step | None = None

    @property
    def done(self) -> bool:
        return Path(self.output).exists()


def jobs(plan: Plan, papers: Iterable[PaperPlan], needs: Needs) -> Iterator[Job]:
    """Yield every job of `rule all`, whether or not it is done."""
    papers = list(papers)
    yield from _of_pages(plan)
    yield from _of_datasets(plan, needs)
    for experiment in plan.configuration.experiments:
        yield from _of_experiment(plan, needs, experiment)
    theory = (("theory", needs.theory), ("draw_theory", drawing(11)), ("theory_page", drawing(11)))
    for rule, need in theory if plan.shows_theory else ():
        yield Job(rule, f"{plan.results}/theory.html", need)
    for paper in papers:
        yield from _of_paper(paper, needs)


def forecast(listed: Iterable[Job], cores: int, gpus: int) -> str:
    """Return a table of the jobs that are still to be done, and what it comes to on so many cores and
    GPUs."""
    by_rule: dict[str, list[Job]] = {}
    for job in listed:
        by_rule.setdefault(job.rule, []).append(job)
    rows = [HEADER, *(_row(rule, members) for rule, members in by_rule.items())]
    everything = [job for members in by_rule.values() for job in members]
    rows.append(_row("total", everything))
    first, *others = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = []
    for rule, *cells in rows:
        right = [cell.rjust(width) for cell, width in zip(cells, others, strict=True)]
        lines.append("  ".join([rule.ljust(first), *right]))
    core_hours, gpu_hours = hours(everything)
    longest = max(core_hours / cores, gpu_hours / max(gpus, 1))
    on = counted(cores, "core") + (f" and {counted(gpus, 'GPU')}" if gpus else "")
    return "\n".join(
        [
            *lines,
            "",
            f"About {longest:.1f} hours on {on}, for what is not done yet. Predictions are good to a factor "
            "of two or three; a GPU's are guesses.",
            *(f"Warning: {shortage}" for shortage in shortages(everything)),
        ]
    )


def shortages(listed: Iterable[Job]) -> Iterator[str]:
    """Say what this machine lacks for the jobs that are not done: space on its disks, and memory.

    The memory of a training is that of its step, on a GPU the device's.
    """
    waiting = [job for job in listed if not job.done]
    needed: dict[int, float] = {}
    places: dict[int, Path] = {}
    for job in waiting:
        place = next(parent for parent in Path(job.output).absolute().parents if parent.exists())
        device = place.stat().st_dev
        places.setdefault(device, place)
        needed[device] = needed.get(device, 0.0) + job.disk
    for device, size in needed.items():
        if size > (free := disk_usage(places[device]).free):
            yield (
                f"{size / 1e9:,.1f} GB are to be written and {free / 1e9:,.1f} GB are free on the disk of "
                f"{places[device]}; name another in data_root or results_root"
            )
    memory = machine_memory()
    # A training that does not fit by the formula may by what is counted.
    others = (job for job in waiting if job.gpu or job.step is None)
    largest = max(others, key=lambda job: job.need.bytes, default=None)
    if largest and largest.need.bytes > memory:
        yield (
            f"a job of {largest.rule} needs {largest.need.bytes / 1e9:,.1f} GB and this machine has "
            f"{memory / 1e9:,.1f} GB; run it on a larger one, or make it smaller"
        )
    for gpu in (False, True):
        yield from steps_that_do_not_fit((job.step for job in waiting if job.step and job.gpu == gpu), gpu)


def hours(listed: Iterable[Job]) -> tuple[float, float]:
    """Return core-hours, and GPU-hours, of the jobs that are not done."""
    waiting = [job for job in listed if not job.done]
    return tuple(
        sum(job.processes * job.need.seconds for job in waiting if job.gpu == gpu) / 3600
        for gpu in (False, True)
    )


def _row(rule: str, members: list[Job]) -> tuple[str, ...]:
    core_hours, gpu_hours = hours(members)
    return (
        rule,
        f"{len(members):,}",
        f"{sum(job.done for job in members):,}",
        f"{core_hours:.2f}",
        f"{gpu_hours:.2f}" if any(job.gpu for job in members) else "",
        f"{max(job.need.bytes for job in members) / 1e9:.1f}",
        f"{sum(job.disk for job in members) / 1e9:.2f}" if any(job.disk for job in members) else "",
    )


def _of_pages(plan: Plan) -> Iterator[Job]:
    yield Job("page_assets", f"{plan.results}/assets/style.css", drawing(1))
    yield Job("plan_study", f"{plan.results}/study.json", drawing(1))
    yield Job("front_page", f"{plan.results}/index.html", drawing(1))


def _of_datasets(plan: Plan, needs: Needs) -> Iterator[Job]:
    for name, dataset in plan.datasets.items():
        shards = dataset.receipts
        for receipt in shards:
            size = 0.0 if dataset.address else store_bytes(dataset.settings) / len(shards)
            yield Job(f"solve_{name}", receipt, solving(dataset.settings), disk=size)
        yield Job(f"finalise_{name}", dataset.card, finalising(dataset.settings))
        yield Job(f"preview_{name}", dataset.preview, needs.preview(dataset))
        page = f"{plan.results}/datasets/{name}"
        yield Job("draw_dataset", f"{page}/dataset_gallery.svg", drawing(2))
        if dataset.settings.shows_flux:
            yield Job("draw_flux", f"{page}/dataset_flux.svg", drawing(2))
        if dataset.moves:
            yield Job(f"motion_{name}", dataset.motion, needs.motion(dataset))
            yield Job("dataset_film", f"{page}/film.mp4", drawing(100))
        yield Job("dataset_page", f"{page}.html", drawing(2))


def _of_experiment(plan: Plan, needs: Needs, experiment: str) -> Iterator[Job]:
    e, folder = plan.configuration.experiments[experiment], plan.results / experiment
    for model in e.models:
        for resolution in e.resolutions:
            wildcards = SimpleNamespace(experiment=experiment, model=model, group=group_name(resolution))
            yield from _of_tuning(plan, needs, wildcards, resolution)
            for seed in e.seeds:
                run = plan.run_folder(experiment, model, resolution, seed)
                size = needs.checkpoint_bytes(wildcards)
                yield Job(
                    "train",
                    f"{run}/checkpoint.pt",
                    needs.train(wildcards),
                    needs.gpu,
                    disk=size,
                    processes=needs.processes(wildcards),
                    step=needs.step(wildcards),
                )
                yield Job("evaluate", f"{run}/errors.csv", needs.evaluate(wildcards), needs.gpu)
    wildcards = SimpleNamespace(experiment=experiment)
    yield Job("baselines", f"{folder}/baselines/errors.csv", needs.baselines(wildcards))
    yield Job("inference", f"{folder}/inference.csv", needs.inference(wildcards), needs.gpu)
    read = drawing(3 * len(plan.run_folders(experiment)))
    for rule, file in (
        ("compare", "comparison.csv"),
        ("draw_figures", "figures/samples.svg"),
        ("report", "report.html"),
        (f"run_pages_{experiment}", "compare.html"),
    ):
        yield Job(rule, f"{folder}/{file}", read)
    for figure in e.own_figures:
        yield Job("draw_own_figure", f"{folder}/own_figures/{figure}.svg", read)
    if run := plan.rolled_out(experiment):
        yield _later(f"{run}/rollout.npz", needs)
        yield Job("rollout_film", f"{run}/rollout.mp4", drawing(1))


def _later(file: str, needs: Needs) -> Job:
    """Return the job that makes a file of a run after its training: a rollout, or a latent basis."""
    experiment, model, group, _ = Path(file).parts[-5:-1]
    wildcards, rule = SimpleNamespace(experiment=experiment, model=model, group=group), Path(file).stem
    return Job(rule, file, getattr(needs, rule)(wildcards), needs.gpu and rule == "rollout")


def _of_tuning(plan: Plan, needs: Needs, wildcards: SimpleNamespace, resolution: Resolution) -> Iterator[Job]:
    """Yield the short runs of a model and the choice among them, where settings are tuned."""
    short_runs = plan.short_runs(wildcards.experiment, wildcards.model, resolution)
    for folder in short_runs:
        candidate = SimpleNamespace(**vars(wildcards), candidate=Path(folder).parent.name)
        yield Job(
            "train_short",
            f"{folder}/checkpoint.pt",
            needs.train_short(candidate),
            needs.gpu,
            disk=needs.checkpoint_bytes(wildcards),
            processes=needs.processes(wildcards),
        )
    if file := plan.tuned(wildcards.experiment, wildcards.model, resolution):
        yield Job("choose_settings", file, drawing(len(short_runs)))


def _of_paper(paper: PaperPlan, needs: Needs) -> Iterator[Job]:
    read = {item: paper.inputs(item) for item in paper.experiments}
    for item, files in read.items():
        rule = "paper_table" if item.startswith("table") else "paper_figure"
        yield Job(rule, paper.file(item), drawing(len(files)))
    if any(paper.items[item].takes == "cost" for item in read):
        rule = {"cao2021": "measure_cost", "calvello2024": "measure_architectures"}[paper.key]
        yield Job(rule, paper.costs, getattr(needs, rule), needs.gpu)
    listed = {f"{paper.plan.rolled_out(name)}/rollout.npz" for name in paper.plan.configuration.experiments}
    for file in dict.fromkeys(file for files in read.values() for file in files):
        if Path(file).stem in ("rollout", "latent_basis") and file not in listed:
            yield _later(file, needs)
    if paper.experiments:
        yield Job("paper_page", paper.page, drawing(2 * len(paper.folders)))
