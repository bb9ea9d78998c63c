"""JSON records of runs and baselines, the columns of their tables, and the reader of all records.

`resolvent.training` and `resolvent.evaluation` write them; the figures and `resolvent.load_run` read them. A
record identifies its run, and `run.json`, written last, has the SHA-256 of the run's tables and predictions,
so an altered file or a file of another run is refused. docs/formats.md defines every field.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NotRequired, TypeVar, cast

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from resolvent.common.cards import STRICT, Count, GridFacts
from resolvent.common.digests import check_present, file_digest
from resolvent.common.errors import FileError
from resolvent.common.files import read_json, write_json

CONDITION_COLUMNS = ("resolution", "noise", "realisation", "sample")  # of errors.csv, before the metrics
ERROR_COLUMNS = (*CONDITION_COLUMNS, "relative_l2")  # in every errors.csv
HISTORY_COLUMNS = (
    "epoch",
    "learning_rate",
    "train_loss",
    "train_relative_l2",
    "validation_relative_l2",
    "test_relative_l2",  # empty unless the run records it
)
UNSHIFTED = "none"  # shift of test samples distributed as in training
ESTIMATE_COLUMNS = {
    "equation": "equation of the samples",
    "model": "name of the model in the configuration",
    "label": "name in tables and figures",
    "architecture": "architecture of the model",
    "resolution": "training resolution; the samples are on the run's home grid",
    "seed": "seed of the run",
    "shift": "parameter that was changed, a key of `stress`; `none`: the samples of the test split",
    "factor": "factor by which it was changed",
    "sample": "index of the test sample with the same random numbers",
    "relative_l2": "relative L2 error",
    "to_solver": "relative L2 distance to the solution of a cheap classical solver; this and the next "
    "columns are empty if there is no such solver or the inputs are noisy",
    "energy_lower": "guaranteed lower bound of the relative error in the energy norm",
    "energy_upper": "guaranteed upper bound of this error",
    "energy_error": "relative error in the energy norm",
}
INFERENCE_COLUMNS = {
    "kind": "`model` or `solver`",
    "key": "name of the model in the configuration, or description of the solver",
    "label": "name in tables and figures",
    "resolution": "training resolution of the models: points along each axis, or name of a set of times; the "
    "timed samples are on the home grid of their runs",
    "error": "mean relative L2 error of the timed samples",
    "samples": "number of timed samples, the first of the test split",
    "one_seconds": "median time for a single sample, in seconds",
    "many_seconds": "median time per sample in a batch of all timed samples, in seconds",
    "device": "device that computed the predictions or solutions",
    "threads": "number of threads, one per processor core",
    "train_seconds": "training time in seconds; this and the next columns are empty for a solver",
    "data_seconds": "time to generate training and validation samples, in seconds; empty for imported data",
    "search_seconds": "training time of the short runs of `tuning` and of seeds that diverged, in seconds",
    "solver": "the fastest solver that is at least as accurate as the model; empty if there is none",
    "solver_one_seconds": "`one_seconds` of this solver",
    "solver_many_seconds": "`many_seconds` of this solver",
    "queries": "break-even: number of batched predictions after which the time saved equals the time for "
    "data, training and search; `inf`: never",
    "timed_on": "device of the times in `queries`; for several, those of training, model and solver",
}
IDENTITY = ("resolution", "seed", "config_hash")  # distinguishes the runs of a model
NETWORK = ("architecture", "settings", "training")  # determines the operator
# Keys of a record's `training` in addition to the keys of the training settings.
COUNTS = {"noise", "noise_samples", "train_samples", "validation_samples", "test_samples"}
REGENERATE = "delete it and run snakemake"
FORMER = {"energy_joules"}  # keys of cost.json that version 1.0 wrote: ignored
RUN_FILES = ("history.csv", "errors.csv", "predictions.nc")  # with digests in run.json
CHECKPOINT = "checkpoint.pt"  # also with a digest in run.json, unless the run was exported
WEIGHTS = "model.safetensors"  # of an exported run, in place of the checkpoint

Record = TypeVar("Record")
_adapter = cache(TypeAdapter)


def home_grid(trained: int | str, tested: Collection[int | str]) -> int | str:
    """Return the test resolution for which tables and figures state the errors of a run.

    This is the training resolution if it was tested. Otherwise it is the nearest number of points, the larger
    of two equally near; of sets of times, the first by name.
    """
    if isinstance(trained, str):
        return trained if trained in tested else min(cast(Collection[str], tested))
    return min(cast(Collection[int], tested), key=lambda points: (abs(points - trained), -points))


@dataclass(frozen=True, kw_only=True)
class _Strict:
    """Base class of records: keys without default are required, unknown keys and wrong types are errors."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT | ConfigDict(extra="forbid")


@with_config(STRICT)
class Training(TypedDict):
    """Training settings, which the network's weights repeat, and numbers of samples."""

    noise: NotRequired[float]
    noise_samples: NotRequired[Count]
    train_samples: Count
    validation_samples: Count
    test_samples: Count


@with_config(STRICT)
class MetricWords(TypedDict):
    """Words for a metric."""

    label: str
    description: str


if TYPE_CHECKING:
    TrainingFacts = dict[str, Any]  # settings are found by their names
else:
    TrainingFacts = Training

# Points along each axis, or the name of a set of times.
Resolution = Annotated[int, Field(ge=1)] | Annotated[str, Field(pattern="^[A-Za-z]")]


@with_config(STRICT)
class Candidate(TypedDict):
    """Result of a short run."""

    settings: dict[str, Any]
    validation_relative_l2: float | None
    diverged_epoch: int | None
    train_seconds: float


@with_config(STRICT)
class Tuning(TypedDict):
    """Content of tuned.json, `TunedRecord`, inside a run's record."""

    epochs: int
    seed: int
    candidates: list[Candidate]
    chosen: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class RunRecord(_Strict):
    """run.json: settings, training data and test data of a run."""

    experiment: str
    model: str
    label: str
    architecture: str
    recipe: str | None = None
    settings: dict[str, Any]
    look: list | None = None
    cut_off: float | None = None
    grids: str
    grid: GridFacts
    coarse_points: int | None
    resolution: Resolution
    test_resolutions: list[Resolution]
    test_noise: list[float]
    noise_realisations: int
    seed: int
    dataset: str
    dataset_settings: dict[str, Any]
    dataset_hash: str
    training: TrainingFacts
    config_hash: str
    code_versions: dict[str, Any]
    versions: dict[str, str]
    computation: dict[str, Any] = field(default_factory=dict)
    data_warnings: list[str] = field(default_factory=list)
    targets: dict[str, Any] = field(default_factory=dict)
    prediction_spread: float | None = None
    metrics: dict[str, MetricWords] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    tuning: Tuning | None = None

    def __post_init__(self) -> None:
        if any(type(tested) is not type(self.resolution) for tested in self.test_resolutions):
            raise ValueError("'test_resolutions' are not of the kind of 'resolution', numbers or names")

    @property
    def noise(self) -> float:
        """Noise level ε in training."""
        return float(self.training.get("noise", 0))

    @property
    def home(self) -> int | str:
        """Test resolution of the errors in tables and figures, if they name no other (`home_grid`)."""
        return home_grid(self.resolution, self.test_resolutions)


@dataclass(frozen=True, kw_only=True)
class CostRecord(_Strict):
    """cost.json of a run: how training ended, and its measured times and memory."""

    resolution: Resolution
    seed: int
    config_hash: str
    status: str
    diverged_epoch: int | None
    epochs: int
    steps: int
    best_epoch: int
    best_validation_relative_l2: float | None
    best_test_epoch: int | None
    best_test_relative_l2: float | None
    parameters: int
    parameters_complex_once: int | None
    forward_flop: int | None
    train_seconds: float
    seconds_per_step: float
    peak_memory_bytes: int
    device: str
    processes: int
    threads: int
    micro_batch_size: int


@dataclass(frozen=True, kw_only=True)
class TunedRecord(_Strict):
    """tuned.json: settings of a model at a training resolution, selected by short runs."""

    epochs: int
    seed: int
    candidates: list[Candidate]
    chosen: dict[str, Any]

    def __post_init__(self) -> None:
        tried = [json.dumps(candidate["settings"], sort_keys=True) for candidate in self.candidates]
        if json.dumps(self.chosen, sort_keys=True) not in tried:
            raise ValueError("'chosen' is none of the settings of 'candidates'")


@dataclass(frozen=True, kw_only=True)
class BaselineCost(_Strict):
    """Cost of a baseline; `no_answer` is the reason if it cannot solve some sample."""

    label: str
    seconds_per_sample: float | None
    parameters: int
    no_answer: str | None = None


@dataclass(frozen=True, kw_only=True)
class BaselinesRecord(_Strict):
    """cost.json of an experiment's baselines: costs by resolution and name; other keys as in `RunRecord`."""

    experiment: str
    dataset_hash: str
    costs: dict[str, dict[str, BaselineCost]]
    metrics: dict[str, MetricWords]
    files: dict[str, str]

    def cost_of(self, resolution: int | str, name: str, path: Path) -> BaselineCost:
        """Return the cost of the baseline `name` at `resolution`, of the record in the file `path`.

        Raises `FileError` if there is none.
        """
        cost = self.costs.get(str(resolution), {}).get(name)
        if cost is None:
            raise FileError(f"{path}: 'costs.{resolution}.{name}' is missing: {REGENERATE}")
        return cost


def read_record(path: Path | str, kind: type[Record], *, remedy: str = REGENERATE) -> Record:
    """Read a record of type `kind` from the JSON file `path`. Raises `FileError` if there is no valid one."""
    try:
        content = read_json(Path(path), "the record")
    except FileNotFoundError:
        raise FileError(f"{path} is missing", remedy=f"make it with `snakemake {path}`") from None
    return checked(kind, content, str(path), remedy=remedy)


def checked(kind: type[Record], content: dict, where: str, *, remedy: str = REGENERATE) -> Record:
    """Return the content of a JSON file as a record of type `kind`, a data class or the type of a mapping.

    `where` names the file. Raises `FileError` with the file and the first invalid key.
    """
    content = {key: value for key, value in content.items() if key not in FORMER}
    for fault in faults_in(kind, content):
        raise FileError(f"{where}: {fault}: {remedy}")
    if not is_dataclass(kind):
        return content  # type: ignore[return-value]
    record = _adapter(kind).validate_json(json.dumps(content))
    mappings = {key: value for key, value in content.items() if isinstance(value, dict)}
    # They keep the order of their keys, which pages show.
    same = {key: value for key, value in mappings.items() if value == getattr(record, key)}
    return replace(record, **same)


def faults_in(kind: type, content: Any) -> list[str]:
    """Return one line for each key of `content` that is missing, unknown or of the wrong type."""
    try:
        _adapter(kind).validate_json(json.dumps(content))  # in strict mode a dict is not accepted as a record
    except ValidationError as error:
        return lines_of(error, content)
    return []


def lines_of(error: ValidationError, content: Any) -> list[str]:
    """Return one line for each invalid key of `content`: the key, and what is accepted."""
    messages: dict[str, list[str]] = {}
    for fault in error.errors():
        place = _place(content, fault["loc"], fault["type"])
        messages.setdefault(f"'{place}': " if place else "", []).append(
            fault["msg"].removeprefix("Value error, ")
        )
    return [place + " or ".join(dict.fromkeys(faults)) for place, faults in messages.items()]


def _place(content: Any, location: Iterable[Any], fault: str) -> str:
    """Return the keys and indices of a value, without pydantic's names of alternative types."""
    *_, last = names = [*location] or [""]
    keys = []
    for name in names:
        try:
            content = content[name]
        except (KeyError, IndexError, TypeError):
            continue
        keys.append(str(name))
    return ".".join([*keys, str(last)] if fault == "missing" else keys)


def write_record(path: Path | str, record: Any) -> None:
    """Write a record as JSON with the SHA-256 of its content, atomically."""
    write_json(Path(path), asdict(record))


def file_digests(folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    """Return the SHA-256 of files in `folder` by name, for a record's `files`."""
    return {name: file_digest(folder / name) for name in names}


def check_file(path: Path, record: RunRecord | BaselinesRecord) -> Path:
    """Return `path` if the file has the SHA-256 in `record`. Raises `FileError` otherwise."""
    check_present(path)
    if record.files.get(path.name) != file_digest(path):
        raise FileError(
            f"{path} was altered or belongs to another run: delete it and run snakemake (its SHA-256 differs "
            "from the record)"
        )
    return path


def identity_of(record: RunRecord | CostRecord) -> dict:
    """Return the values in a record that identify its run, by the names in `IDENTITY`."""
    return {name: getattr(record, name) for name in IDENTITY}


def check_same_run(path: Path, given: dict, expected: dict) -> None:
    """Raise `FileError` if a value of `IDENTITY` in `given`, read from `path`, differs from `expected`."""
    for name in IDENTITY:
        if given[name] != expected[name]:
            raise _of_another_run(path, name, given[name], expected[name])


def check_same_network(path: Path, weights: dict, record: dict) -> None:
    """Raise `FileError` if the weights in `path` belong to another run or network than run.json."""
    check_same_run(path, {name: weights.get(name) for name in IDENTITY}, record)
    for name in NETWORK:
        given, expected = _distinct(json.loads(json.dumps([weights.get(name), record[name]])))
        if not isinstance(given, dict) or not isinstance(expected, dict):
            if given != expected:
                stated = "its settings" if isinstance(expected, dict) else expected
                raise _of_another_run(path, name, given, stated)
            continue
        if expected and not given:
            raise _of_another_run(path, name, "nothing", "its settings")
        # The record may have settings that are newer than the weights, which were made by their defaults.
        for key in sorted(given.keys() - (COUNTS if name == "training" else ())):
            if given[key] != expected.get(key, "nothing"):
                raise _of_another_run(path, f"{name}.{key}", given[key], expected.get(key, "nothing"))


def _distinct(value: Any) -> Any:
    """Return JSON in which true and false are text, because in Python they equal 1 and 0."""
    if isinstance(value, dict):
        return {key: _distinct(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_distinct(entry) for entry in value]
    return str(value) if isinstance(value, bool) else value


def _of_another_run(path: Path, name: str, given: Any, expected: Any) -> FileError:
    remedy = "export or download the run again" if path.name == WEIGHTS else "delete it and run snakemake"
    return FileError(f"{path} belongs to another run ({name} {given} instead of {expected}): {remedy}")
