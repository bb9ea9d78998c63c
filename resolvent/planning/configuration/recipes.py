"""Recipes: what a paper (`paper`) or its code (`code`) does with an architecture, below what a model says."""

from __future__ import annotations

import typing
from collections.abc import Iterator

from resolvent.common.outside import unknown
from resolvent.models.registry import ARCHITECTURES, is_architecture, settings_class
from resolvent.planning.configuration.messages import partial_problems
from resolvent.planning.configuration.read import merged
from resolvent.planning.configuration.settings import Configuration, Model, Recipe, RecipePart

PARTS = ("settings", "settings_at", "training")


def with_recipes(configuration: Configuration) -> Configuration:
    """Return the configuration with the recipe of each model below the model's own settings."""
    models = {
        name: _filled(model, recipe) if (recipe := _recipe_of(configuration, model)) else model
        for name, model in configuration.models.items()
    }
    return configuration.model_copy(update={"models": models})


def recipe_problems(configuration: Configuration) -> Iterator[str]:
    """Yield a line for each recipe that is named and not there, and for each key that fits nothing."""
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
        for key, recipe in recipes.items():
            yield from _setting_problems(f"recipes.{architecture}.{key}", architecture, recipe)


def _recipe_of(configuration: Configuration, model: Model) -> Recipe | None:
    return configuration.recipes.get(model.architecture, {}).get(model.recipe) if model.recipe else None


def _filled(model: Model, recipe: Recipe) -> Model:
    chosen = [
        values[key] for name, values in recipe.by.items() if (key := str(model.settings.get(name))) in values
    ]
    filled: dict[str, dict] = {}
    for part in PARTS:
        for one in (recipe, *chosen, model):
            filled[part] = merged(filled.get(part, {}), getattr(one, part))
    return model.model_copy(update=filled)


def _setting_problems(at: str, architecture: str, recipe: Recipe) -> Iterator[str]:
    fields = settings_class(architecture).model_fields
    for setting, values in recipe.by.items():
        if setting not in fields:
            yield f"{at}.by: {unknown('setting', setting, fields)}"
            continue
        accepted = [str(one) for one in typing.get_args(fields[setting].annotation)]
        for value in values:
            if typing.get_origin(fields[setting].annotation) is typing.Literal and value not in accepted:
                yield f"{at}.by.{setting}: {unknown('value', value, accepted)}"
    for keys, part in _parts(recipe):
        where = ".".join((at, *keys))
        yield from partial_problems(part.training, (*where.split("."), "training"))
        for name in part.settings:
            if name not in fields:
                yield f"{where}.settings: {unknown('key', str(name), fields)}"
        for resolution, settings in part.settings_at.items():
            for name in settings:
                if name not in fields:
                    yield f"{where}.settings_at.{resolution}: {unknown('key', str(name), fields)}"


def _parts(recipe: Recipe) -> Iterator[tuple[tuple[str, ...], RecipePart]]:
    """Yield the recipe and each part of it that depends on a setting, with the keys that lead there."""
    yield (), recipe
    for setting, values in recipe.by.items():
        for value, part in values.items():
            yield ("by", setting, value), part
