"""What `build` asks for: experiments with the datasets that they need, and other datasets beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from resolvent.models.outside import unknown

SECTIONS = {"datasets": "dataset", "experiments": "experiment"}


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
    lists = {section: _entries(content, "build").get(section) for section in SECTIONS}
    return {
        section: [name for name in names if isinstance(name, str)]
        for section, names in lists.items()
        if isinstance(names, list)
    }


def _entries(content: Mapping, section: str) -> Mapping:
    entries = content.get(section)
    return entries if isinstance(entries, Mapping) else {}
