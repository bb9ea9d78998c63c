"""Whatever stands in a configuration, it is planned whole, or refused in lines that name a key."""

import copy
import datetime
import functools
import inspect
import itertools
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from merged_configuration import DEFAULT

from resolvent.figures.papers.registry import PAPERS
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.settings import Configuration
from resolvent.planning.paper_plan import PaperPlan
from resolvent.planning.plan import Plan

EXAMPLES = 100
LONGEST_LINE, MOST_LINES = 850, 41
SECTIONS = ("datasets", "models", "recipes", "experiments", "build", "theory", "cost", "architecture_costs")


def small_default() -> dict:
    """config.yaml with every section, and two models at most in an experiment: every plan is quick."""
    content = copy.deepcopy(DEFAULT)
    for section in ("theory", "cost", "architecture_costs"):
        content[section] = Configuration.model_fields[section].default.model_dump(mode="json")
    for experiment in content["experiments"].values():
        if "models" in experiment:
            experiment["models"] = experiment["models"][-2:]
    content["build"] = {"experiments": list(content["experiments"]), "datasets": ["burgers"]}
    return content | {"data_root": "data", "results_root": "results", "training_threads": 1}


def places(value, at=()):
    """The paths of every entry at or below `value`."""
    yield at
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, entry in entries:
        yield from places(entry, (*at, key))


def at(content, path):
    return functools.reduce(lambda entry, key: entry[key], path, content)


BASE = small_default()
PLACES = {key: list(places(value, (key,))) for key, value in BASE.items()}
WORDS = sorted({part for path in itertools.chain(*PLACES.values()) for part in path if isinstance(part, str)})
DEPTHS = {key: sorted({len(path) for path in paths}) for key, paths in PLACES.items()}
ODD_TEXTS = (
    "", " ", "a", "1e-3", "1e2", "128", "-1", "nan", ".inf", "none", "No", "a b", "A", "a/b", "../a",
    "a/../../b", "~",
    "~/a", "/", "$HOME", "s3://bucket/a", "s3://", "s3://a@b", "gs://bucket",
    "{a}", "*", "Ä", "σ", "\n", "a\nb", "\x00", "\ud800", "\u202e",
    "x" * 70, "x" * 10_000, "__a", ".", "..", "n64", "[key]", "burgers", "0.1/(2*pi)",
)  # fmt: skip
ODD_NUMBERS = (
    0, -1, 1, 2, 3, 5, 7, 64, 1000, 2**31, 2**62, 2**63, 10**12, -(10**30), 10**400, 16**5000, True, False,
    0.0, -0.5, 0.5, 1.5, 128.0, 1e-300, 1e300, float("nan"), float("inf"), -float("inf"),
)  # fmt: skip
CYCLE = []
CYCLE.append(CYCLE)
ODD = (
    *ODD_TEXTS,
    *ODD_NUMBERS,
    None,
    [],
    {},
    [[]],
    [None],
    {"a": 1},
    {1: 2},
    {None: 3},
    {"name": "cao_darcy"},
)
ODD += (datetime.date(2024, 1, 1), b"bytes", {"a", "b"}, CYCLE, [1] * 3000, {"a": {"a": {"a": [{"a": {}}]}}})
KEYS = (*ODD_TEXTS, *ODD_NUMBERS, None, datetime.date(2024, 1, 1))
odd = (
    st.sampled_from(ODD)
    | st.integers()
    | st.floats(allow_subnormal=False)
    | st.text(max_size=20)
    | st.booleans()
)
keys = st.sampled_from(WORDS) | st.sampled_from(KEYS)


def near(value):
    """What may stand there by a slip: another number or word, another length, another type."""
    if isinstance(value, bool):
        return [not value, str(value), int(value)]
    if isinstance(value, int | float):
        return [2 * value, value + 1, -value, value // 3, value * 10**6, str(value), [value], f"{value} m"]
    if isinstance(value, str):
        return [value.upper(), value[:-1], value + value[-1:], [value], *WORDS]
    if isinstance(value, list):
        return [value[:1], value[1:], value[::-1], value + value, dict.fromkeys(map(str, value)), value[0]]
    if isinstance(value, dict):
        return [list(value), list(value.values()), next(iter(value), None), {}]
    return [0, "a"]


@st.composite
def configurations(draw):
    """The default configuration with one to three edits at random places."""
    content = copy.deepcopy(BASE)
    for _ in range(draw(st.integers(1, 3))):
        section = draw(st.sampled_from(SECTIONS * 3 + tuple(BASE)))
        depth = draw(st.sampled_from(DEPTHS[section]))  # first, as there are few places at the top
        path = draw(st.sampled_from([path for path in PLACES[section] if len(path) == depth]))
        try:
            edit(draw, content, path)
        except (KeyError, IndexError, TypeError, ValueError):
            continue  # another edit has taken this place away, or left there what has no neighbours
    return content


def edit(draw, content, path):
    """Change `content` at `path`."""
    parent, key = at(content, path[:-1]), path[-1]
    how = draw(st.sampled_from(["near"] * 4 + ["odd", "odd", "other", "delete", "rename", "add"]))
    if how == "near":
        parent[key] = copy.deepcopy(draw(st.sampled_from(near(parent[key]))))
    elif how == "odd":
        parent[key] = copy.deepcopy(draw(odd))
    elif how == "other":
        other = draw(st.sampled_from([p for p in PLACES[path[0]] if p[-1] == key or len(p) == len(path)]))
        parent[key] = copy.deepcopy(at(BASE, other))
    elif how == "delete":
        del parent[key]
    elif how == "rename" and isinstance(parent, dict):
        parent[draw(keys)] = parent.pop(key)
    elif how == "add" and isinstance(parent[key], dict):
        parent[key][draw(keys)] = copy.deepcopy(draw(odd))
    elif how == "add" and isinstance(parent[key], list):
        parent[key].append(copy.deepcopy(draw(st.sampled_from(parent[key] or ODD) | odd)))


def everything_of(owner, **known) -> dict:
    """Every property of `owner`, and every method that takes some of `known`, called with all choices."""
    values = {}
    for name, member in inspect.getmembers(type(owner)):
        if name.startswith("_"):
            continue
        if not callable(member):
            values[name] = getattr(owner, name)
            continue
        parameters = list(inspect.signature(member).parameters.values())[1:]
        wanted = [one.name for one in parameters if one.default is one.empty]
        if set(wanted) <= set(known):
            for choice in itertools.product(*(known[key] for key in wanted)):
                values[name, *choice] = getattr(owner, name)(*choice)
    return values


def plan_everything(configuration: Configuration) -> None:
    """All that the Snakefile asks of a configuration; files stay where the configuration says."""
    plan = Plan(configuration)
    for dataset in plan.datasets.values():
        values = everything_of(dataset)
        assert {"card", "store", "receipts", "code"} <= set(values)
    everything_of(plan)
    for name, experiment in configuration.experiments.items():
        values = everything_of(
            plan,
            experiment=[name],
            model=experiment.models,
            resolution=experiment.resolutions,
            seed=experiment.seeds[:1],
        )
        some = (name, experiment.models[0], experiment.resolutions[0])
        assert values["training", *some].parameters["samples"]["train"] > 0
        assert values["description", *some, experiment.seeds[0]]["test_resolutions"]
        for folder in values["run_folders", name]:
            assert Path(folder).parts[-4:-2] == (name, Path(folder).parts[-3])
    for key in PAPERS:
        paper = PaperPlan(plan, key)
        everything_of(paper, item=list(paper.experiments), experiment=list(configuration.experiments))


def keys_in_words(mapping: dict) -> set[str]:
    """The keys that a message can name; the others are reported with the place of the mapping."""
    return {str(key) for key in mapping if isinstance(key, str) or (isinstance(key, int) and key < 2**63)}


def check(content: dict) -> bool:
    """Whether the configuration is accepted; everything that is said of it is as promised."""
    keys = {*Configuration.model_fields, "top level", *keys_in_words(content)}
    try:
        configuration = load_configuration(content)
    except ConfigurationError as error:
        lines = str(error).split("\n")
        assert 0 < len(lines) <= MOST_LINES
        for line in lines:
            assert len(line) <= LONGEST_LINE
            assert line.isprintable()
            assert line.startswith("... and ") or any(line.startswith((f"{k}:", f"{k}.")) for k in keys), line
            section, _, rest = line.partition(".")
            if isinstance(content.get(section), dict):
                assert any(rest.startswith(name) for name in keys_in_words(content[section])), line
        return False
    plan_everything(configuration)
    return True


def test_an_edited_configuration_is_planned_or_refused_in_words():
    accepted = Counter()

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(configurations())
    def edited(content):
        accepted[check(content)] += 1

    edited()
    assert min(accepted[True], accepted[False]) > EXAMPLES // 10  # or the edits would be too wild or too tame


def test_the_configuration_that_is_edited_is_accepted():
    assert check(copy.deepcopy(BASE))
