"""Predict the resources of each job of a plan, one method per rule.

Finished jobs of the same kind in the study replace predictions by measurements: cost.json of each run, and
Snakemake's benchmark file of each shard.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

from resolvent.common.errors import FileError
from resolvent.common.records import CostRecord, read_record
from resolvent.models.cost import Cost
from resolvent.planning.configuration.settings import Resolution, training_settings
from resolvent.planning.plan import DatasetPlan, Plan
from resolvent.planning.prediction import costs
from resolvent.planning.prediction.costs import (
    FLOP_PER_SECOND,
    GPU_BYTES,
    KEPT_VALUES,
    START_BYTES,
    START_SECONDS,
    STATE_BYTES,
    VALUE_SECONDS,
    Need,
)
from resolvent.planning.wildcards import of_wildcards

# Margins beyond the largest measurement, and the number of shards of a dataset whose benchmarks are read.
MEASURED_TIME_FACTOR, MEASURED_MEMORY_FACTOR, SHARDS = 2.0, 1.25, 8


class Needs:
    """Predicted resources of the jobs of a plan; `gpu` is whether operators run on a GPU."""

    def __init__(self, plan: Plan, gpu: bool):
        self.plan, self.gpu = plan, gpu
        # Called for every seed, resource and attempt.
        for method in (self.training, self.evaluation, self.costs_of_seeds):
            setattr(self, method.__name__, cache(method))

    def solve(self, dataset: DatasetPlan, benchmark: str) -> Need:
        """Predict a shard, or take the measurements of other shards; `benchmark` is their file pattern."""
        seconds, held = [], []
        some = min(dataset.settings.num_shards, SHARDS)
        for shard in range(some if os.path.exists(os.path.dirname(benchmark)) else 0):
            with suppress(OSError, ValueError, KeyError):
                names, values = Path(benchmark.format(shard=shard)).read_text().splitlines()[:2]
                row = dict(zip(names.split("\t"), values.split("\t"), strict=True))
                seconds.append(float(row["s"]))
                held.append(float(row["max_rss"]) * 2**20)
        return _measured(costs.solving(dataset.settings, dataset.address), seconds, held)

    def preview(self, dataset: DatasetPlan) -> Need:
        """Predict reading the samples for the page, and computing spectra."""
        size = costs.store_bytes(dataset.settings)
        return Need(START_SECONDS + size / 1e8, START_BYTES + min(size, 1e9))

    def motion(self, dataset: DatasetPlan) -> Need:
        return Need(2 * START_SECONDS + 10 * dataset.settings.seconds_per_sample(), 2 * START_BYTES)

    def train(self, experiment: str, model: str, resolution: Resolution) -> Need:
        """Predict a training, or take the measurements of finished runs that differ only in the seed.

        Only runs on the same kind of device and number of processes and threads count. On a GPU main memory
        stays predicted, since such runs record the memory of the GPU.
        """
        seconds, held = [], []
        processes, nodes = self.processes(experiment, model), self.nodes(experiment, model)
        config_hash = self.plan.training(experiment, model, resolution).config_hash
        same = "finished", config_hash, processes, self.plan.configuration.training_threads, self.gpu
        for file in self.costs_of_seeds(experiment, model, resolution):
            if not os.path.exists(file):  # faster than a failed read for each run of a new study
                continue
            with suppress(FileError):
                cost = read_record(file, CostRecord)
                on_gpu = not cost.device.endswith("(CPU)")
                if (cost.status, cost.config_hash, cost.processes, cost.threads, on_gpu) == same:
                    seconds.append(START_SECONDS + cost.train_seconds)
                    held.append(processes // nodes * cost.peak_memory_bytes + START_BYTES * (processes > 1))
        return _measured(self.training(experiment, model, resolution), seconds, [] if self.gpu else held)

    def train_short(self, experiment: str, model: str, resolution: Resolution, candidate: str) -> Need:
        return self.training(experiment, model, resolution, candidate)

    def processes(self, experiment: str, model: str) -> int:
        return self.plan.experiment(experiment).processes_for(model)

    def nodes(self, experiment: str, model: str) -> int:
        return self.plan.experiment(experiment).nodes_for(model)

    def costs_of_seeds(self, experiment: str, model: str, resolution: Resolution) -> list[str]:
        seeds = self.plan.experiment(experiment).seeds
        folders = [self.plan.run_folder(experiment, model, resolution, seed) for seed in seeds]
        return [f"{folder}/cost.json" for folder in folders]

    def training(
        self, experiment: str, model: str, resolution: Resolution, candidate: str | None = None
    ) -> Need:
        """Predict a training; with `tuning`, the most expensive candidate. The memory is per node.

        After every epoch the model is tested on the validation and, if recorded, the test samples. All
        processes have all samples in memory.
        """
        e, m = self.plan.experiment(experiment), self.plan.configuration.models[model]
        processes, nodes = self.processes(experiment, model), self.nodes(experiment, model)
        dataset = self.plan.dataset_of(experiment).settings
        planned = self.plan.training(experiment, model, resolution, candidate)
        tried = e.tuning.candidates.values() if e.tuning and not candidate else []
        settings = [training_settings(e, model, m, resolution, tuned) for tuned in tried]
        operator = self.operator(experiment, model, resolution, resolution)
        work = operator.forward_flop / FLOP_PER_SECOND
        kept = 4 * KEPT_VALUES * operator.hidden_values + costs.SAMPLER_BYTES * operator.resampled_points
        seconds, sizes = [], []
        for run in [replace(planned, training=changed) for changed in settings] or [planned]:
            samples, batch_size = run.parameters["samples"], run.training.batch_size
            part, tested = (
                math.ceil(count / processes)
                for count in (batch_size, sum(samples.values()) - samples["train"])
            )
            steps = samples["train"] // batch_size
            step = part * (costs.BACKWARD * work + VALUE_SECONDS * operator.hidden_values)
            if self.gpu:
                epoch = steps * costs.GPU_STEP_SECONDS + (steps * step + tested * work) / costs.GPU_SPEED
            else:
                epoch = steps * (costs.STEP_SECONDS + step) + tested * work
            gradients = dataset.dimension if run.training.gradient_weight else 0
            values = (dataset.in_channels + dataset.out_channels + gradients) * operator.points
            data = min(costs.SAMPLE_BYTES * values * sum(samples.values()), self.most_sample_bytes)
            held = STATE_BYTES * operator.weights + data + (GPU_BYTES if self.gpu else part * kept)
            seconds.append(START_SECONDS + run.training.epochs * epoch)
            sizes.append(processes // nodes * (START_BYTES + held) + START_BYTES * (processes > 1))
        return Need(max(seconds), max(sizes), disk=4 * operator.weights)

    @property
    def most_sample_bytes(self) -> float:
        """Return the limit on samples in memory; samples beyond it are streamed."""
        limit = self.plan.configuration.samples_gb
        return math.inf if limit is None else 1e9 * limit

    def evaluate(self, experiment: str, model: str, resolution: Resolution) -> Need:
        return self.evaluation(experiment, model, resolution, gpu=self.gpu)

    def evaluation(self, experiment: str, model: str, resolution: Resolution, gpu: bool) -> Need:
        """Predict an evaluation: outputs for the test samples, their errors and spectra."""
        dataset, samples = self.plan.test_dataset_of(experiment).settings, self._tested(experiment)
        tested = self.plan.description(experiment, model, resolution, seed=0)["test_resolutions"]
        operators = [self.operator(experiment, model, resolution, points) for points in tested]
        channels = dataset.in_channels + dataset.out_channels
        flop = sum(operator.forward_flop for operator in operators)
        values = sum(operator.points for operator in operators) * channels
        largest = max(operator.points for operator in operators) * channels
        batch = 4 * KEPT_VALUES * 2**16 * operators[0].width  # resolvent.evaluation.conditions.BATCH_VALUES
        outputs = flop / FLOP_PER_SECOND / (costs.GPU_SPEED if gpu else 1)
        seconds = samples * (outputs + 10 * VALUE_SECONDS * values)
        held = min(costs.EVALUATED_BYTES * largest * samples, self.most_sample_bytes)
        held += STATE_BYTES * operators[0].weights + (GPU_BYTES if gpu else batch)
        return Need(START_SECONDS + seconds, START_BYTES + held)

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
        """Return the number of test samples, counted at every level and realisation of noise."""
        e = self.plan.experiment(experiment)
        draws = sum(e.noise_realisations if level else 1 for level in e.tested_noise)
        return draws * self.plan.sample_counts(experiment)["test"]

    def rollout(self, experiment: str, model: str, resolution: Resolution) -> Need:
        once = self.evaluate(experiment, model, resolution)
        frames = getattr(self.plan.test_dataset_of(experiment).settings, "frames", 1)
        return Need(START_SECONDS + frames * (once.seconds - START_SECONDS), once.bytes * (1 + frames / 4))

    def latent_basis(self, experiment: str, model: str, resolution: Resolution) -> Need:
        """Predict the latent functions of test samples, and eigenfunctions by finite elements, on the CPU."""
        once = self.evaluation(experiment, model, resolution, gpu=False)
        return Need(once.seconds + START_SECONDS, once.bytes + 300e6)

    def baselines(self, experiment: str) -> Need:
        dataset = self.plan.dataset_of(experiment).settings
        samples, counts = self._tested(experiment), self.plan.sample_counts(experiment)
        seconds = samples * dataset.seconds_per_sample()  # most are solved on coarser grids than the data
        values = (dataset.in_channels + dataset.out_channels) * dataset.largest_array  # of a sample
        held = costs.EVALUATED_BYTES * values * (samples + counts["train"])
        return Need(2 * START_SECONDS + seconds, START_BYTES + held)

    def inference(self, experiment: str) -> Need:
        """Predict timing every operator and solver, and solving a batch of training samples."""
        runs = self._evaluations(experiment)
        seconds = self._solving(experiment, 32) + sum(1 + need.seconds - START_SECONDS for need in runs)
        return Need(2 * START_SECONDS + seconds, START_BYTES + max(need.bytes for need in runs))

    def estimates(self, experiment: str) -> Need:
        """Predict evaluating every run under every symmetry, with and without shifts, and solving shifts."""
        e, runs = self.plan.experiment(experiment), self._evaluations(experiment)
        shifts, samples = len(e.stress.shifts), e.stress.samples
        images = 1 + len(self.plan.dataset_of(experiment).settings.symmetries())
        share = min(1.0, samples / self._tested(experiment))
        once = len(e.seeds) * sum(1 + share * (need.seconds - START_SECONDS) for need in runs)
        seconds = shifts * self._solving(experiment, samples) + (1 + shifts) * images * once
        return Need(2 * START_SECONDS + seconds, START_BYTES + max(need.bytes for need in runs))

    def _evaluations(self, experiment: str) -> list[Need]:
        e = self.plan.experiment(experiment)
        return [self.evaluate(experiment, *run) for run in product(e.models, e.resolutions)]

    def _solving(self, experiment: str, samples: int) -> float:
        """Return the seconds to solve so many samples for each training resolution."""
        dataset = self.plan.dataset_of(experiment).settings
        return samples * len(self.plan.experiment(experiment).resolutions) * dataset.seconds_per_sample()

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


def placement(needs: Needs) -> dict[str, Callable]:
    """Return the resources that place a training on SLURM nodes, as functions of the job's wildcards.

    For several nodes, `mpi` makes the executor plugin let the script on the first node start the processes
    on the others. Each node has one task, and its share of CPUs and GPUs. None requests nothing.
    """

    def tasks(experiment: str, model: str) -> int | None:
        nodes = needs.nodes(experiment, model)
        return nodes if nodes > 1 else None

    def cpus(wildcards, threads: int) -> int | None:
        nodes = tasks(wildcards.experiment, wildcards.model)
        return threads // nodes if nodes else None

    def mpi(experiment: str, model: str) -> str | None:
        return "srun" if tasks(experiment, model) else None

    def options(experiment: str, model: str) -> str | None:
        if not (nodes := tasks(experiment, model)):
            return None
        gpus = f" --gpus-per-node={needs.processes(experiment, model) // nodes}" if needs.gpu else ""
        return f"--ntasks-per-node=1{gpus}"

    by_wildcards = {"nodes": needs.nodes, "tasks": tasks, "mpi": mpi, "slurm_extra": options}
    return {name: of_wildcards(value) for name, value in by_wildcards.items()} | {"cpus_per_task": cpus}


def _measured(predicted: Need, seconds: list[float], held: list[float]) -> Need:
    """Replace predictions by the largest measurements, if these are positive and finite."""
    changes: dict[str, float] = {}
    if 0 < max(seconds, default=0) < math.inf:
        changes |= {"seconds": max(seconds), "time_factor": MEASURED_TIME_FACTOR}
    if 0 < max(held, default=0) < math.inf:
        changes |= {"bytes": max(held), "memory_factor": MEASURED_MEMORY_FACTOR}
    return replace(predicted, **changes)
