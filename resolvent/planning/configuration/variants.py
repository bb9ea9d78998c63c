"""Experiments with `sweep` or `scaling`: each combination of values turns a model into another model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from resolvent.common.counts import settings_in_words
from resolvent.common.outside import unknown
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.settings import Configuration, Experiment, Model, Sweep

PARTS = ("settings", "training")  # of a model, whose settings may have several values
SHORT = {"train_samples": "n", "width": "w"}  # in names
LONGEST_NAME = 128
Origins = dict[str, tuple[str, str]]  # as in `likeness.said_once`: keys of the model and of the sweep


class Variant(NamedTuple):
    """A model with one combination of values: its name and label, and the values in each of `PARTS`."""

    name: str
    label: str
    settings: dict
    training: dict


def with_variants(configuration: Configuration) -> tuple[Configuration, Origins]:
    """Return the configuration with models `<model>_n64_w16`, … in place of each model with several values.

    Recipes are filled in later, since they may depend on a value. Values also override settings at a
    resolution. Raises `ConfigurationError` if a variant's name is taken or too long, if a sweep names a model
    that is not in the experiment, or if `sweep` and `scaling` list the same setting.
    """
    known, models = configuration.models, dict[str, Model]()
    experiments: dict[str, Experiment] = {}
    origins: Origins = {}
    for name, experiment in configuration.experiments.items():
        at = f"experiments.{name}"
        for key in experiment.sweep.keys() - experiment.models:
            words = unknown("model of the experiment", key, experiment.models)
            raise ConfigurationError([f"{at}.sweep: {words}"])
        labels = [known[key].label for key in experiment.models if key in known]
        alike = [label for label in labels if labels.count(label) > 1]
        if experiment.scaling and alike:
            fault = f"several models have the label '{alike[0]}', which would be fitted by one curve"
            raise ConfigurationError([f"{at}.scaling: {fault}; rename one"])
        made: dict[str, list[Variant]] = {}
        taken = set(known)
        for key in experiment.models:
            if key not in known:  # reported later
                continue
            made[key] = list(_variants(at, experiment, key, known[key]))
            swept = key in experiment.sweep
            made_by = f"{at}.sweep.{key}" if swept else f"{at}.scaling"
            for variant in made[key]:
                # Another experiment may have the same variant: it then has the same label.
                before = models.get(variant.name, known[key])
                fault = ""
                if variant.name in taken or (variant.name in models and before.label != variant.label):
                    fault = "exists already; rename one"
                elif (length := len(variant.name)) > LONGEST_NAME:
                    fault = f"has a name of {length} characters; accepted: at most {LONGEST_NAME}"
                if fault:
                    raise ConfigurationError([f"{made_by}: model '{variant.name}' {fault}"])
                taken.add(variant.name)
                at_points = (*before.settings_at, *experiment.resolutions)
                changes = {
                    "label": variant.label,
                    "settings": before.settings | variant.settings,
                    "settings_at": {n: before.settings_at.get(n, {}) | variant.settings for n in at_points},
                }
                models[variant.name] = before.model_copy(update=changes)
                origins[f"models.{variant.name}"] = f"models.{key}", made_by
                made_by_part = f"{made_by}.training" if swept else made_by
                origins[f"{at}.training_of.{variant.name}"] = f"{at}.training_of.{key}", made_by_part
        experiments[name] = _experiment(experiment, made)
    changed = configuration.model_copy(update={"models": known | models, "experiments": experiments})
    return changed, origins


def _variants(at: str, experiment: Experiment, key: str, model: Model) -> Iterator[Variant]:
    """Yield each combination of the values that `sweep` and `scaling` list for a model; none without them."""
    sweep, scaling = experiment.sweep.get(key, Sweep()), experiment.scaling
    axes = {(part, setting): values for part in PARTS for setting, values in getattr(sweep, part).items()}
    sizes = {("training", "train_samples"): scaling.samples} if scaling else {}
    sizes |= {("settings", "width"): scaling.width} if scaling and scaling.width else {}
    for part, setting in axes.keys() & sizes.keys():
        words = "`scaling` lists values of this setting for every model; remove it here or there"
        raise ConfigurationError([f"{at}.sweep.{key}.{part}.{setting}: {words}"])
    axes |= sizes
    for values in product(*axes.values()) if axes else ():
        parts: dict[str, dict] = {part: {} for part in PARTS}
        name = key
        for (part, setting), value in zip(axes, values, strict=True):
            parts[part][setting] = value
            slug = re.sub("[^a-z0-9]+", "_", str(value).lower()).strip("_")
            name += f"_{SHORT.get(setting, f'{setting}_')}{slug}"
        chosen = zip((setting for _, setting in axes), values, strict=True)
        yield Variant(name, f"{model.label}, {settings_in_words(chosen)}", **parts)


def _experiment(experiment: Experiment, made: dict[str, list[Variant]]) -> Experiment:
    """Return the experiment with the variants in place of their models, for which its keys also hold."""
    changes: dict = {
        key: dict(getattr(experiment, key)) for key in ("training_of", "processes_of", "nodes_of")
    }
    models = []
    for key in experiment.models:
        models += [variant.name for variant in made.get(key, [])] or [key]
        if key == experiment.shown:
            changes["shown"] = models[-1]
        for variant in made.get(key, []):
            for given in changes["processes_of"], changes["nodes_of"]:
                given |= {variant.name: given[key]} if key in given else {}
            changes["training_of"][variant.name] = experiment.training_of.get(key, {}) | variant.training
    return experiment.model_copy(update={"models": models, **changes})
