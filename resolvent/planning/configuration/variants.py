"""Experiments with `sweep` or `scaling`: every combination of values makes of a model a model of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

from resolvent.common.counts import settings_in_words
from resolvent.common.outside import unknown
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.settings import Configuration, Experiment, Model, Sweep

PARTS = ("settings", "training")  # of a model, that may have several values
SHORT = {"train_samples": "n", "width": "w"}  # in names
LONGEST_NAME = 128
Origins = dict[str, tuple[str, str]]  # by the key of a variant: that of its model, and that which made it


def with_variants(configuration: Configuration) -> tuple[Configuration, Origins]:
    """Return the configuration with `<model>_n64_w16`, … in the place of the models of such experiments.

    Recipes come later: what they bring may depend on a value. Values also go before settings at a resolution.
    Raises `ConfigurationError` where a model has that name already, or it is too long, and where a sweep is
    of a model that is not in the experiment, or of what `scaling` has.
    """
    known, experiments = configuration.models, dict[str, Experiment]()
    models: dict[str, Model] = {}
    origins: Origins = {}
    for name, experiment in configuration.experiments.items():
        at, order, shown = f"experiments.{name}", list[str](), experiment.shown
        of = {key: dict(getattr(experiment, key)) for key in ("training_of", "processes_of", "nodes_of")}
        for key in experiment.sweep.keys() - experiment.models:
            words = unknown("model of the experiment", key, experiment.models)
            raise ConfigurationError([f"{at}.sweep: {words}"])
        for key in experiment.models:
            axes = _axes(at, experiment, key)
            if not axes or key not in known:  # which is reported with all others that are not there
                order.append(key)
                continue
            made_by = f"{at}.sweep.{key}" if key in experiment.sweep else f"{at}.scaling"
            for values in product(*axes.values()):
                chosen = [(setting, value) for (_, setting), value in zip(axes, values, strict=True)]
                settings, training = (
                    dict(pair for (one, _), pair in zip(axes, chosen, strict=True) if one == part)
                    for part in PARTS
                )
                new = key + "".join(f"_{SHORT.get(one, f'{one}_')}{_slug(value)}" for one, value in chosen)
                label = f"{known[key].label}, {settings_in_words(chosen)}"
                before = models.get(new, known[key])  # of another experiment with the same values
                if new in known or new in order or (new in models and before.label != label):
                    raise ConfigurationError([f"{made_by}: model '{new}' is there already"])
                if len(new) > LONGEST_NAME:
                    words = f"has a name of {len(new)} characters; accepted: at most {LONGEST_NAME}"
                    raise ConfigurationError([f"{made_by}: model '{new}' {words}"])
                settings_at = {
                    points: before.settings_at.get(points, {}) | settings
                    for points in (*before.settings_at, *experiment.resolutions)
                }
                update = {"label": label, "settings": before.settings | settings, "settings_at": settings_at}
                models[new] = known[key].model_copy(update=update)
                for given in of.values():
                    given |= {new: given[key]} if key in given else {}
                of["training_of"][new] = of["training_of"].get(key, {}) | training
                order.append(new)
                shown = new if experiment.shown == key else shown
                origins[f"models.{new}"] = f"models.{key}", made_by
                part_of = ".training" if key in experiment.sweep else ""
                origins[f"{at}.training_of.{new}"] = f"{at}.training_of.{key}", made_by + part_of
        experiments[name] = experiment.model_copy(update={"models": order, "shown": shown, **of})
    changed = configuration.model_copy(update={"models": known | models, "experiments": experiments})
    return changed, origins


def _axes(at: str, experiment: Experiment, key: str) -> dict[tuple[str, str], list]:
    """Return the values of a model in the experiment, by part and setting."""
    sweep, scaling = experiment.sweep.get(key, Sweep()), experiment.scaling
    axes = {(part, setting): one for part in PARTS for setting, one in getattr(sweep, part).items()}
    sizes = {("training", "train_samples"): scaling.samples} if scaling else {}
    sizes |= {("settings", "width"): scaling.width} if scaling and scaling.width else {}
    for part, setting in axes.keys() & sizes.keys():
        words = "`scaling` has values of it for every model; leave it out here or there"
        raise ConfigurationError([f"{at}.sweep.{key}.{part}.{setting}: {words}"])
    return axes | sizes


def _slug(value: object) -> str:
    return re.sub("[^a-z0-9]+", "_", str(value).lower()).strip("_")


def at_origins(lines: Iterable[str], origins: Origins) -> list[str]:
    """Return problems with those of variants at the keys that made them, each once.

    A variant whose model has the same problem is left out.
    """
    found: dict[str, None] = {}
    for line in (lines := list(lines)):
        key = next((one for one in origins if line.startswith((f"{one}:", f"{one}."))), "")
        model, origin = origins.get(key, ("", ""))
        if not key or f"{model}{line[len(key) :]}" not in lines:
            found[f"{origin}{line[len(key) :]}"] = None
    return list(found)
