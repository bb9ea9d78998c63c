"""Cross-field checks of a configuration: unknown references and incompatible sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

from pydantic import ValidationError

from resolvent.common.outside import unknown
from resolvent.figures.papers.registry import PAPERS
from resolvent.models import registry
from resolvent.models.layers.grid_sizes import coarse_points, suitable_factor
from resolvent.planning.configuration.messages import partial_problems
from resolvent.planning.configuration.settings import (
    Configuration,
    Experiment,
    Model,
    given_by_data,
    model_settings,
    training_settings,
)
from resolvent.training.settings import TrainingSettings

# Values of training settings that need grids with the same outermost points, and in which dimensions.
ON_NODES = {
    "normalisation": ("pointwise", [2]),
    "boundary": ("zero", [2]),
    "gradient_coefficient": ("input", [1, 2]),
}
# The only accepted values for inverse problems, whose target jumps and does not vanish on the boundary.
OF_A_JUMP = {"gradient_weight": 0.0, "boundary": "free"}
# Settings of a dataset that do not change the functions of a sample.
NOT_OF_FUNCTIONS = {"resolutions", "observations", "samples", "samples_per_shard", "accuracy", "frames"}
# Lists of an experiment without repeated entries.
LISTS = ("models", "resolutions", "test_resolutions", "test_noise", "seeds", "metrics", "baselines")
# Reserved names: other folders next to the folders of experiments, and of an experiment's models.
TAKEN = {
    "experiments": ("assets", "datasets", *PAPERS),
    "models": ("figures", "baselines"),
}
# Items that `shows` accepts, by paper, with whether several experiments may show the same item.
SHOWN = {
    key: {name: item.several for name, item in paper.items.items() if item.shown_by_experiments}
    for key, paper in PAPERS.items()
}


def problems(configuration: Configuration, datasets: list[str]) -> Iterator[str]:
    """Yield the problems between fields; messages list the names of all `datasets`, built or not."""
    for section, taken in TAKEN.items():
        for name in getattr(configuration, section):
            if name in taken:
                yield f"{section}.{name}: {name!r} is reserved for a folder; choose another name"
    for name, dataset in configuration.datasets.items():
        try:
            dataset.check_progress(configuration.stall_minutes)
        except ValueError as error:
            yield f"datasets.{name}: {error}"
    for name, model in configuration.models.items():
        yield from _model_problems(name, model)
        yield from partial_problems(model.training, ("models", name, "training"))
    for name, experiment in configuration.experiments.items():
        yield from _experiment_problems(configuration, f"experiments.{name}", experiment, datasets)
    yield from _shown_problems(configuration.experiments)


def _model_problems(name: str, model: Model) -> Iterator[str]:
    given = {f".settings_at.{points}": settings for points, settings in model.settings_at.items()}
    for key, settings in {"": {}, **given}.items():
        try:
            registry.resolve(model.architecture, {**model.settings, **settings})
        except ValueError as error:
            yield f"models.{name}{key}: {error}"
            if not key:
                return


def _experiment_problems(
    configuration: Configuration, at: str, experiment: Experiment, datasets: list[str]
) -> Iterator[str]:
    lists = {key: getattr(experiment, key) for key in LISTS}
    lists |= {f"shows.{paper}": items for paper, items in experiment.shows.items()}
    lists["figures"] = [place.partition(":")[2] for place in experiment.figures]  # of their files
    yield from _repeated(at, lists)
    tuned = experiment.tuning.lists if experiment.tuning else {}
    parts: dict[str, list] = {"training_at": experiment.resolutions, "training_of": experiment.models}
    for part, used in parts.items():
        for key, settings in getattr(experiment, part).items():
            yield from partial_problems(settings, (*at.split("."), part, key))
            for setting in tuned if key in used else ():
                if setting in settings:
                    fault = "`tuning` chooses this setting for every model; remove it here or from `tuning`"
                    yield f"{at}.{part}.{key}.{setting}: {fault}"
    named = {key: getattr(experiment, key) for key in ("training_of", "processes_of", "nodes_of", "models")}
    named["shown"] = [] if experiment.shown is None else [experiment.shown]
    for key, models in named.items():
        for model in models:
            if model not in configuration.models:
                yield f"{at}.{key}: {unknown('model', model, configuration.models)}"
    if experiment.dataset not in configuration.datasets:
        yield f"{at}.dataset: {unknown('dataset', experiment.dataset, datasets)}"
        return
    dataset = configuration.datasets[experiment.dataset]
    test_name = experiment.dataset if experiment.test_dataset is None else experiment.test_dataset
    if test_name not in configuration.datasets:
        yield f"{at}.test_dataset: {unknown('dataset', test_name, datasets)}"
        return
    test_dataset = configuration.datasets[test_name]
    if test_dataset.equation != dataset.equation or (dataset.inverse and test_name != experiment.dataset):
        equations = f"equation {test_dataset.equation}, '{experiment.dataset}' {dataset.equation}"
        accepted = "another dataset of the same equation, not of an inverse problem"
        yield f"{at}.test_dataset: '{test_name}' solves {equations}; accepted: {accepted}"
        return
    if unlike := _unlike(test_name, test_dataset, experiment.dataset, dataset):
        yield f"{at}.test_dataset: {unlike}"
        return
    yield from _data_problems(configuration, at, experiment, test_name)
    models = {key: configuration.models[key] for key in experiment.models if key in configuration.models}
    for key, model in models.items():
        if registry.is_architecture(model.architecture):  # others are reported with the model
            if missing := registry.missing_packages(model.architecture):
                yield f"{at}.models: {key!r}: {missing}"
            yield from _fit_problems(at, experiment, dataset, test_dataset, key, model)
    yield from _training_problems(at, experiment, dataset, test_dataset, models)


def _data_problems(
    configuration: Configuration, at: str, experiment: Experiment, test_name: str
) -> Iterator[str]:
    """Yield the resolutions, counts, noise and shifts of an experiment that its datasets do not have."""
    dataset, tested = configuration.datasets[experiment.dataset], experiment.test_resolutions
    wanted = {
        "resolutions": (experiment.dataset, experiment.resolutions),
        "training_at": (experiment.dataset, experiment.training_at),
        "test_resolutions": (test_name, tested or []),
    }
    for key, (asked, resolutions) in wanted.items():
        there = configuration.datasets[asked].resolutions
        for resolution in dict.fromkeys(resolutions):
            if resolution not in there:
                has = f"dataset '{asked}' has {', '.join(map(str, there))} (datasets.{asked}.resolutions)"
                yield f"{at}.{key}: {resolution} is not stored; {has}"
    if tested is not None and dataset.inverse:
        yield f"{at}.test_resolutions: inverse problems are tested on the training grids; remove this key"
    for split, count in experiment.samples.model_dump().items():
        asked = test_name if split == "test" else experiment.dataset
        available = getattr(configuration.datasets[asked].samples, split)
        if not available:
            yield f"{at}.samples.{split}: dataset '{asked}' has no {split} samples"
        elif count is not None and count > available:
            yield f"{at}.samples.{split}: {count} asked for; dataset '{asked}' has {available}"
    available = experiment.samples.train or dataset.samples.train
    counts = {"scaling.samples": experiment.scaling.samples if experiment.scaling else []}
    for model, sweep in experiment.sweep.items():
        counts[f"sweep.{model}.training.train_samples"] = sweep.training.get("train_samples", [])
    for key, asked_for in counts.items():
        for count in asked_for:
            if isinstance(count, int) and count > available:
                yield f"{at}.{key}: {count} asked for; the experiment has {available}"
    for key, given in {"noise": [experiment.noise], "test_noise": experiment.test_noise or []}.items():
        if any(given) and not dataset.inverse:
            solved = f"dataset '{experiment.dataset}' solves {dataset.equation}"
            yield f"{at}.{key}: noise is only for equation darcy_inverse; {solved}; accepted: 0"
    yield from _stress_problems(configuration, at, experiment, test_name)
    if experiment.noise not in experiment.tested_noise:
        yield f"{at}.test_noise: {experiment.tested_noise} lacks the training noise {experiment.noise}"


def _stress_problems(
    configuration: Configuration, at: str, experiment: Experiment, test_name: str
) -> Iterator[str]:
    """Yield the shifts that cannot be solved, or that start from other functions than the test samples."""
    stress, dataset = experiment.stress, configuration.datasets[experiment.dataset]
    tested = configuration.datasets[test_name]
    available = experiment.samples.test or tested.samples.test
    if "samples" in stress.model_fields_set and stress.samples > available:
        yield f"{at}.stress.samples: {stress.samples} asked for; the experiment has {available} test samples"
    trained, shown = (
        settings.model_dump(exclude=NOT_OF_FUNCTIONS | {"seed"}) for settings in (dataset, tested)
    )
    if stress.shifts and trained != shown:
        same = f"the functions of '{experiment.dataset}' are shifted, but '{test_name}' has others"
        yield f"{at}.stress: {same}; accepted: a test_dataset of the same distribution, or no shifts"
    for shift, factor in stress.shifts:
        try:
            dataset.shifted(shift, factor).check_progress(configuration.stall_minutes)
        except ValueError as error:
            yield f"{at}.stress.{shift}: {factor:g}: dataset '{experiment.dataset}': {error}"


def _unlike(test_name: str, test_dataset, name: str, dataset) -> str:
    """Say in what the functions of a test dataset differ from those of the training dataset, or return ""."""
    for key, words in (
        ("dimension", "variables"),
        ("in_channels", "inputs"),
        ("out_channels", "targets"),
        ("grid_kind", "grid"),
    ):
        tested, trained = getattr(test_dataset, key), getattr(dataset, key)
        if tested == trained == "mixed":  # arrays from files, whose axes differ
            tested, trained = (settings.along("grid") for settings in (test_dataset, dataset))
        if tested != trained:
            return f"'{test_name}' does not fit '{name}': {words} {tested}; accepted: {trained}"
    points = "sides" if isinstance(dataset.resolutions[0], int) else "times_of"
    points_of = [getattr(settings, points) for settings in (test_dataset, dataset)]
    for resolution in test_dataset.resolutions:
        if resolution in dataset.resolutions and points_of[0](resolution) != points_of[1](resolution):
            return f"'{test_name}' does not fit '{name}': other points at {resolution}; accepted: the same"
    return ""


def _repeated(at: str, lists: dict[str, list | None]) -> Iterator[str]:
    for key, entries in lists.items():
        for entry, count in Counter(entries or []).items():
            if count > 1:
                yield f"{at}.{key}: {entry!r} is named {'twice' if count == 2 else f'{count} times'}"


def _fit_problems(
    at: str, experiment: Experiment, dataset, test_dataset, key: str, model: Model
) -> Iterator[str]:
    """Yield the mismatches between a model and its datasets: dimension, grids, channels, settings."""
    architecture, name = registry.settings_class(model.architecture), experiment.dataset
    which = f"{at}.models: '{key}' ({model.architecture})"
    if architecture.dimension != dataset.dimension:
        variables = f"{architecture.dimension} variable(s), but dataset '{name}' has {dataset.dimension}"
        yield f"{which} takes functions of {variables}"
    elif architecture.coarse_output and not dataset.inverse:
        yield f"{which} predicts on a coarser grid than its input; '{name}' has targets on the same grid"
    elif (dataset.grid_kind == "explicit" or dataset.uneven) and not architecture.any_nodes:
        kinds = {other: registry.settings_class(other) for other in registry.ARCHITECTURES}
        suitable = [
            other for other, kind in kinds.items() if kind.any_nodes and kind.dimension == dataset.dimension
        ]
        uneven = f"has uneven points along {' and '.join(dataset.uneven)}"
        points = uneven if dataset.uneven else "is observed at arbitrary times"
        accepted = ", ".join(suitable) or "none; interpolate the functions to equal steps"
        yield f"{which} needs an even grid, but '{name}' {points}; accepted: {accepted}"
    for resolution in experiment.resolutions:
        stated = model.settings | model.settings_at.get(resolution, {})
        for setting, own in given_by_data(model.architecture, resolution, dataset).items():
            if stated.get(setting, own) != own:
                remedy = f"{stated[setting]}, but dataset '{name}' has {own}; remove the setting"
                yield f"models.{key}.settings.{setting}: {remedy}"
    if architecture.dimension != dataset.dimension:
        return
    accepted = "fine, coarse" if dataset.inverse and not architecture.coarse_output else "stored"
    if model.grids not in accepted.split(", "):
        data = f"{model.architecture} on dataset '{name}' (equation {dataset.equation})"
        yield f"models.{key}.grids: '{model.grids}' does not fit {data}; accepted: {accepted}"
    elif dataset.inverse and architecture.coarse_output:
        yield from _factor_problems(key, model, experiment, dataset)
    if any(_model_problems(key, model)):
        return
    tested = experiment.test_resolutions or test_dataset.resolutions
    coarse = dataset.inverse and model.grids == "coarse"
    for resolution in experiment.resolutions:
        if resolution not in dataset.resolutions:
            continue
        if architecture.one_grid and resolution not in tested:
            only = f"{resolution}, on which alone '{key}' ({model.architecture}) can be tested"
            yield f"{at}.test_resolutions: {list(tested)} lacks the training resolution {only}"
            continue
        try:
            settings = model_settings(model, resolution, dataset)
            grids = [resolution] if dataset.inverse or architecture.one_grid else tested
            for data, grid in [(dataset, resolution), *((test_dataset, grid) for grid in grids)]:
                if isinstance(grid, int) and not architecture.coarse_output:  # and no set of times
                    settings.check_grid(data.sides(data.coarse_of(grid) if coarse else grid))
        except ValueError as error:
            yield f"models.{key}: for experiments with dataset '{name}': {error}"
            break


def _factor_problems(key: str, model: Model, experiment: Experiment, dataset) -> Iterator[str]:
    """Yield the down-sampling factors that do not lead from the fine grid to the stored coarse grid."""
    for fine, coarse in zip(dataset.resolutions, dataset.coarse, strict=True):
        if fine not in experiment.resolutions:
            continue
        try:
            factor = model_settings(model, fine, dataset).downsampling_factor  # type: ignore[attr-defined]
        except ValueError:
            continue  # reported with the model
        if (reached := coarse_points(fine, factor)) != coarse:
            words = f"reduces {fine} points a side to {reached}; dataset '{experiment.dataset}' has {coarse}"
            accepted = suitable_factor(fine, coarse)
            yield f"models.{key}: downsampling_factor {factor} {words}; accepted: {accepted}"


def _training_problems(
    at: str, experiment: Experiment, dataset, test_dataset, models: dict[str, Model]
) -> Iterator[str]:
    """Yield the merged training settings that do not fit the data, each problem once for all models."""
    available = experiment.samples.train or dataset.samples.train
    # A training with `record_test_error` reads the test samples of its own dataset.
    trained, tested = (settings.model_dump(exclude=NOT_OF_FUNCTIONS) for settings in (dataset, test_dataset))
    recorded = min(
        experiment.samples.test or test_dataset.samples.test,
        experiment.samples.validation or dataset.samples.validation,
    )
    others = trained != tested or dataset.samples.test < recorded
    test_resolutions = list(experiment.test_resolutions or test_dataset.resolutions)
    candidates = experiment.tuning.candidates.values() if experiment.tuning else [{}]
    lines: dict[str, None] = {}
    for resolution, tuned, (key, model) in product(experiment.resolutions, candidates, models.items()):
        try:
            settings = training_settings(experiment, key, model, resolution, tuned)
        except ValidationError:
            continue  # reported with the part that is wrong
        train = min(available, settings.train_samples or available)
        shares = experiment.processes_for(key), experiment.nodes_for(key)
        epochs = {settings.epochs, experiment.tuning.epochs if experiment.tuning else settings.epochs}
        lines |= dict.fromkeys(_misfits(settings, train, epochs, *shares))
        lines |= dict.fromkeys(_misfits_of_data(settings, dataset, experiment.dataset))
        if settings.record_test_error and others:
            own = f"records errors on test samples of '{experiment.dataset}', not of test_dataset"
            lines[f"record_test_error {own} '{experiment.test_dataset}'; accepted: false"] = None
        if settings.record_test_error and resolution not in test_resolutions:
            on_other_grids = f"of the training resolution {resolution}, not tested ({test_resolutions})"
            lines[f"record_test_error records errors {on_other_grids}; accepted: false"] = None
    yield from (f"{at}: {line}" for line in lines)


def _misfits(
    settings: TrainingSettings, train: int, epochs: set[int], processes: int, nodes: int
) -> Iterator[str]:
    """Yield the merged training settings that contradict each other, the samples or the processes."""
    if settings.batch_size > train:
        yield f"batch_size {settings.batch_size} is more than the {train} training samples"
    if processes > settings.batch_size:
        yield f"{processes} processes cannot share a batch_size of {settings.batch_size}"
    if processes % nodes:
        fitting = processes // nodes * nodes or nodes
        yield f"{processes} processes cannot be divided evenly among {nodes} nodes; accepted: {fitting}"
    for passes in sorted(epochs):
        steps = passes * (train // settings.batch_size)
        if settings.schedule == "1cycle" and settings.peak_fraction * steps == 1:  # torch divides by zero
            peak = f"peak_fraction {settings.peak_fraction} of {steps} steps"
            yield f"{peak} leaves no steps before the peak of the learning rate; accepted: any other value"
    yield from settings.contradictions()


def _misfits_of_data(settings: TrainingSettings, dataset, name: str) -> Iterator[str]:
    """Yield the merged training settings that contradict the functions of dataset `name`."""
    weight = settings.gradient_weight
    for key, (only, dimensions) in ON_NODES.items():
        fits = dataset.same_ends and dataset.dimension in dimensions
        if getattr(settings, key) == only and not fits:
            of_square = "on nodes or nested cell centres of a square"
            yield f"{key} '{only}' is only for functions {of_square}; '{name}' has another grid"
    for key, accepted in OF_A_JUMP.items() if dataset.inverse else ():
        if (value := getattr(settings, key)) != accepted:
            yield f"{key} {value!r} does not fit a coefficient that jumps; accepted: {accepted!r}"
    on_even_grids = "is only for functions on an even grid"
    functions = dataset.in_channels, dataset.out_channels
    axes = getattr(dataset, "even_axes", None)  # of arrays from files, whose axes may differ
    alike = axes is None or len({*axes(dataset.resolutions[0]).values()}) == 1
    if dataset.grid_kind == "explicit" and weight:
        yield f"gradient_weight {weight} {on_even_grids}; accepted for trajectories: 0"
    elif dataset.uneven and weight:
        uneven = f"'{name}', uneven along {' and '.join(dataset.uneven)}"
        yield f"gradient_weight {weight} {on_even_grids}; accepted for {uneven}: 0"
    elif weight and alike and functions[1] > 1:
        yield f"gradient_weight {weight} needs a single target, but '{name}' has {functions[1]}; accepted: 0"
    elif weight and settings.gradient_coefficient == "input" and functions != (1, 1):
        has = f"'{name}' has {functions[0]} and {functions[1]}; accepted: 'one'"
        yield f"gradient_coefficient 'input' needs a single input and target, but {has}"
    elif weight and settings.target_gradient == "public_code" and not alike:
        has = f"'{name}' has unlike axes; accepted: 'grid'"
        yield f"target_gradient 'public_code' needs axes that are alike, but {has}"
    if dataset.grid_kind == "explicit" and settings.loss.startswith("h1"):
        yield f"loss {settings.loss} {on_even_grids}"
    if settings.loss == "energy":
        scheme = dataset.five_point(dataset.resolutions[0])
        if scheme is None:
            yield f"loss energy is only for Darcy flow that is solved here, not for '{name}'"
        elif scheme[0] == "nodes" and settings.boundary != "zero":
            yield f"loss energy on nodes needs boundary 'zero', got {settings.boundary!r}"
    if settings.augment == "symmetries" and not dataset.symmetries():
        yield f"augment symmetries: none are known for '{name}'; accepted: 'none'"
    if settings.fresh_samples and hasattr(dataset, "source"):
        yield f"fresh_samples need an equation to solve, but '{name}' is read from files"


def _shown_problems(experiments: dict) -> Iterator[str]:
    given: dict[tuple[str, str], str] = {}
    for name, experiment in experiments.items():
        at = f"experiments.{name}.shows"
        for paper, items in experiment.shows.items():
            if paper not in SHOWN:
                yield f"{at}: {unknown('paper', paper, SHOWN)}"
                continue
            for item in dict.fromkeys(items):
                if item not in SHOWN[paper]:
                    yield f"{at}.{paper}: {unknown('item', item, SHOWN[paper])}"
                elif not SHOWN[paper][item] and (paper, item) in given:
                    yield f"{at}.{paper}: {item} can be shown once, and '{given[paper, item]}' shows it"
                else:
                    given[paper, item] = name
