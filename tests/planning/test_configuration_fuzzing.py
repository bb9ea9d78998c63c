"""Whatever stands in a configuration, it is planned whole, or refused in lines that name a key."""

import copy
import datetime
import itertools
import random
from collections import Counter
from functools import reduce
from pathlib import Path

from merged_configuration import DEFAULT

from resolvent.figures.papers.registry import PAPERS
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.settings import Configuration
from resolvent.planning.pages import PaperPlan, caption_facts, sources_of_report
from resolvent.planning.plan import Plan

EXAMPLES = 50
LONGEST_LINE, MOST_LINES = 850, 41
ODD = (
    "", " ", "a", "1e-3", "128", "-1", "nan", "none", "A", "a/b", "../a", "~", "/", "$HOME", "s3://bucket/a",
    "s3://", "{a}", "*", "σ", "a\nb", "\x00", "\ud800", "\u202e", "x" * 70, "x" * 10_000, "..", "n64",
    "[key]", "burgers", 0, -1, 1, 2, 7, 64, 1000, 2**31, 2**63, 10**12, -(10**30), 10**400, True, False, 0.0,
    -0.5, 0.5, 1.5, 128.0, 1e-300, 1e300, float("nan"), float("inf"), None, [], {}, [[]], [None], {"a": 1},
    {1: 2}, {None: 3}, {"name": "cao_darcy"}, datetime.date(2024, 1, 1), b"bytes", {"a", "b"}, [1] * 3000,
)  # fmt: skip
HASHABLE = [one for one in ODD if not isinstance(one, list | dict | set)]


def small_default() -> dict:
    """config.yaml with every section, and two models at most in an experiment: every plan is quick."""
    content = copy.deepcopy(DEFAULT)
    for section in ("cost", "architecture_costs"):
        content[section] = Configuration.model_fields[section].default.model_dump(mode="json")
    for experiment in content["experiments"].values():
        if "models" in experiment:
            experiment["models"] = experiment["models"][-2:]
    content["build"] = {"experiments": list(content["experiments"]), "datasets": ["burgers"]}
    return content | {"data_root": "data", "results_root": "results", "training_threads": 1}


def places(value, at=()):
    """Yield the paths of every entry below `value`."""
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, entry in entries:
        yield (*at, key)
        yield from places(entry, (*at, key))


def near(value):
    """Return what may stand there by a slip: another number or word, another length, another type."""
    if isinstance(value, int | float):
        return [2 * value, value + 1, -value, value // 3, value * 10**6, str(value), [value], f"{value} m"]
    if isinstance(value, str):
        return [value.upper(), value[:-1], value + value[-1:], [value]]
    if isinstance(value, list):
        return [value[:1], value[1:], value[::-1], value + value, dict.fromkeys(map(str, value))]
    return [list(value), {}] if isinstance(value, dict) else [0, "a"]


def edit(draw, content):
    """Change `content` at one place."""
    *above, key = draw.choice(list(places(content)))
    parent = reduce(lambda entry, one: entry[one], above, content)
    match draw.choice(("near", "near", "near", "odd", "odd", "delete", "rename")):
        case "near":
            parent[key] = draw.choice(near(parent[key]))
        case "odd":
            parent[key] = copy.deepcopy(draw.choice(ODD))
        case "rename" if isinstance(parent, dict):
            parent[draw.choice(HASHABLE)] = parent.pop(key)
        case _:
            del parent[key]


def plan_everything(configuration: Configuration) -> None:
    """What the Snakefile asks of a configuration; files stay where the configuration says."""
    plan = Plan(configuration)
    assert all(dataset.receipts and dataset.versions for dataset in plan.datasets.values())
    for name, experiment in configuration.experiments.items():
        for model, resolution in itertools.product(experiment.models, experiment.resolutions):
            run = name, model, resolution
            assert plan.training(*run).parameters["samples"]["train"] > 0
            assert plan.description(*run, experiment.seeds[0])["test_resolutions"]
            assert plan.training_versions(*run)
            assert plan.compared(*run, experiment.seeds[0])["run"]
            assert Path(plan.run_folder(*run, experiment.seeds[0])).parts[-4:-2] == (name, model)
        assert caption_facts(plan, name)
        assert sources_of_report(plan, name)
    for key in PAPERS:
        paper = PaperPlan(plan, key)
        assert all(paper.inputs(item) for item in paper.experiments)
        assert len(paper.page_inputs) == 4


def accepted(content: dict) -> bool:
    try:
        configuration = load_configuration(content)
    except ConfigurationError as error:
        lines = str(error).split("\n")
        assert 0 < len(lines) <= MOST_LINES
        keys = {*Configuration.model_fields, "top level", *(str(key) for key in content)}
        for line in lines:
            assert len(line) <= LONGEST_LINE
            assert line.isprintable()
            assert line.startswith("... and ") or any(line.startswith((f"{k}:", f"{k}.")) for k in keys), line
        return False
    plan_everything(configuration)
    return True


def test_an_edited_configuration_is_planned_or_refused_in_words():
    draw, base, counts = random.Random(0), small_default(), Counter()
    assert accepted(copy.deepcopy(base))
    for _ in range(EXAMPLES):
        content = copy.deepcopy(base)
        edit(draw, content)
        counts[accepted(content)] += 1
    assert min(counts[True], counts[False]) > EXAMPLES // 10  # or the edits would be too wild or too tame
