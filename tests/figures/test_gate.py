"""A reported number is shown next to a run only if every field of the run's setting is the paper's.

The runs are those of the two full-size configurations; each of their recorded fields is altered in turn.
"""

import copy
import csv
import itertools
import re
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import pytest
import torch
import yaml
from merged_configuration import DEFAULT, ROOT, merged
from paper_setting import BLOCKS

from resolvent.common.records import CostRecord, RunRecord
from resolvent.figures.published.recipe import (
    AtLeast,
    Free,
    Key,
    PublicCode,
    accounted,
    expected_of,
    fields_of,
)
from resolvent.figures.published.reported_numbers import (
    EXAMPLES,
    conditions,
    differences,
    example_of,
    record,
    reported_number,
    tables_of,
)
from resolvent.models.registry import settings_class as model_settings
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.plan import Plan
from resolvent.training.fit import computation_of, schedule_of
from resolvent.training.optimisers import build_optimiser
from resolvent.training.settings import TrainingSettings

# A run for each example and architecture that a reported number can be of.
COMPARED = {
    "cao2021": [
        ("burgers", "fno_torch_1_8", 512),
        ("burgers", "galerkin_public_code", 2048),
        ("burgers", "softmax_regular_public_code", 8192),
        ("burgers_ablation", "galerkin_small_gain_public_code", 512),
        ("darcy", "fourier2d_public_code", 211),
        ("darcy_inverse_noise1", "fno2d_coarse_torch_1_8", 141),
        ("darcy_inverse_noise10", "linear2d_coarse_regular_public_code", 211),
    ],
    "calvello2024": [
        ("lorenz63_yz", "tno", "dt0.01"),
        ("darcy_lognormal_low", "tno2d", 64),
        ("darcy_lognormal_low", "galerkin_encoder", 64),
        ("darcy_lognormal", "fno_package", 416),
        ("darcy_piecewise", "vit_no", 416),
        ("darcy_piecewise", "afno", 416),
        ("kolmogorov", "fano", 416),
    ],
}
RUNS = [(configuration, *run) for configuration, runs in COMPARED.items() for run in runs]


@cache
def plan_of(configuration):
    overlay = yaml.safe_load((ROOT / f"config/{configuration}.yaml").read_text())
    return Plan(load_configuration(merged(DEFAULT, overlay)))


@cache
def run_of(configuration, experiment, model, resolution):
    """The records of a run, as if it had been trained, with as many parameters as the paper's."""
    plan = plan_of(configuration)
    described = plan.description(experiment, model, resolution, plan.experiment(experiment).seeds[0])
    settings = {name: described["training"][name] for name in TrainingSettings.model_fields}
    computed = computation(TrainingSettings(**settings))
    facts = RunRecord(**described, grid={}, dataset_hash="d", versions={}, computation=computed)
    return facts, cost_of(facts)


def computation(settings):
    """Return what a trainer with these settings records of its optimiser."""
    optimizer = build_optimiser(torch.nn.Linear(1, 1), settings)
    schedule_of(optimizer, settings, steps_per_epoch=4)
    return computation_of(optimizer, settings.precision)


def cost_of(facts):
    counts = dict.fromkeys((one.name for one in fields(CostRecord)), None)
    example = example_of(facts)
    ends = [example.source.parameters(record(facts), one) for one in tables_of(facts) if example]
    low, high = next(filter(None, ends), (1, 1))
    return CostRecord(**counts | dict.fromkeys(("parameters", "parameters_complex_once"), (low + high) // 2))


def number(facts):
    return reported_number(facts, cost_of(facts)).value


def altered(facts, name, value):
    """The run with another value of a field that `fields_of` names."""
    block, _, rest = name.partition(".")
    if not rest:
        return replace(facts, **{name: value})
    attribute = BLOCKS[block]
    settings = inner = copy.deepcopy(getattr(facts, attribute))
    while rest not in inner:
        part = next(key for key in sorted(inner, key=len, reverse=True) if rest.startswith(f"{key}."))
        inner, rest = inner[part], rest.removeprefix(f"{part}.")
    inner[rest] = value
    return replace(facts, **{attribute: settings})


def another(value):
    """Another value of the same kind; a number in place of none."""
    match value:
        case bool():
            return not value
        case int():
            return 2 * value + 1
        case float():
            return 1.5 * value + 1
        case None:
            return 3
        case dict():
            return {"other": 1}
        case list():
            return [*value, value[-1]]
    return f"another_{value}"


def expected_by(facts):
    """All that is expected of a run by the table whose number it has."""
    example, cost = example_of(facts), cost_of(facts)
    tables = [one for one in example.tables if one.row(record(facts)) is not None]
    table = min(tables, key=lambda one: len(differences(facts, cost, one)))
    return expected_of(fields_of(facts), conditions(example, table, "code"))


@pytest.mark.parametrize("run", RUNS, ids=lambda run: "-".join(map(str, run)))
def test_every_field_is_accounted_for_and_another_value_of_it_takes_the_number_away(run):
    facts, _ = run_of(*run)
    everything, recorded, reported = expected_by(facts), fields_of(facts), number(facts)
    assert reported is not None, reported_number(facts, cost_of(facts)).reason
    for block, settings in (("model", model_settings(facts.architecture)), ("training", TrainingSettings)):
        assert {f"{block}.{name}" for name in settings.model_fields} <= {
            ".".join(name.split(".")[:2]) for name in recorded
        }
    for name, value in recorded.items():
        expected = everything[accounted(name, everything)]
        other = another(value)
        if isinstance(expected, AtLeast):
            other = expected.least - 1
        changed = altered(facts, name, other)
        assert fields_of(changed).get(name, other) == other != value, name
        if isinstance(expected, Free):
            assert expected.reason
            assert number(changed) == reported, name
        elif isinstance(expected, Key):
            assert number(changed) != reported, name
        else:
            assert number(changed) is None, name
            inside = "other" if isinstance(other, dict) else name.rpartition(".")[2]
            words = inside.replace("_", " ")
            assert any(one.startswith(words) for one in differences(changed, cost_of(facts))), name


def test_a_field_that_nobody_thought_of_or_that_was_not_recorded_takes_the_number_away():
    facts, cost = run_of("cao2021", "burgers", "galerkin_public_code", 512)
    for block in ("training", "settings", "dataset_settings"):
        changed = replace(facts, **{block: getattr(facts, block) | {"new_field": 3}})
        assert differences(changed, cost) == ["new field 3 (not compared with the code's)"]
        assert number(changed) is None
    training = {name: value for name, value in facts.training.items() if name != "gradient_clip"}
    (line,) = differences(replace(facts, training=training), cost)
    assert line.startswith("gradient clip not recorded (code 0.999) [ex1_burgers.py of ")


def all_conditions():
    """Every condition of every example, with the tables' own."""
    for example in EXAMPLES:
        for table in (None, *example.tables):
            for recipe in ("paper", "code"):
                yield from conditions(example, table, recipe)


def test_every_condition_has_a_source_and_every_named_file_exists():
    """The table of files was written by `git rev-parse` in clones of the repositories."""
    lines = (Path(__file__).parent / "public_code.csv").read_text(encoding="utf-8").splitlines()
    known = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert all(re.fullmatch("[0-9a-f]{40}", row[key]) for row in known for key in ("commit", "blob"))
    listed, named = {(row["repository"], row["commit"][:7], row["file"]) for row in known}, set()
    for condition in all_conditions():
        assert condition.source
        for source in condition.source:
            if isinstance(source, PublicCode):
                named |= {(source.repository, source.commit, file) for file in source.files}
            else:
                assert re.match(
                    r"section|Tables? \d|Figure \d|eq\. \d|not found: \w|burgers_data|piececonst|the files",
                    source,
                )
    assert named == listed


def test_a_difference_names_the_source_of_the_expected_value():
    facts, cost = run_of("cao2021", "burgers", "fno_torch_1_8", 512)
    (line,) = differences(altered(facts, "training.weight_decay", 0.5), cost)
    fork = "fourier_1d.py of scaomath/fourier_neural_operator at"
    assert line == f"weight decay 0.5 (code 0.0001) [{fork} d1bfdb4 and {fork} 74888e5]"
    darcy, cost = run_of("cao2021", "darcy", "fourier2d_public_code", 211)
    (line,) = differences(altered(darcy, "training.batch_size", 7), cost)
    defaults = "libs/utils_ft.py of scaomath/galerkin-transformer at f9e7d6a"
    assert line == f"batch size 7 (code 4) [section C.1 and section C.3 and {defaults}]"


ATTENTIONS = ("fourier", "galerkin", "softmax", "linear")
TABLE_2A = {f"{one}{norm}" for one in ATTENTIONS for norm in ("", "_regular")}
TABLE_8 = {"galerkin" + norm + start for norm in ("", "_regular") for start in ("_xavier", "_small_gain", "")}
TABLE_8 |= {"galerkin_regular_diagonal"}
TABLE_8 |= {f"galerkin_regular{one}_dropout" for one in ("_xavier", "_small_gain", "_diagonal")}
PRINTED_BY_CODE = {"Table 2a": {"fno", "galerkin_regular_diagonal_dropout", *TABLE_2A}, "Table 8": TABLE_8}
ON_THE_SQUARE = {"fno2d", "fno2d_fine", "fno2d_coarse"} | {
    f"{one}2d{grid}{norm}" for one in ATTENTIONS for grid in ("", "_coarse") for norm in ("", "_regular")
}
OF_CALVELLO = {
    "Figure 6": {("lorenz63_yz", "tno"), ("lorenz63_yz", "tno_public_code")},
    "Table 1": {
        ("darcy_lognormal_low", model)
        for model in (
            *("tno2d", "tno2d_public_code", "fno_package", "fno_package_public_code"),
            *("afno", "galerkin_encoder"),
        )
    },
    "Table 1 of v1": {("darcy_lognormal_low_v1", model) for model in ("tno2d", "fno_package_v1")},
    "Table 3": {
        (experiment, model)
        for experiment in ("darcy_lognormal", "darcy_piecewise", "kolmogorov")
        for model in ("vit_no", "fano", "fno_package", "fno_package_public_code", "afno")
    },
    "Table 3 of v1": {
        (experiment, model)
        for experiment in ("darcy_lognormal_v1", "darcy_piecewise_v1", "kolmogorov")
        for model in ("vit_no", "fano", "fno_package_v1")
    },
}


@cache
def comparable(configuration):
    """The runs of a configuration that a table has a number for: (table, experiment, model, resolution)."""
    plan, found = plan_of(configuration), set()
    for experiment in plan.configuration.build.experiments:
        e = plan.experiment(experiment)
        for model in e.models:
            for resolution in e.resolutions:
                facts, cost = run_of(configuration, experiment, model, resolution)
                for table in tables_of(facts):
                    within = example_of(facts).source.parameters(record(facts), table)
                    counts = dict.fromkeys(("parameters", "parameters_complex_once"), within and within[0])
                    counted = replace(cost, **counts) if within else cost
                    if reported_number(facts, counted, table).value is not None:
                        found.add((table.name, experiment, model, resolution))
    return found


def _as_run(model):
    """The model of a row as its author ran it: FNO with the Adam of torch 1.8."""
    return f"{model}_torch_1_8" if model.startswith("fno") else f"{model}_public_code"


def test_every_row_as_coded_is_comparable_at_full_size():
    found = comparable("cao2021")
    for table, models in PRINTED_BY_CODE.items():
        burgers = {one[2:] for one in found if one[0] == table}
        coded = {_as_run(model) for model in models}
        assert burgers == {(one, points) for one in coded for points in (512, 2048, 8192)}
    darcy = {model for model in ON_THE_SQUARE if "coarse" not in model and "fine" not in model}
    of_darcy = {(_as_run(model), points) for model in darcy for points in (141, 211)}
    assert {one[2:] for one in found if one[0] == "Table 2b"} == of_darcy
    inverse = itertools.product(("clean", "noise1", "noise10"), ON_THE_SQUARE - darcy, (141, 211))
    assert {one[1:] for one in found if one[0] == "Table 3"} == {
        (f"darcy_inverse_{noise}", _as_run(model), points) for noise, model, points in inverse
    }


def test_every_number_of_calvello_has_a_run_at_full_size():
    found = comparable("calvello2024")
    by_table = {table: {(e, m) for name, e, m, _ in found if name == table} for table in OF_CALVELLO}
    assert by_table == OF_CALVELLO
    assert {name for name, *_ in found} == set(OF_CALVELLO)
