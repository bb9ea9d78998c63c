"""Predict the resources of each job of a plan, one method per rule.

Finished jobs of the same kind in the study replace predictions by measurements: cost.json of each run, and
Snakemake's benchmark file of each shard.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

from resolvent.common.errors import FileError
from resolvent.common.records import CostRecord, read_record
from resolvent.datasets.storage.layout import resolution_of
from resolvent.models.cost import Cost
from resolvent.planning.configuration.settings import Resolution, training_settings
from resolvent.planning.plan import DatasetPlan, Plan, Training
from resolvent.planning.prediction import costs
from resolvent.planning.prediction.costs import FLOP_PER_SECOND, START_BYTES, START_SECONDS, Need

# Margins beyond the largest measurement, and the number of shards of a dataset whose benchmarks are read.
MEASURED_TIME_FACTOR, MEASURED_MEMORY_FACTOR, SHARDS = 2.0, 1.25, 8


def run_of(wildcards) -> tuple[str, str, Resolution]:
    """Return experiment, model and training resolution from the wildcards of a run's folder."""
    return wildcards.experiment, wildcards.model, resolution_of(wildcards.group)


class Needs:
    """Predicted resources of the jobs of a plan; `gpu` is whether operators run on a GPU."""

    def __init__(self, plan: Plan, gpu: bool):
        self.plan, self.gpu = plan, gpu
        self._training, self._evaluation = cache(self.training), cache(self.evaluation)
        self._all_seeds = cache(self.all_seeds)

    def train(self, wildcards) -> Need:
        """Predict a training, or take the measurements of the same run with other seeds."""
        run = run_of(wildcards)
        return of_trainings(
            self._training(*run),
            self._all_seeds(*run),
            self.plan.training(*run),
            gpu=self.gpu,
            processes=self.processes(wildcards),
            nodes=self.nodes(wildcards),
            threads=self.plan.configuration.training_threads,
        )

    def all_seeds(self, experiment: str, model: str, resolution: Resolution) -> list[str]:
        seeds = self.plan.experiment(experiment).seeds
        return [self.plan.run_folder(experiment, model, resolution, seed) for seed in seeds]

    def solve(self, dataset: DatasetPlan, benchmark: str) -> Need:
        """Predict a shard, or take the measurements of other shards; `benchmark` is their file pattern."""
        predicted = costs.solving(dataset.settings, dataset.address)
        return of_shards(predicted, benchmark, dataset.settings.num_shards)

    def train_short(self, wildcards) -> Need:
        return self._training(*run_of(wildcards), wildcards.candidate)

    def processes(self, wildcards) -> int:
        return self.plan.experiment(wildcards.experiment).processes_for(wildcards.model)

    def nodes(self, wildcards) -> int:
        return self.plan.experiment(wildcards.experiment).nodes_for(wildcards.model)

    def evaluate(self, wildcards) -> Need:
        return self._evaluation(*run_of(wildcards), gpu=self.gpu)

    def rollout(self, wildcards) -> Need:
        once = self.evaluate(wildcards)
        frames = getattr(self.plan.test_dataset_of(wildcards.experiment).settings, "frames", 1)
        return Need(START_SECONDS + frames * (once.seconds - START_SECONDS), once.bytes * (1 + frames / 4))

    def latent_basis(self, wildcards) -> Need:
        """Predict the latent functions of test samples, and eigenfunctions by finite elements, on the CPU."""
        once = self._evaluation(*run_of(wildcards), gpu=False)
        return Need(once.seconds + START_SECONDS, once.bytes + 300e6)

    def baselines(self, wildcards) -> Need:
        dataset = self.plan.dataset_of(wildcards.experiment).settings
        samples, counts = self._tested(wildcards.experiment), self.plan.sample_counts(wildcards.experiment)
        seconds = samples * dataset.seconds_per_sample()  # most are solved on coarser grids than the data
        values = (dataset.in_channels + dataset.out_channels) * dataset.largest_array  # of a sample
        held = costs.EVALUATED_BYTES * values * (samples + counts["train"])
        return Need(2 * START_SECONDS + seconds, START_BYTES + held)

    def inference(self, wildcards) -> Need:
        """Predict timing every operator and solver, and solving a batch of training samples."""
        e = self.plan.experiment(wildcards.experiment)
        dataset = self.plan.dataset_of(wildcards.experiment).settings
        runs = self._evaluations(wildcards.experiment)
        solved = 32 * len(e.resolutions) * dataset.seconds_per_sample()
        seconds = 2 * START_SECONDS + solved + sum(1 + need.seconds - START_SECONDS for need in runs)
        return Need(seconds, START_BYTES + max(need.bytes for need in runs))

    def _evaluations(self, experiment: str) -> list[Need]:
        e = self.plan.experiment(experiment)
        return [self._evaluation(experiment, *run, self.gpu) for run in product(e.models, e.resolutions)]

    def estimates(self, wildcards) -> Need:
        """Predict evaluating every run under every symmetry, with and without shifts, and solving shifts."""
        e = self.plan.experiment(wildcards.experiment)
        dataset = self.plan.dataset_of(wildcards.experiment).settings
        shifts, images = len(e.stress.shifts), 1 + len(dataset.symmetries())
        runs = self._evaluations(wildcards.experiment)
        share = min(1.0, e.stress.samples / self._tested(wildcards.experiment))
        once = len(e.seeds) * sum(1 + share * (need.seconds - START_SECONDS) for need in runs)
        solved = e.stress.samples * len(e.resolutions) * dataset.seconds_per_sample()
        seconds = 2 * START_SECONDS + shifts * solved + (1 + shifts) * images * once
        return Need(seconds, START_BYTES + max(need.bytes for need in runs))

    def preview(self, dataset: DatasetPlan) -> Need:
        """Predict reading the samples for the page, and computing spectra."""
        size = costs.store_bytes(dataset.settings)
        return Need(START_SECONDS + size / 1e8, START_BYTES + min(size, 1e9))

    def motion(self, dataset: DatasetPlan) -> Need:
        return Need(2 * START_SECONDS + 10 * dataset.settings.seconds_per_sample(), 2 * START_BYTES)

    @property
    def measure_cost(self) -> Need:
        """Predict timed training steps in separate processes, with ten matrices of all pairs of points."""
        cost = self.plan.configuration.cost
        flop = 6 * cost.batch_size * 4 * cost.points * (3000 * 128 + 2 * 4 * 128 * cost.points)  # of a round
        seconds = 4 * START_SECONDS + (cost.rounds + 4) * flop / FLOP_PER_SECOND
        return Need(seconds, 2 * START_BYTES + 40 * cost.batch_size * cost.points**2)

    @property
    def measure_architectures(self) -> Need:
        """Predict counting operations on meta tensors at the paper's widths, and timing the smallest."""
        settings = self.plan.configuration.architecture_costs
        cases = len(settings.points) * len(settings.widths) * 7
        seconds = cases * (3 + (settings.rounds + 1) * settings.timed_flop / FLOP_PER_SECOND)
        return Need(START_SECONDS + seconds, 8e9)

    def training(
        self, experiment: str, model: str, resolution: Resolution, candidate: str | None = None
    ) -> Need:
        """Predict a training; with `tuning`, the most expensive candidate."""
        e, m = self.plan.experiment(experiment), self.plan.configuration.models[model]
        dataset = self.plan.dataset_of(experiment).settings
        planned = self.plan.training(experiment, model, resolution, candidate)
        tried = e.tuning.candidates.values() if e.tuning and not candidate else []
        settings = [training_settings(e, model, m, resolution, tuned) for tuned in tried]
        operator, needs = self.operator(experiment, model, resolution, resolution), []
        for run in [replace(planned, training=one) for one in settings] or [planned]:
            samples = run.parameters["samples"]
            gradients = dataset.dimension if run.training.gradient_weight else 0
            needs.append(
                costs.training(
                    operator,
                    samples=samples["train"],
                    channels=dataset.in_channels + dataset.out_channels + gradients,
                    epochs=run.training.epochs,
                    batch_size=run.training.batch_size,
                    tested=sum(samples.values()) - samples["train"],
                    gpu=self.gpu,
                    processes=e.processes_for(model),
                    nodes=e.nodes_for(model),
                    most=self.most_sample_bytes,
                )
            )
        return Need(max(one.seconds for one in needs), max(one.bytes for one in needs), needs[0].disk)

    @property
    def most_sample_bytes(self) -> float:
        limit = self.plan.configuration.samples_gb
        return math.inf if limit is None else 1e9 * limit

    def evaluation(self, experiment: str, model: str, resolution: Resolution, gpu: bool) -> Need:
        dataset = self.plan.test_dataset_of(experiment).settings
        tested = self.plan.description(experiment, model, resolution, seed=0)["test_resolutions"]
        return costs.evaluating(
            [self.operator(experiment, model, resolution, one) for one in tested],
            samples=self._tested(experiment),
            channels=dataset.in_channels + dataset.out_channels,
            gpu=gpu,
            most=self.most_sample_bytes,
        )

    def operator(self, experiment: str, model: str, trained: Resolution, resolution: Resolution) -> Cost:
        """Return the cost of an operator trained at resolution `trained`, on the grid of `resolution`."""
        run = self.plan.training(experiment, model, trained)
        dataset = self.plan.test_dataset_of(experiment).settings
        if resolution not in dataset.resolutions:
            dataset = self.plan.dataset_of(experiment).settings
        if run.grids == "coarse":
            return run.settings.cost(dataset.coarse_of(resolution))  # type: ignore[attr-defined]
        # On rectangular grids the geometric mean of the sides, which gives the right number of points.
        side = dataset.num_points(resolution) ** (1 / len(dataset.sides(resolution)))
        return run.settings.cost(round(side))

    def _tested(self, experiment: str) -> int:
        e = self.plan.experiment(experiment)
        draws = sum(e.noise_realisations if level else 1 for level in e.tested_noise)
        return draws * self.plan.sample_counts(experiment)["test"]


def placement(needs: Needs) -> dict[str, Callable]:
    """Return the resources that place a training on SLURM nodes, as functions of the job's wildcards.

    For several nodes, `mpi` makes the executor plugin let the script on the first node start the processes
    on the others. Each node has one task, and its share of CPUs and GPUs. None requests nothing.
    """

    def tasks(wildcards) -> int | None:
        nodes = needs.nodes(wildcards)
        return nodes if nodes > 1 else None

    def cpus(wildcards, threads: int) -> int | None:
        nodes = tasks(wildcards)
        return threads // nodes if nodes else None

    def options(wildcards) -> str | None:
        if not (nodes := tasks(wildcards)):
            return None
        gpus = f" --gpus-per-node={needs.processes(wildcards) // nodes}" if needs.gpu else ""
        return f"--ntasks-per-node=1{gpus}"

    return {
        "nodes": needs.nodes,
        "tasks": tasks,
        "cpus_per_task": cpus,
        "mpi": lambda wildcards: "srun" if tasks(wildcards) else None,
        "slurm_extra": options,
    }


def of_trainings(
    predicted: Need,
    folders: Iterable[str],
    run: Training,
    *,
    gpu: bool,
    processes: int,
    nodes: int,
    threads: int,
) -> Need:
    """Return the resources of a training, measured in finished runs that differ only in the seed.

    Only runs on the same kind of device and number of processes and threads count. On a GPU main memory
    stays predicted, since such runs record the memory of the GPU.
    """
    alike = []
    for file in (f"{folder}/cost.json" for folder in folders):
        if not os.path.exists(file):  # faster than a failed read for each run of a new study
            continue
        with suppress(FileError):
            cost = read_record(file, CostRecord)
            computed = cost.status, cost.config_hash, cost.processes, cost.threads
            on_gpu = not cost.device.endswith("(CPU)")
            if computed == ("finished", run.config_hash, processes, threads) and on_gpu == gpu:
                alike.append(cost)
    seconds = [START_SECONDS + cost.train_seconds for cost in alike]
    held = [processes // nodes * cost.peak_memory_bytes + START_BYTES * (processes > 1) for cost in alike]
    return _with(predicted, seconds, [] if gpu else held)


def of_shards(predicted: Need, benchmark: str, shards: int) -> Need:
    """Return the resources of a shard, measured for finished shards; `benchmark` is their file pattern."""
    seconds, held = [], []
    for shard in range(min(shards, SHARDS) if os.path.exists(os.path.dirname(benchmark)) else 0):
        with suppress(OSError, ValueError, KeyError):
            names, values = Path(benchmark.format(shard=shard)).read_text().splitlines()[:2]
            row = dict(zip(names.split("\t"), values.split("\t"), strict=True))
            seconds.append(float(row["s"]))
            held.append(float(row["max_rss"]) * 2**20)
    return _with(predicted, seconds, held)


def _with(predicted: Need, seconds: list[float], held: list[float]) -> Need:
    """Replace predictions by the largest measurements, if these are positive and finite."""
    changes: dict[str, float] = {}
    if 0 < max(seconds, default=0) < math.inf:
        changes |= {"seconds": max(seconds), "time_factor": MEASURED_TIME_FACTOR}
    if 0 < max(held, default=0) < math.inf:
        changes |= {"bytes": max(held), "memory_factor": MEASURED_MEMORY_FACTOR}
    return replace(predicted, **changes)
