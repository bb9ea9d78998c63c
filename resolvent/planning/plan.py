"""Derive, from a configuration, file names and the narrow block of settings that each rule depends on.

A rule receives only what its result depends on, so that editing model X never reruns model Y.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from resolvent.common.settings import settings_hash, without_defaults
from resolvent.datasets.storage.addresses import is_address, local_folder
from resolvent.datasets.storage.layout import group_name
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.models.cao2021.settings import CoarseEncoderSettings
from resolvent.models.registry import settings_class
from resolvent.models.settings import Settings as ArchitectureSettings
from resolvent.planning.configuration.load import with_contents
from resolvent.planning.configuration.settings import (
    Configuration,
    Experiment,
    Resolution,
    model_settings,
    samples_read,
    training_settings,
)
from resolvent.planning.edits import edited
from resolvent.planning.versions import (
    CHECKS,
    DATASETS,
    PARTS,
    USES,
    modules_of,
    of_architecture,
    of_class,
    versions_of,
)
from resolvent.training.settings import TrainingSettings

STEP_MEASURED = "transformer1d"  # architecture of the operator in resolvent.measurements.step_cost
RUN_FOLDER = "{experiment}/{model}/{group}/seed{seed}"
# For experiments with the key `tuning`: a short run, and the settings chosen for a model at a resolution.
SHORT_RUN_FOLDER = "{experiment}/{model}/{group}/tuning/{candidate}/seed{seed}"
TUNED_FILE = "{experiment}/{model}/{group}/tuned.json"


class DatasetPlan:
    """Paths of the files of one dataset, which share the prefix `base`.

    receipt    pattern of the files (`receipts`) written by finished generation jobs.
    motion     file with one sample at many times, for the film.
    parts      what computes the samples, and `checks` what checks them, times solvers and draws the film.
    versions   versions of `parts`, in the hash that names all files.
    address    address of the store in an object store; the file `store` then points there.
    """

    def __init__(self, name: str, settings: DatasetSettings, data_root: str):
        self.parts = tuple(of_class(type(settings), DATASETS))
        self.checks = tuple(of_class(type(settings), DATASETS, CHECKS))
        self.versions = versions_of(*self.parts)
        digest = settings_hash(settings.identity(self.versions))
        self.name, self.settings = name, settings
        self.base = base = local_folder(data_root) / name / digest
        self.address = f"{data_root}/{name}/{digest}.zarr" if is_address(data_root) else None
        self.card, self.store = f"{base}.json", f"{base}.zarr"
        self.preview, self.motion = f"{base}.preview.npz", f"{base}.motion.npz"
        self.receipt = f"{base}.shards/{{shard}}.json"
        self.receipts = [self.receipt.format(shard=shard) for shard in range(settings.num_shards)]


@dataclass(frozen=True)
class Training:
    """Everything that a training run depends on, except its data and seed; no labels, no other models.

    `counts` is the number of samples of each split, `noise_samples` the number of samples whose standard
    deviation is the unit of the noise for all models. The settings in `tuned` come from short runs.
    """

    architecture: str
    settings: ArchitectureSettings
    grids: str
    noise: float
    noise_samples: int
    training: TrainingSettings
    counts: Mapping[str, int]
    tuned: frozenset[str] = frozenset()

    @cached_property
    def parameters(self) -> dict:
        """Return the job's parameters, which also identify the run: plain values, without defaults."""
        return {
            "architecture": self.architecture,
            "settings": without_defaults(self.settings),
            "grids": self.grids,
            "noise": self.noise,
            "noise_samples": self.noise_samples,
            "training": without_defaults(self.training, self.tuned),
            "samples": samples_read(self.counts, self.training),
        }

    @cached_property
    def config_hash(self) -> str:
        return settings_hash(self.parameters)


class Plan:
    """Paths and parameters of every file that the configuration asks for. Raises as `with_contents`."""

    def __init__(self, configuration: Configuration):
        self.configuration = configuration = with_contents(configuration)
        self.results = Path(configuration.results_root) / configuration.name
        # The versions of all edited parts at once, which takes one process.
        self.rules_of_parts = rules_of_parts(configuration)
        edited({part: modules_of(part) for part in self.rules_of_parts})
        self.datasets = {
            name: DatasetPlan(name, settings, configuration.data_root)
            for name, settings in configuration.datasets.items()
        }
        # Rules call these for every seed, parameter and resource: cache the results per instance.
        for method in (
            self.run_folders, self.shown_candidates, self.sample_counts, self.training, self.parts_of,
            self.training_versions, self._described,
        ):  # fmt: skip
            setattr(self, method.__name__, cache(method))

    def experiment(self, name: str) -> Experiment:
        return self.configuration.experiments[name]

    def dataset_of(self, experiment: str) -> DatasetPlan:
        return self.datasets[self.experiment(experiment).dataset]

    def test_dataset_of(self, experiment: str) -> DatasetPlan:
        e = self.experiment(experiment)
        return self.datasets[e.test_dataset or e.dataset]

    def used_by(self, dataset: str) -> list[dict]:
        return [
            {"name": name, "title": e.title, "models": len(e.models), "tested_only": e.dataset != dataset}
            for name, e in self.configuration.experiments.items()
            if dataset in (e.dataset, e.test_dataset)
        ]

    def run_folder(self, experiment: str, model: str, resolution: Resolution, seed: int) -> str:
        return str(self.results / RUN_FOLDER.format(**self._names(experiment, model, resolution), seed=seed))

    def _names(self, experiment: str, model: str, resolution: Resolution) -> dict[str, str]:
        return {"experiment": experiment, "model": model, "group": group_name(resolution)}

    def run_folders(self, experiment: str) -> list[str]:
        e = self.experiment(experiment)
        runs = itertools.product(e.models, e.resolutions, e.seeds)
        return [self.run_folder(experiment, *run) for run in runs]

    def tested(self, experiment: str) -> list[Resolution]:
        """Return the test resolutions; for an inverse problem, the training resolutions."""
        e, dataset = self.experiment(experiment), self.test_dataset_of(experiment).settings
        return e.test_resolutions or list(e.resolutions if dataset.inverse else dataset.resolutions)

    def baseline_resolutions(self, experiment: str) -> list[Resolution]:
        """Return the test resolutions with training samples, for which baselines are computed."""
        stored = self.dataset_of(experiment).settings.resolutions
        return [resolution for resolution in self.tested(experiment) if resolution in stored]

    def finest(self, experiment: str) -> Resolution:
        """Return the finest training resolution, or the first set of times."""
        e, stored = self.experiment(experiment), self.dataset_of(experiment).settings.resolutions
        return max(e.resolutions) if isinstance(stored[0], int) else e.resolutions[0]

    def shown_candidates(self, experiment: str, latent_basis: bool = False) -> list[str]:
        """Return the folders of the runs from which figures choose one (`figures.common.shown`).

        The first is the run of the shown model on the finest training grid (`Experiment.names_shown`). With
        `latent_basis`, the others are restricted to models that have a latent basis.
        """
        e = self.experiment(experiment)
        models = e.models
        if latent_basis:
            kinds = {model: settings_class(self.configuration.models[model].architecture) for model in models}
            models = [model for model, kind in kinds.items() if issubclass(kind, CoarseEncoderSettings)]
        resolutions = [self.finest(experiment), *e.resolutions]
        runs = itertools.product([e.shown_model, *models], resolutions, e.seeds)
        return list(dict.fromkeys(self.run_folder(experiment, *run) for run in runs))

    def rolled_out(self, experiment: str) -> str | None:
        """Return the folder of the run whose film is shown; None without later test frames on its grid."""
        tested, resolution = self.test_dataset_of(experiment).settings, self.finest(experiment)
        if getattr(tested, "frames", 1) == 1 or resolution not in self.tested(experiment):
            return None
        return self.shown_candidates(experiment)[0]

    def sample_counts(self, experiment: str) -> dict[str, int]:
        e = self.experiment(experiment)
        available = dict.fromkeys(("train", "validation"), self.dataset_of(experiment))
        available["test"] = self.test_dataset_of(experiment)
        return {
            split: getattr(e.samples, split) or getattr(dataset.settings.samples, split)
            for split, dataset in available.items()
        }

    def training(
        self, experiment: str, model: str, resolution: Resolution, candidate: str | None = None
    ) -> Training:
        e, m = self.experiment(experiment), self.configuration.models[model]
        tried = e.tuning.short_run(candidate) if e.tuning and candidate else {}
        training = training_settings(e, model, m, resolution, tried)
        counts = self.sample_counts(experiment)
        train = min(counts["train"], training.train_samples or counts["train"])
        return Training(
            architecture=m.architecture,
            settings=model_settings(m, resolution, self.dataset_of(experiment).settings),
            grids=m.grids,
            noise=e.noise,
            noise_samples=counts["train"],
            training=training,
            counts={**counts, "train": train},
            tuned=frozenset(e.tuning.lists if e.tuning and not candidate else ()),
        )

    def short_runs(self, experiment: str, model: str, resolution: Resolution) -> dict[str, dict]:
        """Return settings and hash of each short run of a model by folder; all have the first seed."""
        e, names = self.experiment(experiment), self._names(experiment, model, resolution)
        return {
            str(self.results / SHORT_RUN_FOLDER.format(**names, candidate=name, seed=e.seeds[0])): {
                "settings": settings,
                "config_hash": self.training(experiment, model, resolution, name).config_hash,
            }
            for name, settings in (e.tuning.candidates if e.tuning else {}).items()
        }

    def tuned(self, experiment: str, model: str, resolution: Resolution) -> str | None:
        file = self.results / TUNED_FILE.format(**self._names(experiment, model, resolution))
        return str(file) if self.experiment(experiment).tuning else None

    def parts_of(self, model: str) -> tuple[str, ...]:
        return of_architecture(self.configuration.models[model].architecture)

    def parts_measured(self, experiment: str) -> list[str]:
        """Return the parts of all models of an experiment, and of the cheap solvers of its equation."""
        models = self.experiment(experiment).models
        architectures = {part for model in models for part in self.parts_of(model)}
        return [*self.test_dataset_of(experiment).checks, *sorted(architectures)]

    def training_versions(self, experiment: str, model: str, resolution: Resolution) -> dict:
        """Return the versions of what trains a model, with those of a user's own losses."""
        tuning = self.experiment(experiment).tuning
        candidates = tuning.candidates if tuning else [None]
        losses = {self.training(experiment, model, resolution, name).training.loss for name in candidates}
        own = sorted(loss for loss in losses if ":" in loss)
        return versions_of(*USES["train"], *self.parts_of(model), *own)

    def compared(self, experiment: str, model: str, resolution: Resolution, seed: int) -> dict:
        """Return the settings on which the evaluation of a run depends, without defaults."""
        e, m = self.experiment(experiment), self.configuration.models[model]
        return {
            "run": self.training(experiment, model, resolution).parameters,
            "counts": self.sample_counts(experiment),
            "label": m.label,
            "recipe": m.recipe,
            "test_resolutions": self.tested(experiment),
            "test_noise": e.tested_noise,
            "noise_realisations": e.noise_realisations,
            "metrics": e.metrics,
            "dataset": e.dataset,
            "seed": seed,
        }

    def description(self, experiment: str, model: str, resolution: Resolution, seed: int) -> dict:
        """Return the facts about a run that tables and captions state."""
        return {**self._described(experiment, model, resolution), "seed": seed}

    def _described(self, experiment: str, model: str, resolution: Resolution) -> dict:
        e, m = self.experiment(experiment), self.configuration.models[model]
        dataset = self.dataset_of(experiment)
        run = self.training(experiment, model, resolution)
        architecture = model_settings(m, resolution, dataset.settings)
        on_training_grid = dataset.settings.inverse or architecture.one_grid
        coarse = None  # points a side of the grid of attention, or of an inverse problem's targets
        if dataset.settings.inverse:
            coarse = dataset.settings.coarse_of(resolution)  # type: ignore[attr-defined]
        elif isinstance(resolution, int):
            coarse = architecture.coarse_points(resolution)
        return {
            "experiment": experiment,
            "model": model,
            "label": m.label,
            "architecture": m.architecture,
            "recipe": m.recipe,
            "settings": run.settings.model_dump(mode="json"),
            "look": list(architecture.look) if architecture.look else None,
            "cut_off": architecture.cut_off(),
            "grids": run.grids,
            "coarse_points": coarse,
            "resolution": resolution,
            "test_resolutions": [resolution] if on_training_grid else self.tested(experiment),
            "test_noise": e.tested_noise,
            "noise_realisations": e.noise_realisations,
            "seed": None,
            "dataset": e.dataset,
            "dataset_settings": dataset.settings.model_dump(mode="json"),
            "training": {
                **run.training.model_dump(mode="json", exclude=set(run.tuned)),
                "noise": run.noise,
                "noise_samples": run.noise_samples,
                **{f"{split}_samples": count for split, count in run.counts.items()},
            },
            "config_hash": run.config_hash,
            "code_versions": self.training_versions(experiment, model, resolution),
            # The job adds the chosen settings to it and to the description.
            **({"run": run.parameters} if e.tuning else {}),
        }


def rules_of_parts(configuration: Configuration) -> dict[str, list[str]]:
    """Return the parts that a study computes with, each with the rules that make its results again."""
    rules: dict[str, list[str]] = {}
    for name, settings in configuration.datasets.items():
        for part in of_class(type(settings), DATASETS):
            rules.setdefault(part, []).append(f"solve_{name}")
            rules.setdefault(part + CHECKS, []).append(f"finalise_{name}")
    experiments = [*configuration.experiments.values()]
    models = {model for experiment in experiments for model in experiment.models}
    trained = {part for model in models for part in of_architecture(configuration.models[model].architecture)}
    for part in (*rules, *sorted(trained)):
        rules.setdefault(part, []).append("train")
    for job, parts in USES.items():
        for part in parts:
            rules.setdefault(part, []).append(job)
    return {part: names for part, names in rules.items() if part in PARTS}
