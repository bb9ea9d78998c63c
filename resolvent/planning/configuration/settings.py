"""Settings classes of config.yaml: the whole file, models and experiments.

Settings of datasets, architectures, training and measurements are defined in their own packages.
"""

from __future__ import annotations

import os
import typing
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator, create_model, model_validator

from resolvent.common.outside import Location
from resolvent.common.settings import Seed, Settings
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.storage.addresses import check_installed, checked_address, is_address
from resolvent.datasets.tasks.registry import AnyDataset
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.measurements.settings import ArchitectureCostSettings, CostSettings
from resolvent.models.registry import is_architecture, resolve, settings_class
from resolvent.models.settings import Settings as ArchitectureSettings
from resolvent.planning.gpus import SLOTS
from resolvent.training.settings import TrainingSettings


def _resolution(value: Any) -> int | str:
    if isinstance(value, str) and value.isdecimal() and value.isascii():
        return int(value)
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise ValueError(f"points along each axis, or the name of a set of times, got {value!r}")


def _words(value: str) -> str:
    if not value.strip():
        raise ValueError("empty, but shown in figures and tables; write a text")
    if "$" in value:
        raise ValueError(f"{value!r}: '$' starts mathematics in figures; write the symbol itself, such as ν")
    return value


def _folder(value: str) -> str:
    there = next(filter(os.path.lexists, (Path(value), *Path(value).parents)), None)
    outside = not os.path.isabs(value) and os.path.normpath(value).split("/")[0] == ".."
    for wrong, message in (
        (is_address(value), "an address; accepted: a folder"),
        (value[:1] == "~" or "$" in value, f"{value!r}: '~' and '$' are not expanded; write the whole path"),
        (set(value) & set("{}*?"), f"{value!r}: '{{', '}}', '*' and '?' are Snakemake patterns; remove them"),
        (not value.strip(), "empty; '.' is the working folder"),
        (outside, f"{value!r} is outside the working folder; to use it, write the absolute path"),
        (
            there is not None and not there.is_dir(),
            f"{str(there)!r} is a file or a broken link; accepted: a folder, existing or new",
        ),
    ):
        if wrong:
            raise ValueError(message)
    return value


def _data_root(value: str) -> str:
    if not is_address(value):
        return _folder(value)
    address = checked_address(value)
    try:
        check_installed(address)
    except DatasetError as error:
        raise ValueError(str(error)) from None
    return address


def each_once(values: list) -> list:
    """Return `values`. Raises `ValueError` if an entry is repeated."""
    if repeated := [entry for entry in values if values.count(entry) > 1]:
        raise ValueError(f"{repeated[0]} is named {len(repeated)} times")
    return values


def _shifted(values: list) -> list:
    if 1 in values:
        raise ValueError("1 is the training distribution, which is always tested; remove it")
    return values


def _in_labels(values: list) -> list:
    for entry in values:
        _words(str(entry))
    return values


# Name of a dataset, model, experiment or configuration.
Name = Annotated[str, Field(pattern="^[a-z0-9_]{1,64}$")]
# Text in figures and tables.
Words = Annotated[str, AfterValidator(_words)]
# Points along each axis of a grid, or name of a set of times.
Resolution = Annotated[int | str, PlainValidator(_resolution)]
# Folder for files: a path below the working folder, or an absolute path.
Folder = Annotated[str, AfterValidator(_folder)]
# Folder for stores: as above, or an address in an object store.
DataRoot = Annotated[str, AfterValidator(_data_root)]
# Lists of an experiment: sizes, values that become part of labels, and factors of a parameter.
Sizes = Annotated[list[Annotated[int, Field(ge=1)]], AfterValidator(each_once)]
Values = Annotated[list[Any], Field(min_length=1), AfterValidator(each_once), AfterValidator(_in_labels)]
Factors = Annotated[
    list[Annotated[float, Field(gt=0)]],
    Field(min_length=1),
    AfterValidator(each_once),
    AfterValidator(_shifted),
]

# The key `tuning` of an experiment lists values of training settings; every model tries all combinations.
# Not tunable: the length of a run, its samples, what is recorded, a seed.
NOT_TUNED = ("epochs", "train_samples", "record_test_error", "loader_seed", "fresh_samples")
TUNABLE = [name for name in TrainingSettings.model_fields if name not in NOT_TUNED]


class _Tuning(Settings):
    epochs: int = Field(
        ge=1, description="passes over the training samples in a short run; its schedule is as long"
    )

    @model_validator(mode="after")
    def _lists_fit(self) -> _Tuning:
        if not self.lists:
            raise ValueError(f"no setting to choose; accepted: a list of values of {', '.join(TUNABLE)}")
        return self

    @property
    def lists(self) -> dict[str, list[Any]]:
        return {name: values for name in TUNABLE if (values := getattr(self, name)) is not None}

    @property
    def candidates(self) -> dict[str, dict[str, Any]]:
        """Return every combination of values, by the name of its folder; the last setting changes fastest."""
        candidates = {}
        for values in product(*self.lists.values()):
            chosen = dict(zip(self.lists, values, strict=True))
            candidates["-".join(f"{name}_{value}" for name, value in chosen.items())] = chosen
        return candidates

    def short_run(self, candidate: str) -> dict[str, Any]:
        """Return the training settings that the short run of a candidate changes; it uses no test samples."""
        return {**self.candidates[candidate], "epochs": self.epochs, "record_test_error": False}


def _values_of(name: str) -> tuple[Any, Any]:
    setting = TrainingSettings.model_fields[name]
    value = Annotated[(setting.annotation, Field(), *setting.metadata)]  # type: ignore[name-defined]
    values = Annotated[list[value], Field(min_length=2), AfterValidator(each_once)]
    return values | None, Field(None, description=f"two or more values of `training.{name}` to try")


Tuning = create_model(  # type: ignore[call-overload]
    "Tuning",
    __base__=_Tuning,
    __doc__="Training settings to choose on validation samples, with equal effort for every model.",
    **{name: _values_of(name) for name in TUNABLE},
)


class Model(Settings):
    """A row of the tables: an architecture with its settings and its own training settings."""

    label: Words = Field(description="name in tables and figures")
    architecture: str = Field(
        description="one of resolvent.models.registry.ARCHITECTURES, or module:SettingsClass (see models.md)"
    )
    recipe: typing.Literal["paper", "code"] | None = Field(
        None,
        description="base settings from `recipes`: as described in the architecture's paper, or as in the "
        "paper's public code; none: the architecture's defaults",
    )
    settings: dict[str, Any] = Field({}, description="settings of the architecture")
    settings_at: dict[Resolution, dict[str, Any]] = Field(
        {}, description="settings that differ at a training resolution, such as downsampling_factor"
    )
    grids: typing.Literal["stored", "fine", "coarse"] = Field(
        "stored",
        description="grids of input and target in an inverse problem: as stored (fine to coarse), or the "
        "same grid for both; on the coarse grid the input is the data measured at its nodes",
    )
    training: dict[str, Any] = Field({}, description="training settings that differ for this model")


class RecipePart(Settings):
    """Base settings of models, for architecture and training; a model's own keys win."""

    settings: dict[str, Any] = Field({}, description="settings of the architecture")
    settings_at: dict[Resolution, dict[str, Any]] = Field(
        {}, description="settings that differ at a training resolution"
    )
    training: dict[str, Any] = Field({}, description="training settings")


class Recipe(RecipePart):
    """Settings of an architecture in its paper or in the paper's public code."""

    by: dict[str, dict[str, RecipePart]] = Field(
        {},
        description="further settings, by setting of the model and its value: "
        "`attention: {fourier: {settings: {...}}}`",
    )


class Build(Settings):
    """Datasets and experiments to build; everything, if neither list is given."""

    datasets: list[str] | None = Field(
        None, description="keys of `datasets`, built in addition to the datasets of the experiments"
    )
    experiments: list[str] | None = Field(
        None, description="keys of `experiments`; none, if only `datasets` are listed"
    )


class SampleCounts(Settings):
    """Number of samples of each split that an experiment uses, from the first."""

    train: int | None = Field(None, ge=1, description="default: all")
    validation: int | None = Field(None, ge=1, description="default: all")
    test: int | None = Field(None, ge=1, description="default: all")


class Stress(Settings):
    """Shifted distributions on which trained models are tested: parameters, each with factors.

    Without factors, errors are estimated without labels on the training distribution only.
    """

    samples: int = Field(
        64, ge=2, description="number of test samples in estimates.csv: the first ones, solved for each shift"
    )
    amplitude: Factors = Field([], description="of the initial field")
    length_scale: Factors = Field([], description="of the random field, at the same variance")
    viscosity: Factors = Field([], description="of the equation")
    contrast: Factors = Field([], description="of the values of a coefficient, or of its logarithm")
    horizon: Factors = Field([], description="of the time from input to target")

    @property
    def shifts(self) -> list[tuple[str, float]]:
        given = self.model_dump(exclude={"samples"})
        return [(name, factor) for name, factors in given.items() for factor in factors]


class Scaling(Settings):
    """Sizes at which every model of an experiment is trained: each number of samples with each width."""

    samples: Annotated[Sizes, Field(min_length=2)] = Field(
        description="training samples, the first of the experiment's"
    )
    width: Sizes = Field([], description="values of the setting `width`; default: each model's own")


class Sweep(Settings):
    """Values that a model of an experiment is trained with: each combination is a model of the tables."""

    settings: dict[str, Values] = Field({}, description="lists of values of settings of the architecture")
    training: dict[str, Values] = Field({}, description="lists of values of training settings")


class Experiment(Settings):
    """Models trained on one dataset and compared at every stored resolution."""

    title: Words = Field(description="heading in the report")
    dataset: str = Field(description="a key of `datasets`")
    models: Annotated[list[str], Field(min_length=1)] = Field(description="keys of `models`, in table order")
    resolutions: Annotated[list[Resolution], Field(min_length=1)] = Field(
        description="training resolutions: points along each axis, or names of sets of times"
    )
    test_resolutions: Annotated[list[Resolution], Field(min_length=1)] | None = Field(
        None,
        description="test resolutions, with or without the training resolutions; default: all stored "
        "resolutions. The pages state a model's errors on the training grid or, if it is not tested, on the "
        "nearest test grid",
    )
    test_dataset: str | None = Field(
        None,
        description="a key of `datasets` with the test samples on more grids; default: `dataset`. With the "
        "same distribution and seed its test samples are the same functions",
    )
    noise: float = Field(
        0.0,
        ge=0,
        description="ε of the noise on the inputs in training, in units of the training inputs' pointwise "
        "standard deviation: one draw a sample, the same in every epoch; for equation darcy_inverse",
    )
    test_noise: Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=1)] | None = Field(
        None, description="test levels ε of noise, which include the training level; default: only that level"
    )
    noise_realisations: int = Field(
        1, ge=1, description="noise realisations of each test sample, at each level above 0"
    )
    seeds: Annotated[list[Seed], Field(min_length=1)] = Field([1127802], description="one run per seed")
    samples: SampleCounts = Field(SampleCounts(), description="default: every sample of the dataset")
    training: TrainingSettings = Field(TrainingSettings(), description="for every model of the experiment")
    training_at: dict[Resolution, dict[str, Any]] = Field(
        {}, description="training settings that differ at a resolution, such as a smaller batch_size"
    )
    training_of: dict[str, dict[str, Any]] = Field(
        {}, description="training settings that differ for a model in this experiment"
    )
    tuning: Tuning | None = Field(
        None,
        description="short runs try all combinations of these training settings, and "
        "the validation error selects one for every model: `{learning_rate: [5.0e-4, 1.0e-3], epochs: 10}`; "
        "none: recipes unchanged",
    )
    processes: int = Field(
        1,
        ge=1,
        description="processes that share each training, each on its own GPU if there are GPUs; the results "
        "are the same up to rounding and dropout, and nothing runs again. See gpus.md",
    )
    processes_of: dict[str, Annotated[int, Field(ge=1)]] = Field(
        {}, description="the same, where it differs for a model: `{large: 4}`"
    )
    nodes: int = Field(
        1,
        ge=1,
        description="nodes of a SLURM cluster among which the processes of each training are divided evenly; "
        "without SLURM all processes run on this host. See cluster.md",
    )
    nodes_of: dict[str, Annotated[int, Field(ge=1)]] = Field(
        {}, description="the same, where it differs for a model: `{large: 2}`"
    )
    shown: str | None = Field(
        None,
        description="model whose predictions are drawn; default, or if not in `models`: the model of the "
        "best finished run. Figures of papers and films of rollouts are planned before any run and show the "
        "last model instead. If the run of this model diverged, the best finished run is drawn, and the "
        "caption says so",
    )
    shows: dict[str, list[str]] = Field(
        {}, description="tables and figures of papers that it reproduces: `cao2021: [table2a, figure9]`"
    )
    stress: Stress = Field(
        Stress(),
        description="out-of-distribution tests: shifted distributions, for which new labels are solved: "
        "`{viscosity: [0.5, 2], samples: 64}`",
    )
    scaling: Scaling | None = Field(
        None,
        description="train every model at each of these sizes, as a model `<model>_n64_w16`, and fit its "
        "error against samples and time: `{samples: [64, 128, 256], width: [16, 32]}`",
    )
    sweep: dict[str, Sweep] = Field(
        {},
        description="train a model with each combination of such values, as a model of its own: "
        "`{galerkin: {settings: {width: [64, 96]}, training: {learning_rate: [1.0e-3, 3.0e-3]}}}`. An "
        "experiment that is `like` this one does not inherit it",
    )
    metrics: list[Location] = Field(
        [],
        description="your own metrics, in addition to the standard ones: module:name (see "
        "tutorials/own-metric.md)",
    )
    baselines: list[Location] = Field(
        [], description="your own baselines, in addition to the baselines of the task: module:name"
    )
    figures: list[Location] = Field([], description="your own figures on the experiment's page: module:name")

    def processes_for(self, model: str) -> int:
        """Return the number of processes that share a training; it is not part of a run's hash."""
        return self.processes_of.get(model, self.processes)

    def nodes_for(self, model: str) -> int:
        return self.nodes_of.get(model, self.nodes)

    @property
    def names_shown(self) -> bool:
        return self.shown in self.models

    @property
    def shown_model(self) -> str:
        """Return the model for figures that are planned before any run."""
        return str(self.shown) if self.names_shown else self.models[-1]

    @property
    def rates_swept(self) -> bool:
        """Return whether a model is trained at several learning rates."""
        return any("learning_rate" in sweep.training for sweep in self.sweep.values())

    @property
    def own_figures(self) -> dict[str, str]:
        return {place.partition(":")[2]: place for place in self.figures}

    @property
    def tested_noise(self) -> list[float]:
        return self.test_noise or [self.noise]


class Configuration(Settings):
    """The whole configuration: the defaults, config.yaml and overlays."""

    name: Name = Field(
        description="results go to <results_root>/<name>. All names are folders: "
        "lower-case letters, digits and '_'"
    )
    data_root: DataRoot = Field(
        "data",
        description="folder of the stores, shared by all configurations: a path below the working folder, an "
        "absolute path, or an address in an object store, `s3://bucket/folder` (see datasets.md)",
    )
    results_root: Folder = Field(
        "results",
        description="folder of runs, tables and reports: a path below the working folder, or absolute",
    )
    about: str = Field("", description="what the study is, in the first lines of its front page")
    training_threads: int = Field(
        1, ge=1, description="CPU threads of a training process; changes the last digits"
    )
    stall_minutes: float = Field(
        120.0,
        ge=1,
        le=1e6,
        description="kill a job that reports no progress (a step, a batch of samples) for so many minutes, "
        "with the stacks of its threads in its log",
    )
    samples_gb: float | None = Field(
        None,
        gt=0,
        description="memory, in GB, for the samples of a training or evaluation job; samples beyond it are "
        "streamed from the store, with the same results. Default: half of the free memory",
    )
    gpu_jobs_per_device: int = Field(
        1, ge=1, le=SLOTS, description="concurrent jobs on a GPU: more than 1 for small models; see gpus.md"
    )
    build: Build = Field(Build(), description="what to build; default: everything")
    datasets: dict[Name, AnyDataset] = Field(description="datasets by name")
    recipes: dict[str, dict[typing.Literal["paper", "code"], Recipe]] = Field(
        {}, description="base settings of models, by architecture"
    )
    models: dict[Name, Model] = Field(description="models by name")
    experiments: dict[Name, Experiment] = Field(description="experiments by name")
    cost: CostSettings = Field(CostSettings(), description="sizes of the measured training step")
    architecture_costs: ArchitectureCostSettings = Field(
        ArchitectureCostSettings(), description="sizes at which parameters and operations are counted"
    )

    @property
    def number_of_trainings(self) -> int:
        """Return the number of trainings of the whole study, with the short runs of `tuning`."""
        number = 0
        for experiment in self.experiments.values():
            short_runs = len(experiment.tuning.candidates) if experiment.tuning else 0
            runs = len(experiment.models) * len(experiment.resolutions)
            number += runs * (len(experiment.seeds) + short_runs)
        return number


def model_settings(model: Model, resolution: Resolution, dataset: DatasetSettings) -> ArchitectureSettings:
    """Return the settings of the model's architecture at a resolution; `ValueError` if they are invalid."""
    own = {**model.settings, **model.settings_at.get(resolution, {})}
    return resolve(model.architecture, {**given_by_data(model.architecture, resolution, dataset), **own})


def given_by_data(architecture: str, resolution: Resolution, dataset: DatasetSettings) -> dict[str, Any]:
    if not is_architecture(architecture):
        return {}
    names = ("in_channels", "initial_channels", "out_channels")
    given = {name: getattr(dataset, name) for name in names} | {"points": resolution}
    if resolution in dataset.resolutions and len(set(sides := dataset.sides(resolution))) > 1:
        given["points"] = list(sides)
    accepted = settings_class(architecture).model_fields
    return {name: value for name, value in given.items() if name in accepted}


def samples_read(counts: Mapping[str, int], training: TrainingSettings) -> dict[str, int]:
    """Return the number of samples of each split that a training reads, out of its run's `counts`."""
    read = {split: counts[split] for split in ("train", "validation")}
    if training.record_test_error:  # for papers that select the epoch on test samples
        read["test"] = min(counts["test"], counts["validation"])
    return read


def training_settings(
    experiment: Experiment,
    key: str,
    model: Model,
    resolution: Resolution,
    tuned: Mapping[str, Any] = MappingProxyType({}),
) -> TrainingSettings:
    """Return the merged training settings of model `key` at a resolution of an experiment.

    Later entries win: the experiment's `training`, `training_at`, the model's `training` (its recipe filled
    in by `load.with_recipes`), the experiment's `training_of`, and the `tuned` settings.
    """
    return TrainingSettings.model_validate(
        {
            **experiment.training.model_dump(),
            **experiment.training_at.get(resolution, {}),
            **model.training,
            **experiment.training_of.get(key, {}),
            **tuned,
        }
    )
