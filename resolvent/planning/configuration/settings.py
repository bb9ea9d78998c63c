"""The settings classes of config.yaml as a whole; the parts live with the rooms that use them."""

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
from resolvent.measurements.settings import ArchitectureCostSettings, CostSettings, TheorySettings
from resolvent.models.registry import is_architecture, resolve, settings_class
from resolvent.models.settings import Settings as ArchitectureSettings
from resolvent.training.settings import TrainingSettings


def _resolution(value: Any) -> int | str:
    if isinstance(value, str) and value.isdecimal() and value.isascii():
        return int(value)
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise ValueError(f"points along each axis, or the name of a set of times, got {value!r}")


def _words(value: str) -> str:
    if not value.strip():
        raise ValueError("empty, and it is what figures and tables say")
    if "$" in value:
        raise ValueError(f"{value!r}: '$' starts mathematics in figures; write the symbol itself, such as ν")
    return value


def _folder(value: str) -> str:
    if is_address(value):
        raise ValueError("an address; accepted: a folder")
    if value.startswith("~") or "$" in value:
        raise ValueError(f"{value!r}: '~' and '$' stand for nothing here; write the whole path")
    if set(value) & set("{}*?"):
        raise ValueError(
            f"{value!r}: '{{', '}}', '*' and '?' are patterns to Snakemake; choose another folder"
        )
    if not value.strip():
        raise ValueError("empty; '.' is the working folder")
    if not os.path.isabs(value) and os.path.normpath(value).split("/")[0] == "..":
        raise ValueError(f"{value!r} leaves the working folder; if that is meant, write the absolute path")
    there = next((one for one in (Path(value), *Path(value).parents) if os.path.lexists(one)), None)
    if there is not None and not there.is_dir():
        raise ValueError(f"{str(there)!r} is a file, or a link to nothing; accepted: a folder, there or not")
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


def _each_once(values: list) -> list:
    if repeated := [one for one in values if values.count(one) > 1]:
        raise ValueError(f"{repeated[0]} is named {len(repeated)} times")
    return values


def _in_labels(values: list) -> list:
    for one in values:
        _words(str(one))
    return values


# What datasets, models, experiments and configurations are called.
Name = Annotated[str, Field(pattern="^[a-z0-9_]{1,64}$")]
# Of people, in figures and tables.
Words = Annotated[str, AfterValidator(_words)]
# Points along each axis of a grid, or the name of a set of times.
Resolution = Annotated[int | str, PlainValidator(_resolution)]
# Where files are written: below the working folder, or an absolute path.
Folder = Annotated[str, AfterValidator(_folder)]
# Where stores are written: a folder, or a folder of a bucket.
DataRoot = Annotated[str, AfterValidator(_data_root)]

# The key `tuning` of an experiment has values of training settings, whose combinations every model tries; not
# of these: the length of a run, its samples, what is recorded, a seed.
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
        combinations = (
            dict(zip(self.lists, values, strict=True)) for values in product(*self.lists.values())
        )
        return {"-".join(f"{name}_{value}" for name, value in one.items()): one for one in combinations}

    def short_run(self, candidate: str) -> dict[str, Any]:
        """Return the training settings that differ in the short run of a candidate.

        It never sees a test sample.
        """
        return {**self.candidates[candidate], "epochs": self.epochs, "record_test_error": False}


def _values_of(name: str) -> tuple[Any, Any]:
    setting = TrainingSettings.model_fields[name]
    value = Annotated[(setting.annotation, Field(), *setting.metadata)]  # type: ignore[name-defined]
    values = Annotated[list[value], Field(min_length=2), AfterValidator(_each_once)]
    return values | None, Field(None, description=f"two or more values of `training.{name}` to try")


Tuning = create_model(  # type: ignore[call-overload]
    "Tuning",
    __base__=_Tuning,
    __doc__="Training settings to choose on validation samples, with equal effort for every model.",
    **{name: _values_of(name) for name in TUNABLE},
)


class Model(Settings):
    """A row of the tables: an architecture with its settings and what it needs of its own in training."""

    label: Words = Field(description="name in tables and figures")
    architecture: str = Field(
        description="one of resolvent.models.registry.ARCHITECTURES, or module:SettingsClass (see models.md)"
    )
    recipe: typing.Literal["paper", "code"] | None = Field(
        None,
        description="what the model starts from: what its paper says, or what the paper's public code does, "
        "as `recipes` has them for its architecture; none: the architecture's defaults",
    )
    settings: dict[str, Any] = Field({}, description="settings of the architecture")
    settings_at: dict[Resolution, dict[str, Any]] = Field(
        {},
        description="settings that differ at a training resolution, such as downsampling_factor",
    )
    grids: typing.Literal["stored", "fine", "coarse"] = Field(
        "stored",
        description="of input and target in an inverse problem: as stored, fine to coarse, or one for both; "
        "on the coarse one the input is what was measured at its nodes",
    )
    training: dict[str, Any] = Field({}, description="training settings that differ for this model")


class RecipePart(Settings):
    """Settings and training that a model starts from; its own keys go before."""

    settings: dict[str, Any] = Field({}, description="settings of the architecture")
    settings_at: dict[Resolution, dict[str, Any]] = Field(
        {}, description="settings that differ at a training resolution"
    )
    training: dict[str, Any] = Field({}, description="training settings of such a model")


class Recipe(RecipePart):
    """What a paper or its public code does with an architecture."""

    by: dict[str, dict[str, RecipePart]] = Field(
        {},
        description="what the value of a setting of the model brings further: "
        "`attention: {fourier: {settings: {...}}}`",
    )


class Build(Settings):
    """What to build; where neither list is given, everything."""

    datasets: list[str] | None = Field(
        None, description="keys of `datasets`, built beside those that the experiments need"
    )
    experiments: list[str] | None = Field(
        None, description="keys of `experiments`; none, if only `datasets` are listed"
    )


class SampleCounts(Settings):
    """How many samples of each split an experiment uses: the first ones."""

    train: int | None = Field(None, ge=1, description="default: all")
    validation: int | None = Field(None, ge=1, description="default: all")
    test: int | None = Field(None, ge=1, description="default: all")


Sizes = Annotated[list[Annotated[int, Field(ge=1)]], AfterValidator(_each_once)]
Values = Annotated[list[Any], Field(min_length=1), AfterValidator(_each_once), AfterValidator(_in_labels)]
Factors = Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=1)]


class Stress(Settings):
    """Shifted distributions on which trained models are tested: what is changed, by which factors.

    Without any, models are tested beside what is known of their errors without labels, as they were trained.
    """

    samples: int = Field(
        64, ge=2, description="test samples that estimates.csv has: the first ones, solved for each shift"
    )
    amplitude: Factors = Field([], description="of the initial field")
    length_scale: Factors = Field([], description="of the random field, at the same variance")
    viscosity: Factors = Field([], description="of the equation")
    contrast: Factors = Field([], description="of a coefficient: of its values, or of its logarithm")
    horizon: Factors = Field([], description="of the time from input to target")

    @property
    def shifts(self) -> list[tuple[str, float]]:
        """Return every shift with its factors, in the order of the settings."""
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
    test_resolutions: list[Resolution] | None = Field(
        None, description="resolutions tested on, those of training among them; default: every stored one"
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
    test_noise: list[Annotated[float, Field(ge=0)]] | None = Field(
        None, description="levels ε of noise tested on, that of training among them; default: that one"
    )
    noise_realisations: int = Field(
        1, ge=1, description="draws of the noise on each test sample, at each level above 0"
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
        description="training settings that short runs choose on validation samples, of the same candidates "
        "for every model: `{learning_rate: [5.0e-4, 1.0e-3], epochs: 10}`; none: recipes as they are",
    )
    processes: int = Field(
        1,
        ge=1,
        description="processes that share each training, every one on a GPU of its own where there are "
        "some; the same results up to rounding and dropout, and nothing runs again. See gpus.md",
    )
    processes_of: dict[str, Annotated[int, Field(ge=1)]] = Field(
        {}, description="the same, where it differs for a model: `{large: 4}`"
    )
    nodes: int = Field(
        1,
        ge=1,
        description="nodes of a cluster among which the processes of each training are divided evenly; "
        "elsewhere than in SLURM all are on this host. See cluster.md",
    )
    nodes_of: dict[str, Annotated[int, Field(ge=1)]] = Field(
        {}, description="the same, where it differs for a model: `{large: 2}`"
    )
    shown: str | None = Field(
        None,
        description="the model whose predictions are drawn; default, or if not in `models`: that of the best "
        "run that finished, and of figures of a paper and the film of a rollout, which are planned before "
        "any run, the last of them. If the run of a model named here diverged, the best that finished is "
        "drawn, and the caption says so",
    )
    shows: dict[str, list[str]] = Field(
        {}, description="tables and figures that it gives, by paper: `cao2021: [table2a, figure9]`"
    )
    stress: Stress = Field(
        Stress(),
        description="test the trained runs on shifted distributions too, whose labels are solved for it: "
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
        description="metrics of your own, beside those that every run has: module:name (see "
        "tutorials/own-metric.md)",
    )
    baselines: list[Location] = Field(
        [], description="baselines of your own, beside those that the task has: module:name"
    )
    figures: list[Location] = Field(
        [], description="figures of your own on the experiment's page: module:name"
    )

    def processes_for(self, model: str) -> int:
        """Return how many processes share a training of this model; it does not identify a run."""
        return self.processes_of.get(model, self.processes)

    def nodes_for(self, model: str) -> int:
        return self.nodes_of.get(model, self.nodes)

    @property
    def names_shown(self) -> bool:
        return self.shown in self.models

    @property
    def shown_model(self) -> str:
        """Return the model whose predictions are drawn where a plan has to know it before any run."""
        return str(self.shown) if self.names_shown else self.models[-1]

    @property
    def own_figures(self) -> dict[str, str]:
        return {place.partition(":")[2]: place for place in self.figures}

    @property
    def tested_noise(self) -> list[float]:
        return self.test_noise or [self.noise]


class Stability(Settings):
    """A study of training: each model from several seeds at several learning rates, on one dataset."""

    dataset: str = Field(description="a key of `datasets`")
    resolution: Resolution = Field(description="training resolution")
    panels: Annotated[dict[Words, dict[Words, str]], Field(min_length=1)] = Field(
        description="what is compared: panels of figures by title, and in each keys of `models` by the words "
        "for them there: `Galerkin: {as printed: galerkin}`"
    )
    learning_rates: Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=1)] = Field(
        description="each takes the place of the learning rate of every model"
    )
    seeds: Annotated[list[Seed], Field(min_length=1)] = Field(description="one run per model, rate and seed")
    seeds_of: dict[str, Annotated[list[Seed], Field(min_length=1)]] = Field(
        {}, description="seeds that differ for a model"
    )
    samples: SampleCounts = Field(SampleCounts(), description="default: every sample of the dataset")
    training: TrainingSettings = Field(TrainingSettings(), description="for every model")

    @property
    def models(self) -> list[str]:
        """Keys of the models, in the order of the panels, each once."""
        return list(dict.fromkeys(key for panel in self.panels.values() for key in panel.values()))

    @property
    def experiment(self) -> Experiment:
        """Return the same trainings as an experiment, at each model's own learning rate."""
        return Experiment(
            title="Stability of training",
            dataset=self.dataset,
            models=self.models,
            resolutions=[self.resolution],
            test_resolutions=[self.resolution],
            seeds=self.seeds,
            samples=self.samples,
            training=self.training,
        )

    def seeds_for(self, model: str) -> list[int]:
        return self.seeds_of.get(model, self.seeds)


class Configuration(Settings):
    """The whole configuration: config.yaml with what it starts from, and overlays."""

    name: Name = Field(
        description="results go to <results_root>/<name>. All names are folders: "
        "lower-case letters, digits and '_'"
    )
    data_root: DataRoot = Field(
        "data",
        description="folder of the stores, for all configurations: below the working folder, or absolute; or "
        "of an object store, `s3://bucket/folder` (see datasets.md)",
    )
    results_root: Folder = Field("results", description="folder of runs, tables and reports, in the same way")
    training_threads: int = Field(
        1, ge=1, description="CPU threads of a training process; changes the last digits"
    )
    stall_minutes: float = Field(
        120.0,
        ge=1,
        le=1e6,
        description="a job that shows no progress for so long (a step, a batch of samples) is ended, "
        "with the stacks of its threads in its log",
    )
    samples_gb: float | None = Field(
        None,
        gt=0,
        description="memory, in GB, that the samples of a job of training or evaluation may take; more are "
        "read from the store while it computes, with the same results. Default: half of what is free",
    )
    gpu_jobs_per_device: int = Field(
        1, ge=1, description="jobs at once on a GPU: more than 1 where models are small; see gpus.md"
    )
    build: Build = Field(Build(), description="what to build; default: everything")
    datasets: dict[Name, AnyDataset] = Field(description="what can be solved")
    recipes: dict[str, dict[typing.Literal["paper", "code"], Recipe]] = Field(
        {}, description="what models start from, by architecture"
    )
    models: dict[Name, Model] = Field(description="what can be trained")
    experiments: dict[Name, Experiment] = Field(description="what can be compared")
    stability: Stability | None = Field(
        None, description="a study of which trainings collapse at which learning rates; none: no such study"
    )
    theory: TheorySettings = Field(TheorySettings(), description="sizes at which theory is measured")
    cost: CostSettings = Field(CostSettings(), description="sizes at which the cost of a step is measured")
    architecture_costs: ArchitectureCostSettings = Field(
        ArchitectureCostSettings(), description="sizes at which parameters and operations are counted"
    )


def model_settings(model: Model, resolution: Resolution, dataset: DatasetSettings) -> ArchitectureSettings:
    """Return the validated settings of the model's architecture, trained at `resolution` of a dataset.

    Numbers of channels, and of points where they are a setting, are the dataset's; all else not given is the
    architecture's default.
    """
    own = {**model.settings, **model.settings_at.get(resolution, {})}
    return resolve(model.architecture, {**given_by_data(model.architecture, resolution, dataset), **own})


def given_by_data(architecture: str, resolution: Resolution, dataset: DatasetSettings) -> dict[str, Any]:
    """Return the settings of the architecture that the functions of the dataset leave no choice of."""
    if not is_architecture(architecture):
        return {}
    names = ("in_channels", "initial_channels", "out_channels")
    given = {name: getattr(dataset, name) for name in names} | {"points": resolution}
    if resolution in dataset.resolutions and len(set(sides := dataset.sides(resolution))) > 1:
        given["points"] = list(sides)
    accepted = settings_class(architecture).model_fields
    return {name: value for name, value in given.items() if name in accepted}


def samples_read(counts: Mapping[str, int], training: TrainingSettings) -> dict[str, int]:
    """Return how many samples of each split a training reads, of those that its run uses (`counts`).

    A paper chooses its epoch by test samples: here by as many of them as there are for validation.
    """
    read = {split: counts[split] for split in ("train", "validation")}
    if training.record_test_error:
        read["test"] = min(counts["test"], counts["validation"])
    return read


def training_settings(
    experiment: Experiment,
    key: str,
    model: Model,
    resolution: Resolution,
    tuned: Mapping[str, Any] = MappingProxyType({}),
) -> TrainingSettings:
    """Return the experiment's settings, changed at the resolution, by the model, and for model `key` in it.

    The model's own settings have its recipe's below them (`load.with_recipes`). What
    is `tuned` goes before all of them.
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
