"""Expand experiments with the key `scaling`: each model at each size becomes a separate model."""

from __future__ import annotations

from itertools import product

from resolvent.common.counts import size_in_words
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.settings import Configuration, Experiment, Model


def with_sizes(configuration: Configuration) -> Configuration:
    """Return the configuration with models `<model>_n64_w16`, … in place of `<model>` in these experiments.

    Raises `ConfigurationError` if a model with such a name exists.
    """
    models: dict[str, Model] = {}
    experiments = {
        name: _experiment(name, one, configuration.models, models) if one.scaling else one
        for name, one in configuration.experiments.items()
    }
    update = {"models": {**configuration.models, **models}, "experiments": experiments}
    return configuration.model_copy(update=update)


def _experiment(
    name: str, experiment: Experiment, known: dict[str, Model], models: dict[str, Model]
) -> Experiment:
    """Return the experiment with a model for each size, and add these models to `models`."""
    assert experiment.scaling is not None
    by_model = {key: getattr(experiment, key) for key in ("training_of", "processes_of", "nodes_of")}
    by_model["training_of"] = dict(by_model["training_of"])
    sized: list[str] = []
    shown, widths = experiment.shown, experiment.scaling.width or (None,)
    for key in experiment.models:
        if key not in known:
            sized.append(key)  # unknown models are reported later, all together
            continue
        for samples, width in product(experiment.scaling.samples, widths):
            new, settings = f"{key}_n{samples}" + (f"_w{width}" if width else ""), {"width": width}
            if new in known:
                raise ConfigurationError([f"experiments.{name}.scaling: model '{new}' exists already"])
            model = known[key]
            if width:
                at = {points: one | settings for points, one in model.settings_at.items()}
                model = model.model_copy(update={"settings": model.settings | settings, "settings_at": at})
            label = model.label + size_in_words(samples, width)
            models[new] = model.model_copy(update={"label": label})
            sized.append(new)
            by_model = {
                part: {**given, new: given[key]} if key in given else given
                for part, given in by_model.items()
            }
            of_model = by_model["training_of"].get(key, {})
            by_model["training_of"][new] = of_model | {"train_samples": samples}
            shown = new if experiment.shown == key else shown
    return experiment.model_copy(update={"models": sized, "shown": shown, **by_model})
