"""Validate the merged YAML files and return the configuration, or one line for each problem."""

from __future__ import annotations

import typing
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from resolvent.common.counts import of_few
from resolvent.common.outside import unknown
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.arrays import ArraysDataset
from resolvent.models.registry import ARCHITECTURES, is_architecture, settings_class
from resolvent.planning.configuration.checks import problems
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.likeness import SECTIONS, placed, said_once, without_like
from resolvent.planning.configuration.messages import explain
from resolvent.planning.configuration.read import merged, odd_values, read_configuration
from resolvent.planning.configuration.settings import Build, Configuration, Model, Recipe, training_settings
from resolvent.planning.configuration.variants import at_origins, with_variants


def load_configuration(content: Mapping) -> Configuration:
    """Validate `content`, the merged YAML files; return the part that its `build` asks for.

    The checks run in steps that depend on each other: plain values, `like`, types and ranges, recipes,
    cross-field checks. Raises `ConfigurationError` at the first step with problems, one line for each: the
    key, what is wrong, and what is accepted.
    """
    _refuse([*getattr(content, "problems", ()), *odd_values(content)])
    resolved = without_like(content)
    build = _build(resolved)
    unbuilt = set(entries_not_built(resolved, build))
    wrong = list(explain(Configuration, _errors(resolved, unbuilt), resolved))
    _refuse(said_once(wrong, content))
    configuration = Configuration.model_validate(_without(resolved, unbuilt))
    _refuse(said_once(recipe_problems(configuration), content))
    configuration, origins = with_variants(configuration)
    configuration = with_recipes(configuration)
    found = at_origins(problems(configuration, list(content["datasets"])), origins)
    _refuse(said_once(found, content))
    return configuration


def _refuse(lines: list[str]) -> None:
    if lines:
        raise ConfigurationError(lines)


def _errors(resolved: Mapping, unbuilt: Container[tuple]) -> list:
    """Return pydantic's errors, except inconsistent sizes of entries that are not built."""
    try:
        Configuration.model_validate(resolved)
    except ValidationError as error:
        return [
            one for one in error.errors() if one["type"] != "value_error" or one["loc"][:2] not in unbuilt
        ]
    return []


def _without(content: Mapping, entries: Container[tuple[str, str]]) -> dict:
    return {
        section: {name: one for name, one in value.items() if (section, name) not in entries}
        if section in SECTIONS
        else value
        for section, value in content.items()
    }


def _build(content: Mapping) -> Build:
    """Return the validated key `build`. Raises `ConfigurationError` for names that do not exist."""
    given = content.get("build", {})
    try:
        build = Build.model_validate(given)
    except ValidationError as error:
        raise ConfigurationError(explain(Build, error.errors(), given, ("build",))) from None
    asked = {"datasets": build.datasets or [], "experiments": build.experiments or []}
    _refuse(
        [
            f"build.{section}: {unknown(SECTIONS[section], name, list(map(str, _entries(content, section))))}"
            for section, names in asked.items()
            for name in names
            if name not in _entries(content, section)
        ]
    )
    return build


def entries_not_built(content: Mapping, build: Build) -> Iterator[tuple[str, str]]:
    """Yield section and name of every dataset and experiment that is not built."""
    if build.datasets is None and build.experiments is None:
        return
    needed = [*(build.datasets or []), _entries(content, "stability").get("dataset")]
    for name, experiment in _entries(content, "experiments").items():
        if name not in (build.experiments or []):
            yield "experiments", name
        elif isinstance(experiment, Mapping):
            needed += [experiment.get("dataset"), experiment.get("test_dataset")]
    for name in _entries(content, "datasets"):
        if name not in needed:
            yield "datasets", name


def _entries(content: Mapping, section: str) -> Mapping:
    entries = content.get(section)
    return entries if isinstance(entries, Mapping) else {}


def with_recipes(configuration: Configuration) -> Configuration:
    """Return the configuration with each model's recipe filled in; the model's own settings win."""
    models = {
        name: _filled(model, recipe) if (recipe := _recipe_of(configuration, model)) else model
        for name, model in configuration.models.items()
    }
    return configuration.model_copy(update={"models": models})


def recipe_problems(configuration: Configuration) -> Iterator[str]:
    """Yield one line for each missing recipe, and for each unknown setting or value in a recipe's `by`.

    Invalid settings in a recipe are reported for the models that use it.
    """
    for name, model in configuration.models.items():
        if model.recipe and is_architecture(model.architecture) and not _recipe_of(configuration, model):
            known = configuration.recipes.get(model.architecture, {})
            yield (
                f"models.{name}.recipe: architecture {model.architecture} has no recipe '{model.recipe}'; "
                f"accepted: {', '.join(known) or 'none, leave it out'}"
            )
    for architecture, recipes in configuration.recipes.items():
        if not is_architecture(architecture):
            yield f"recipes.{architecture}: {unknown('architecture', architecture, ARCHITECTURES)}"
            continue
        fields = settings_class(architecture).model_fields
        for key, recipe in recipes.items():
            at = f"recipes.{architecture}.{key}.by"
            for setting, values in recipe.by.items():
                if setting not in fields:
                    yield f"{at}: {unknown('setting', setting, fields)}"
                    continue
                choices = fields[setting].annotation
                accepted = [str(one) for one in typing.get_args(choices)]
                for value in values if typing.get_origin(choices) is typing.Literal else ():
                    if value not in accepted:
                        yield f"{at}.{setting}: {unknown('value', value, accepted)}"


def _recipe_of(configuration: Configuration, model: Model) -> Recipe | None:
    return configuration.recipes.get(model.architecture, {}).get(model.recipe) if model.recipe else None


def _filled(model: Model, recipe: Recipe) -> Model:
    chosen = [
        values[key] for name, values in recipe.by.items() if (key := str(model.settings.get(name))) in values
    ]
    filled: dict[str, dict] = {}
    for part in ("settings", "settings_at", "training"):
        for one in (recipe, *chosen, model):
            filled[part] = merged(filled.get(part, {}), getattr(one, part))
    return model.model_copy(update=filled)


def check(files: Iterable[Path | str]) -> int:
    """Print the problems of overlays of config.yaml, each with file, line and key, or warnings if valid.

    Later overlays win. Nothing runs. Returns the exit status.
    """
    content: Mapping = {}
    try:
        content = read_configuration(files)
        configuration = with_contents(load_configuration(content))
    except ConfigurationError as error:
        print(placed(error, content))
        return 1
    built = ", ".join(configuration.experiments) or "none"
    print(f"the configuration '{configuration.name}' is valid; experiments: {built}")
    for words in remarks(configuration):
        print(f"warning: {words}")
    return 0


def remarks(configuration: Configuration) -> Iterator[str]:
    """Yield a warning for each setting that is valid but probably a mistake."""
    for name, one in configuration.experiments.items():
        tested = configuration.datasets[one.test_dataset or one.dataset].samples.test
        if words := of_few(one.samples.test or tested):
            yield f"experiments.{name}: {words}"
        dataset = configuration.datasets[one.dataset]
        if isinstance(dataset, ArraysDataset) and any(
            training_settings(one, key, configuration.models[key], points).normalisation == "none"
            for key in one.models
            for points in one.resolutions
        ):
            yield from (f"experiments.{name}: {words}" for words in dataset.unscaled())


def with_contents(configuration: Configuration) -> Configuration:
    """Return the configuration with the digests of all files from which datasets are imported.

    Raises `ConfigurationError` if a file is missing or contradicts the configuration.
    """
    datasets, problems = {}, []
    for name, settings in configuration.datasets.items():
        try:
            datasets[name] = settings.with_contents()
        except DatasetError as error:
            problems.append(f"datasets.{name}.source: {error}")
    if problems:
        raise ConfigurationError(problems)
    return configuration.model_copy(update={"datasets": datasets})
