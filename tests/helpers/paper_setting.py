"""Made-up runs in a paper's setting: what a test does not say of a run is filled in as the paper has it."""

import copy
from dataclasses import fields

from resolvent.common.records import RunRecord
from resolvent.figures.published.recipe import AtLeast, AtMost, Free, Key, expected_of, fields_of
from resolvent.figures.published.reported_numbers import conditions, example_of

BLOCKS = {
    "data": "dataset_settings",
    "model": "settings",
    "training": "training",
    "computation": "computation",
}


def completed(content: dict) -> dict:
    """The content of a run.json with every field that it lacks, and that a reported number depends on."""
    content = copy.deepcopy(content)
    known = {one.name for one in fields(RunRecord)}
    for _ in range(2):  # a value that was filled in may bring others
        facts = RunRecord(**{name: value for name, value in content.items() if name in known})
        example = example_of(facts)
        if example is None:
            return content
        recorded = fields_of(facts)
        expected = expected_of(recorded, conditions(example, None, facts.recipe or "code"))
        for name, value in expected.items():
            block, _, rest = name.partition(".")
            if isinstance(value, Free | Key) or block not in BLOCKS or name in recorded:
                continue
            if any(one.startswith(f"{name}.") for one in recorded):
                continue
            _fill(content.setdefault(BLOCKS[block], {}), rest, _first(value))
    return content


def _first(value):
    if isinstance(value, AtMost):
        return value.largest
    if isinstance(value, AtLeast):
        return value.least
    return value[0] if isinstance(value, tuple) else value


def _fill(settings, name, value):
    names = [name] if name.startswith("observations") else name.split(".")
    if name.startswith("observations.dt0.01."):
        names = ["observations", "dt0.01", name.rpartition(".")[2]]
    for part in names[:-1]:
        settings = settings.setdefault(part, {})
    settings.setdefault(names[-1], value)
