"""Validate the merged YAML files and return the configuration, or one line for each problem."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from resolvent.common.counts import of_few
from resolvent.common.outside import unknown
from resolvent.common.settings import open_choices
from resolvent.datasets.errors import DatasetError
from resolvent.models.registry import ARCHITECTURES, is_architecture, settings_class
from resolvent.planning.configuration.checks import problems
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.likeness import SECTIONS, likes, placed, said_once, without_like
from resolvent.planning.configuration.messages import explain
from resolvent.planning.configuration.read import merged, odd_values, read_configuration
from resolvent.planning.configuration.settings import Build, Configuration, Model, Recipe
from resolvent.planning.configuration.variants import with_variants


def load_configuration(content: Mapping) -> Configuration:
    """Validate `content`, the merged YAML files; return the part that its `build` asks for.

    The checks run in steps that depend on each other: plain values, `like`, types and ranges, recipes,
    cross-field checks. Raises `ConfigurationError` at the first step with problems, one line for each: the
    key, what is wrong, and what is accepted.
    """
    _refuse([*getattr(content, "problems", ()), *odd_values(content)])
    resolved = without_like(content)
    _refuse([*open_choices({"build": resolved.get("build")})])
    build = _build(resolved)
    unbuilt = set(entries_not_built(resolved, build))
    built = dict(resolved)
    for section in SECTIONS:
        entries = _entries(resolved, section)
        built[section] = {name: entry for name, entry in entries.items() if (section, name) not in unbuilt}
    _refuse([*open_choices(built)])
    errors: list = []
    try:
        Configuration.model_validate(resolved)
    except ValidationError as error:
        for problem in error.errors():
            # Entries that are not built may have inconsistent sizes.
            may_wait = problem["type"] == "value_error" or [*open_choices(problem["input"])]
            if problem["loc"][:2] not in unbuilt or not may_wait:
                errors.append(problem)
    inherited = {
        f"{section}.{name}": (f"{section}.{base}", f"{section}.{name}")
        for (section, name), base in likes(content).items()
    }
    _refuse(said_once(explain(Configuration, errors, resolved), inherited))
    configuration = Configuration.model_validate(built)
    _refuse(said_once(recipe_problems(configuration), inherited))
    configuration, origins = with_variants(configuration)
    configuration = with_recipes(configuration)
    lines = said_once(problems(configuration, list(content["datasets"])), origins)
    _refuse(said_once(lines, inherited))
    return configuration


def _refuse(lines: list[str]) -> None:
    if lines:
        raise ConfigurationError(lines)


def _build(content: Mapping) -> Build:
    """Return the validated key `build`. Raises `ConfigurationError` for names that do not exist."""
    given = content.get("build", {})
    try:
        build = Build.model_validate(given)
    except ValidationError as error:
        raise ConfigurationError(explain(Build, error.errors(), given, ("build",))) from None
    lines = []
    for section, names in {"datasets": build.datasets, "experiments": build.experiments}.items():
        known = list(map(str, entries := _entries(content, section)))
        wrong = [name for name in names or [] if name not in entries]
        lines += [f"build.{section}: {unknown(SECTIONS[section], name, known)}" for name in wrong]
    _refuse(lines)
    return build


def entries_not_built(content: Mapping, build: Build) -> Iterator[tuple[str, str]]:
    if build.datasets is None and build.experiments is None:
        return
    needed: list[typing.Any] = [*(build.datasets or [])]
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
    models = dict(configuration.models)
    for name, model in models.items():
        if not (recipe := _recipe_of(configuration, model)):
            continue
        values_of = {setting: str(model.settings.get(setting)) for setting in recipe.by}
        chosen = [by[values_of[setting]] for setting, by in recipe.by.items() if values_of[setting] in by]
        filled: dict[str, dict] = {}
        for part in ("settings", "settings_at", "training"):
            for level in (recipe, *chosen, model):
                filled[part] = merged(filled.get(part, {}), getattr(level, part))
        models[name] = model.model_copy(update=filled)
    return configuration.model_copy(update={"models": models})


def recipe_problems(configuration: Configuration) -> Iterator[str]:
    """Yield a line for each missing recipe or unknown entry of `by`; models report a recipe's settings."""
    for name, model in configuration.models.items():
        if model.recipe and is_architecture(model.architecture) and not _recipe_of(configuration, model):
            known = configuration.recipes.get(model.architecture, {})
            words = f"architecture {model.architecture} has no recipe '{model.recipe}'"
            accepted = ", ".join(known) or "none, remove this key"
            yield f"models.{name}.recipe: {words}; accepted: {accepted}"
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
                literals = [str(literal) for literal in typing.get_args(choices)]
                for value in values if typing.get_origin(choices) is typing.Literal else ():
                    if value not in literals:
                        yield f"{at}.{setting}: {unknown('value', value, literals)}"


def _recipe_of(configuration: Configuration, model: Model) -> Recipe | None:
    return configuration.recipes.get(model.architecture, {}).get(model.recipe) if model.recipe else None


def check(files: Iterable[Path | str]) -> int:
    """Print the problems of overlays of config.yaml, or warnings if it is valid; return the exit status."""
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
    for name, experiment in configuration.experiments.items():
        tested = configuration.datasets[experiment.test_dataset or experiment.dataset].samples.test
        if words := of_few(experiment.samples.test or tested):
            yield f"experiments.{name}: {words}"


def with_contents(configuration: Configuration) -> Configuration:
    """Return the configuration with digests of source files; `ConfigurationError` if one does not fit."""
    datasets, problems = {}, []
    for name, settings in configuration.datasets.items():
        try:
            datasets[name] = settings.with_contents()
        except DatasetError as error:
            problems.append(f"datasets.{name}.source: {error}")
    _refuse(problems)
    return configuration.model_copy(update={"datasets": datasets})
