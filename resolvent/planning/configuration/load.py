"""Turn the merged YAML files into a checked configuration of what is built, or a line for each problem."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from resolvent.common.counts import of_few
from resolvent.common.outside import unknown
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.arrays import ArraysDataset
from resolvent.planning.configuration.checks import problems
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.likeness import SECTIONS, said_once, without_like
from resolvent.planning.configuration.messages import explain
from resolvent.planning.configuration.read import odd_key, odd_values
from resolvent.planning.configuration.recipes import recipe_problems, with_recipes
from resolvent.planning.configuration.settings import Configuration, training_settings

EMPTY = {"name": "unnamed", "datasets": {}, "models": {}, "experiments": {}}  # what there must be
BUILT = ("datasets", "experiments")  # the lists of `build`


def load_configuration(content: Mapping) -> Configuration:
    """Check `content`, the merged YAML files; return what its `build` asks for.

    Problems are reported all at once: an entry that has one is left out while the others are checked.

    Raises
    ------
    ConfigurationError
        With one line per problem: where, what, and what is accepted.
    """
    found: list[str] = list(getattr(content, "problems", ()))  # of the reader
    sound: Mapping = content
    found += odd_values(sound)
    sound = _without_those_of(found, sound)
    while True:
        try:
            resolved = without_like(sound)
            break
        except ConfigurationError as error:
            found += error.lines
            sound = _without_those_of(error.lines, sound)
    unbuilt = set(entries_not_built(resolved))
    wrong = list(explain(Configuration, _errors(resolved, unbuilt), resolved))
    sound = {**EMPTY, **_without_those_of(wrong, _without(resolved, unbuilt))}
    configuration = Configuration.model_validate(sound)
    # Without `build`, recipes or a whole section it is not known what else to check.
    whole = any(line.startswith(tuple(f"{section}:" for section in SECTIONS)) for line in [*found, *wrong])
    if not whole and not _name_one_of([*found, *wrong], ("build", "recipes")):
        if of_recipes := list(recipe_problems(configuration)):
            wrong += of_recipes
            configuration = Configuration.model_validate(_without_those_of(of_recipes, sound))
        if not _name_one_of(wrong, ["recipes"]):
            configuration = with_recipes(configuration)
            wrong += problems(configuration, list(map(str, _entries(content, "datasets"))))
    known = [*found, *wrong]
    found += build_problems(content)
    found += said_once(wrong, content, resolved)
    if found := [line for line in found if not _says_unknown(line, content, known)]:
        try:
            with_contents(configuration)
        except ConfigurationError as error:
            found += error.lines
        raise ConfigurationError(found)
    return configuration


def _errors(resolved: Mapping, unbuilt: Container[tuple]) -> list[Any]:
    """Return what pydantic finds; sizes of what is not built need not fit each other."""
    try:
        Configuration.model_validate(resolved)
    except ValidationError as error:
        return [
            one for one in error.errors() if one["type"] != "value_error" or one["loc"][:2] not in unbuilt
        ]
    return []


def _name_one_of(lines: Iterable[str], places: Iterable[str]) -> bool:
    return any(line.startswith((f"{place}:", f"{place}.")) for line in lines for place in places)


def _without_those_of(lines: list[str], content: Mapping) -> dict:
    """Return `content` without the entries, and keys at its top, that the lines name."""
    result: dict[str, Any] = {}
    for key, value in content.items():
        if key in (*SECTIONS, "recipes") and isinstance(value, Mapping):
            result[key] = {
                name: one
                for name, one in value.items()
                if not odd_key(name) and not _name_one_of(lines, [f"{key}.{name}"])
            }
        elif not odd_key(key) and not _name_one_of(lines, [key]):
            result[key] = value
        elif key in EMPTY:
            result[key] = EMPTY[key]
    return result


def _says_unknown(line: str, content: Mapping, known: list[str]) -> bool:
    """Say whether a line calls an entry unknown that was left out for a problem that is known."""
    return any(
        f"unknown {kind} {name!r};" in line and _name_one_of(known, [f"{section}.{name}"])
        for section, kind in SECTIONS.items()
        for name in map(str, _entries(content, section))
    )


def _without(content: Mapping, entries: Container[tuple[str, str]]) -> dict:
    """Return `content` without these entries of its sections."""
    return {
        section: {name: one for name, one in value.items() if (section, name) not in entries}
        if isinstance(value, Mapping)
        else value
        for section, value in content.items()
    }


def build_problems(content: Mapping) -> Iterator[str]:
    """Yield a line for each name in `build` that does not exist."""
    for section, names in _asked_for(content).items():
        known = _entries(content, section)
        for name in names:
            if name not in known:
                yield f"build.{section}: {unknown(SECTIONS[section], name, list(map(str, known)))}"


def entries_not_built(content: Mapping) -> Iterator[tuple[str, str]]:
    """Yield section and name of every dataset and experiment that is not asked for; none if all is built."""
    asked = _asked_for(content)
    if not asked:
        return
    experiments, datasets = set(asked.get("experiments", [])), set(asked.get("datasets", []))
    needed = [_entries(content, "stability").get("dataset")]
    for name, experiment in _entries(content, "experiments").items():
        if name not in experiments:
            yield "experiments", name
        elif isinstance(experiment, Mapping):
            needed += [experiment.get("dataset"), experiment.get("test_dataset")]
    datasets.update(one for one in needed if isinstance(one, str))
    for name in _entries(content, "datasets"):
        if name not in datasets:
            yield "datasets", name


def _asked_for(content: Mapping) -> dict[str, list[str]]:
    """Return the lists of `build` that are there, in so far as they are lists of names."""
    lists = {section: _entries(content, "build").get(section) for section in BUILT}
    return {
        section: [name for name in names if isinstance(name, str)]
        for section, names in lists.items()
        if isinstance(names, list)
    }


def _entries(content: Mapping, section: str) -> Mapping:
    entries = content.get(section)
    return entries if isinstance(entries, Mapping) else {}


def remarks(configuration: Configuration) -> Iterator[str]:
    """Yield what is accepted and likely to be regretted, a line each."""
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
    """Return the configuration with the digest of every file that a dataset is imported from.

    Raises
    ------
    ConfigurationError
        With one line per dataset: a file is missing, or is not what the configuration says.
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
