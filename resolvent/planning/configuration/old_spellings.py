"""Keys and values of earlier versions, each with what stands for it now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

EMPTY = {
    "datasets": "null removes nothing; list what to build, `build: {datasets: [...]}`",
    "models": "null removes nothing; a model is trained where an experiment names it",
    "experiments": "null removes nothing; list what to build, `build: {experiments: [...]}`",
}


def old_spellings(content: Mapping) -> Iterator[str]:
    """Yield a line for each old spelling that the settings classes cannot explain."""
    for section, words in EMPTY.items():
        for name, entry in _entries(content, section):
            if entry is None:
                yield f"{section}.{name}: {words}"
    for name, model in _entries(content, "models"):
        if isinstance(model, Mapping):
            yield from _noise(f"models.{name}.training", model.get("training"))
    for name, experiment in _entries(content, "experiments"):
        if isinstance(experiment, Mapping):
            at = f"experiments.{name}"
            yield from _noise(f"{at}.training", experiment.get("training"))
            for several in ("training_at", "training_of"):
                for key, settings in _entries(experiment, several):
                    yield from _noise(f"{at}.{several}.{key}", settings)


def _noise(at: str, settings: object) -> Iterator[str]:
    if isinstance(settings, Mapping) and "noise" in settings:
        yield f"{at}.noise: the noise is the experiment's, for all its models: `experiments.<name>.noise`"


def _entries(content: Mapping, section: str) -> list[tuple]:
    entries = content.get(section)
    return list(entries.items()) if isinstance(entries, Mapping) else []
