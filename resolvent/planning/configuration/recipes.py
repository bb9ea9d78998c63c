"""Recipes: what a paper (`paper`) or its code (`code`) does with an architecture, below what a model says."""

from __future__ import annotations

import typing
from collections.abc import Iterator

from resolvent.models.outside import unknown
from resolvent.models.registry import ARCHITECTURES, is_architecture, settings_class
from resolvent.planning.configuration.read import merged
from resolvent.planning.configuration.settings import Configuration, Model, Recipe

PARTS = ("settings", "settings_at", "training")


def with_recipes(configuration: Configuration) -> Configuration:
    """Return the configuration with the recipe of each model below the model's own settings."""
    models = {
        name: _filled(model, recipe) if (recipe := _recipe_of(configuration, model)) else model
        for name, model in configuration.models.items()
    }
    return configuration.model_copy(update={"models": models})


def recipe_problems(configuration: Configuration) -> Iterator[str]:
    """Yield a line for each recipe that is named and not there, and for what it says of no setting or value.

    What is wrong with its settings is said of the models that have it.
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
    for part in PARTS:
        for one in (recipe, *chosen, model):
            filled[part] = merged(filled.get(part, {}), getattr(one, part))
    return model.model_copy(update=filled)
