"""Problems that no single key of a configuration has: names that refer to nothing, sizes that do not fit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from pydantic import ValidationError

from resolvent.common.errors import Words
from resolvent.datasets.storage.addresses import is_address
from resolvent.figures.papers.registry import PAPERS
from resolvent.models.layers.grid_sizes import coarse_points, suitable_factor
from resolvent.models.outside import unknown
from resolvent.models.registry import ARCHITECTURES, is_architecture, resolve, settings_class
from resolvent.planning.configuration.grid_checks import grid_problems
from resolvent.planning.configuration.messages import partial_problems
from resolvent.planning.configuration.paper_items import shown_problems
from resolvent.planning.configuration.settings import (
    Configuration,
    Experiment,
    Model,
    Stability,
    given_by_data,
    model_settings,
    training_settings,
)
from resolvent.planning.places import source_folder

# Training settings that only functions on nodes of a square can have, and the value that they have elsewhere.
ON_NODES = {"normalisation": "pointwise", "boundary": "zero", "gradient_coefficient": "input"}
# Training settings of which an inverse problem accepts one value: its target jumps, and does not vanish.
OF_A_JUMP = {"gradient_weight": 0.0, "boundary": "free"}
# Lists of an experiment in which an entry is named once.
LISTS = (
    "models", "resolutions", "test_resolutions", "test_noise", "seeds", "metrics", "baselines", "figures"
)  # fmt: skip
# Names of folders beside those of experiments, and beside those of an experiment's models.
TAKEN = {
    "experiments": ("assets", "datasets", "stability", "theory", *PAPERS),
    "models": ("figures", "baselines"),
}


def problems(configuration: Configuration, datasets: list[str]) -> Iterator[str]:
    """Yield the problems that no single key has: names that refer to nothing, sizes that do not fit.

    `datasets` are the names of all datasets, of which the configuration has those that are built.
    """
    for section, taken in TAKEN.items():
        for name in getattr(configuration, section):
            if name in taken:
                yield f"{section}.{name}: {name!r} is a folder of the results; choose another name"
    yield from _folder_problems(configuration)
    for name, model in configuration.models.items():
        yield from _model_problems(name, model)
        yield from partial_problems(model.training, ("models", name, "training"))
    for name, experiment in configuration.experiments.items():
        yield from _experiment_problems(configuration, f"experiments.{name}", experiment, datasets)
    if configuration.stability:
        yield from _stability_problems(configuration, configuration.stability, datasets)
    yield from shown_problems(configuration.experiments)


def _folder_problems(configuration: Configuration) -> Iterator[str]:
    """Report roots that lead into a folder of the source, by themselves or with the name of what is made."""
    made = {"results_root": [configuration.name], "data_root": list(configuration.datasets)}
    for key, names in made.items():
        root = getattr(configuration, key)
        for folder in [] if is_address(root) else (Path(root), *(Path(root, name) for name in names)):
            if source := source_folder(folder):
                yield f"{key}: {str(folder)!r} is in {source!r}, a folder of the source; choose another"
                break


def _model_problems(name: str, model: Model) -> Iterator[str]:
    try:
        resolve(model.architecture, model.settings)
    except ValueError as error:
        yield f"models.{name}: {error}"
        return
    for resolution, settings in model.settings_at.items():
        try:
            resolve(model.architecture, {**model.settings, **settings})
        except ValueError as error:
            yield f"models.{name}.settings_at.{resolution}: {error}"


def _stability_problems(configuration: Configuration, study: Stability, datasets: list[str]) -> Iterator[str]:
    """Yield what an experiment of the same trainings would have, and what is named twice or not at all."""
    if study.training.schedule != "1cycle":
        yield f"stability.training.schedule: {study.training.schedule!r} has no peak; accepted: '1cycle'"
    lists = {"learning_rates": study.learning_rates} | {
        f"seeds_of.{model}": seeds for model, seeds in study.seeds_of.items()
    }
    yield from _repeated("stability", lists)
    for model in study.seeds_of:
        if model not in study.models:
            yield f"stability.seeds_of: {unknown('model', model, study.models)}"
    for line in _experiment_problems(configuration, "stability", study.experiment, datasets):
        line = line.replace("stability.models:", "stability.panels:")  # which have its models
        yield re.sub(r"^stability\.(test_)?resolutions:", "stability.resolution:", line)


def _experiment_problems(
    configuration: Configuration, at: str, experiment: Experiment, datasets: list[str]
) -> Iterator[str]:
    lists = {key: getattr(experiment, key) for key in LISTS}
    lists |= {f"shows.{paper}": items for paper, items in experiment.shows.items()}
    yield from _repeated(at, lists)
    names = Counter(place.partition(":")[2] for place in experiment.figures)
    for name in (name for name, count in names.items() if count > 1):
        yield f"{at}.figures: {name!r} names the files of more than one figure; give one another name"
    for key in ("metrics", "baselines", "figures"):
        for number, location in enumerate(getattr(experiment, key)):
            if words := _without_source(location):
                yield f"{at}.{key}.{number}: {words}"
    for resolution, settings in experiment.training_at.items():
        yield from partial_problems(settings, (*at.split("."), "training_at", resolution))
    for model, settings in experiment.training_of.items():
        if model not in configuration.models:
            yield f"{at}.training_of: {unknown('model', model, configuration.models)}"
        yield from partial_problems(settings, (*at.split("."), "training_of", model))
    yield from _tuning_problems(at, experiment)
    for key in ("processes_of", "nodes_of"):
        for model in getattr(experiment, key):
            if model not in configuration.models:
                yield f"{at}.{key}: {unknown('model', model, configuration.models)}"
    for model in experiment.models:
        if model not in configuration.models:
            yield f"{at}.models: {unknown('model', model, configuration.models)}"
    if experiment.shown not in (None, *configuration.models):
        yield f"{at}.shown: {unknown('model', experiment.shown, configuration.models)}"
    if experiment.dataset not in configuration.datasets:
        yield f"{at}.dataset: {unknown('dataset', experiment.dataset, datasets)}"
        return
    dataset = configuration.datasets[experiment.dataset]
    test_name = experiment.test_dataset or experiment.dataset
    if test_name not in configuration.datasets:
        yield f"{at}.test_dataset: {unknown('dataset', test_name, datasets)}"
        return
    test_dataset = configuration.datasets[test_name]
    if test_dataset.equation != dataset.equation or (dataset.inverse and test_name != experiment.dataset):
        yield (
            f"{at}.test_dataset: '{test_name}' solves equation {test_dataset.equation}, "
            f"'{experiment.dataset}' {dataset.equation}; accepted: another dataset of the same equation, "
            "not of an inverse problem"
        )
        return
    tested = experiment.test_resolutions
    wanted = {
        "resolutions": (experiment.dataset, experiment.resolutions),
        "training_at": (experiment.dataset, experiment.training_at),
        "test_resolutions": (test_name, tested or []),
    }
    for key, (asked, resolutions) in wanted.items():
        stored = configuration.datasets[asked].resolutions
        for resolution in dict.fromkeys(resolutions):
            if resolution not in stored:
                yield (
                    f"{at}.{key}: {resolution} is not stored; dataset '{asked}' has "
                    f"{', '.join(map(str, stored))}"
                )
    if tested is not None and dataset.inverse:
        yield f"{at}.test_resolutions: an inverse problem is tested on the grids of training; leave it out"
    elif tested is not None:
        for resolution in experiment.resolutions:
            if resolution not in tested:
                yield f"{at}.test_resolutions: {tested} lacks the training resolution {resolution}"
    for split, count in experiment.samples.model_dump().items():
        asked = test_name if split == "test" else experiment.dataset
        available = getattr(configuration.datasets[asked].samples, split)
        if not available:
            yield f"{at}.samples.{split}: dataset '{asked}' has none"
        elif count is not None and count > available:
            yield f"{at}.samples.{split}: {count} asked for; dataset '{asked}' has {available}"
    models = {key: configuration.models[key] for key in experiment.models if key in configuration.models}
    yield from _architecture_problems(at, experiment.dataset, dataset, experiment.resolutions, models)
    sound = {key: model for key, model in models.items() if not any(_model_problems(key, model))}
    yield from grid_problems(experiment, dataset, tested or test_dataset.resolutions, sound)
    yield from _grids_problems(experiment, dataset, models)
    yield from _training_problems(at, experiment, dataset, models)
    yield from _noise_problems(at, experiment, dataset)


def _tuning_problems(at: str, experiment: Experiment) -> Iterator[str]:
    """Report settings that are given for a model or resolution, and tuned for every one."""
    tuned = experiment.tuning.lists if experiment.tuning else {}
    given = {f"training_at.{key}": experiment.training_at.get(key, {}) for key in experiment.resolutions}
    given |= {f"training_of.{key}": experiment.training_of.get(key, {}) for key in experiment.models}
    for where, settings in given.items():
        for name in settings:
            if name in tuned:
                yield f"{at}.{where}.{name}: `tuning` chooses it for every model; leave it out here or there"


def _without_source(location: str) -> Words | None:
    """Say that the module of a user's own is compiled: its digest is not known."""
    spec = find_spec(location.partition(":")[0])
    if spec and spec.origin and spec.origin.endswith(".py"):
        return None
    return f"{location!r}: the module is no Python file, so no change is seen; name one in a .py file"


def _repeated(at: str, lists: dict[str, list | None]) -> Iterator[str]:
    """Report entries of lists that would be the same run, row or level twice."""
    for key, entries in lists.items():
        for entry, count in Counter(entries or []).items():
            if count > 1:
                yield f"{at}.{key}: {entry!r} is named {'twice' if count == 2 else f'{count} times'}"


def _architecture_problems(
    at: str, name: str, dataset, resolutions: list, models: dict[str, Model]
) -> Iterator[str]:
    """Report models whose functions are not the dataset's."""
    for key, model in models.items():
        if not is_architecture(model.architecture):
            continue  # reported with the model
        architecture = settings_class(model.architecture)
        if architecture.dimension != dataset.dimension:
            yield (
                f"{at}.models: '{key}' ({model.architecture}) maps functions of {architecture.dimension} "
                f"variable(s); those of dataset '{name}' have {dataset.dimension}"
            )
        elif architecture.coarse_output and not dataset.inverse:
            yield (
                f"{at}.models: '{key}' ({model.architecture}) gives functions on a coarser grid than its "
                f"input; those of dataset '{name}' are on one grid"
            )
        elif dataset.grid_kind == "explicit" and not architecture.any_nodes:
            accepted = ", ".join(name for name in ARCHITECTURES if settings_class(name).any_nodes)
            yield (
                f"{at}.models: {model.architecture} needs an even grid, and trajectories of dataset '{name}' "
                f"are observed at any times; accepted architectures: {accepted}"
            )
        for resolution in resolutions:
            for number, own in given_by_data(model.architecture, resolution, dataset).items():
                for given in (model.settings, model.settings_at.get(resolution, {})):
                    if given.get(number, own) != own:
                        yield (
                            f"models.{key}.settings.{number}: {given[number]} given; dataset '{name}' has "
                            f"{own}; leave it out"
                        )


def _grids_problems(experiment: Experiment, dataset, models: dict[str, Model]) -> Iterator[str]:
    """Report models that would not end on the grid of their targets."""
    for key, model in models.items():
        if not is_architecture(model.architecture):
            continue  # reported with the model
        architecture = settings_class(model.architecture)
        if architecture.dimension != dataset.dimension:
            continue  # reported before
        accepted = ["fine", "coarse"] if dataset.inverse and not architecture.coarse_output else ["stored"]
        if model.grids not in accepted:
            yield (
                f"models.{key}.grids: '{model.grids}' is not for {model.architecture} on dataset "
                f"'{experiment.dataset}' (equation {dataset.equation}); accepted: {', '.join(accepted)}"
            )
        elif dataset.inverse and architecture.coarse_output:
            yield from _factor_problems(key, model, experiment, dataset)


def _factor_problems(key: str, model: Model, experiment: Experiment, dataset) -> Iterator[str]:
    """Yield down-sampling factors that lead from a fine grid to another coarse grid than the stored one."""
    for fine, coarse in zip(dataset.resolutions, dataset.coarse, strict=True):
        if fine not in experiment.resolutions:
            continue
        try:
            factor = model_settings(model, fine, dataset).downsampling_factor
        except ValueError:
            continue  # reported with the model
        reached = coarse_points(fine, factor)
        if reached != coarse:
            yield (
                f"models.{key}: downsampling_factor {factor} leads from {fine} points a side to {reached}; "
                f"dataset '{experiment.dataset}' has {coarse}; accepted: {suitable_factor(fine, coarse)}"
            )


def _training_problems(at: str, experiment: Experiment, dataset, models: dict[str, Model]) -> Iterator[str]:
    """Report merged training settings that do not fit the data; each problem once, however many models have
    it."""
    available = experiment.samples.train or dataset.samples.train
    candidates = experiment.tuning.candidates.values() if experiment.tuning else [{}]
    found = {}
    for resolution, tuned in product(experiment.resolutions, candidates):
        for key, model in models.items():
            try:
                settings = training_settings(experiment, key, model, resolution, tuned)
            except ValidationError:
                continue  # reported with the part that is wrong
            train = min(available, settings.train_samples or available)
            if ":" in settings.loss and (words := _without_source(settings.loss)):
                found[f"{at}: loss {words}"] = None
            if settings.batch_size > train:
                words = f"batch_size {settings.batch_size} is more than the {train} training samples"
                found[f"{at}: {words}"] = None
            processes = experiment.processes_for(key)
            if processes > settings.batch_size:
                words = f"{processes} processes cannot share a batch_size of {settings.batch_size}"
                found[f"{at}: {words}"] = None
            nodes = experiment.nodes_for(key)
            if processes % nodes:
                words = f"{processes} processes cannot be divided evenly among {nodes} nodes"
                found[f"{at}: {words}; choose processes: {processes // nodes * nodes or nodes}"] = None
            if dataset.grid_kind != "nodes":
                for name, only in ON_NODES.items():
                    if getattr(settings, name) == only:
                        words = f"{name} '{getattr(settings, name)}' is for functions on nodes of a square"
                        found[f"{at}: {words}; those of '{experiment.dataset}' are on another grid"] = None
            for name, only in OF_A_JUMP.items() if dataset.inverse else ():
                if getattr(settings, name) != only:
                    words = f"{name} {getattr(settings, name)!r} is not for a coefficient that jumps"
                    found[f"{at}: {words}; accepted: {only!r}"] = None
            if settings.gradient_weight and dataset.grid_kind == "explicit":
                words = f"gradient_weight {settings.gradient_weight} is for functions on an even grid"
                found[f"{at}: {words}; accepted for trajectories: 0"] = None
            if settings.loss.startswith("h1") and dataset.grid_kind == "explicit":
                found[f"{at}: loss {settings.loss} is for functions on an even grid"] = None
            elif settings.loss.startswith("h1") and settings.gradient_weight:
                words = f"loss {settings.loss} has the gradient in it; accepted gradient_weight: 0"
                found[f"{at}: {words}, got {settings.gradient_weight}"] = None
            elif ":" in settings.loss and settings.gradient_weight:
                words = f"loss {settings.loss} is all of the loss; accepted gradient_weight: 0"
                found[f"{at}: {words}, got {settings.gradient_weight}"] = None
            if settings.fresh_samples and hasattr(dataset, "source"):
                words = f"fresh_samples need an equation to solve; '{experiment.dataset}' is read from a file"
                found[f"{at}: {words}"] = None
            if settings.fresh_samples and settings.target_gradient != "grid":
                words = f"fresh_samples have the gradient of their own grid; got {settings.target_gradient!r}"
                found[f"{at}: {words} for target_gradient; accepted: 'grid'"] = None
            if settings.loss_units == "standardised" and settings.normalisation == "none":
                words = "loss_units standardised need a normalisation; accepted: pointwise, scalar"
                found[f"{at}: {words}"] = None
    yield from found


def _noise_problems(at: str, experiment: Experiment, dataset) -> Iterator[str]:
    """Report noise where nothing is measured, or levels that leave out the one of training."""
    levels = {"noise": [experiment.noise], "test_noise": experiment.test_noise or []}
    for key, given in levels.items():
        if any(given) and not dataset.inverse:
            yield (
                f"{at}.{key}: noise is for equation darcy_inverse; dataset '{experiment.dataset}' solves "
                f"{dataset.equation}; accepted: 0"
            )
    tested = experiment.tested_noise
    if experiment.noise not in tested:
        yield f"{at}.test_noise: {tested} lacks the noise of training, {experiment.noise}"
