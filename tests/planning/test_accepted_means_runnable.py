"""Configurations drawn from the schema, over small studies of every equation: what is accepted can be run.

Each has some settings replaced by others of their types and ranges, at and beyond the bounds, or by slips.
"""

import copy
import itertools
import os
import random
import types
import typing
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import pytest
from model_variants import SMALL

from resolvent.datasets.making import make_dataset
from resolvent.datasets.tasks.registry import settings_class
from resolvent.evaluation.evaluate import evaluate_run
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.papers.registry import PAPERS
from resolvent.figures.run.page import write_run_pages
from resolvent.models.registry import settings_class as architecture_settings
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.settings import Configuration, Experiment
from resolvent.planning.pages import PaperPlan, caption_facts, sources_of_report
from resolvent.planning.plan import Plan
from resolvent.training.settings import TrainingSettings
from resolvent.training.train import train_run

COUNT = int(os.environ.get("DRAWN_CONFIGURATIONS", "300"))
RUN = int(os.environ.get("RUN_CONFIGURATIONS", "30"))
ARCHITECTURE = {
    "burgers": "fno1d", "darcy": "fno2d", "lorenz63": "tno1d",
    "controlled_ode": "tno1d", "kolmogorov": "fno2d",
}  # fmt: skip
FEW = {"train": 4, "validation": 2, "test": 2}
# Settings that only say where things are, how many jobs compute them, or that name code.
LEFT = {"equation", "source", "samples", "dataset", "title", "models", "metrics", "baselines", "figures",
        "architecture", "operator", "processes", "processes_of", "nodes", "nodes_of"}  # fmt: skip


def small_study(equation: str) -> dict:
    """Return a configuration with one dataset of the equation, one model and one experiment."""
    known = settings_class(equation)
    dataset = {"equation": equation, **known.example, "samples": FEW, "samples_per_shard": 8}
    stored = dataset.get("resolutions", list(dataset.get("observations", ())))
    training = {"epochs": 1, "batch_size": 2, "gradient_weight": 0.0}
    architecture = ARCHITECTURE[equation]
    model = {"label": "Network", "architecture": architecture, "settings": dict(SMALL[architecture])}
    experiment = {
        "title": "Small", "dataset": "small", "models": ["network"], "resolutions": stored[:1],
        "training": training, "seeds": [3],
    }  # fmt: skip
    return {
        "name": "small", "data_root": "data", "results_root": "results", "training_threads": 1,
        "datasets": {"small": dataset}, "models": {"network": model}, "experiments": {"small": experiment},
    }  # fmt: skip


def bounds(metadata) -> list:
    """Return the bounds among the constraints of a field."""
    names = ("ge", "gt", "le", "lt", "min_length", "max_length")
    found = [
        getattr(part, name) for part in metadata for name in names if getattr(part, name, None) is not None
    ]
    return [bound for bound in found if abs(bound) < 10**6]


def values_of(draw, annotation, now, metadata=()):
    """Return a value for a field of this type, whose value is `now`."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return values_of(draw, parts[0], now, (*metadata, *parts[1:]))
    if origin in (typing.Union, types.UnionType):
        return values_of(draw, draw.choice(parts), now, metadata)
    if origin is Literal:
        return draw.choice(parts)
    if annotation is bool:
        return draw.random() < 0.5
    if annotation in (int, float):
        return number(draw, annotation, now, bounds(metadata))
    if origin is list and isinstance(now, list) and now:
        return draw.choice([now[:1], now[::-1], [*now, now[0] * 2], [values_of(draw, parts[0], now[0])]])
    return None if annotation is types.NoneType else now


def number(draw, kind, now, limits):
    now = (
        now if isinstance(now, int | float) and not isinstance(now, bool) and now else draw.choice([1, 2, 4])
    )
    near = [now, now, now * 2, now * 1.5, now / 2, now / 3, now * 10]
    at = [limit + step for limit in limits for step in (0, 0, 0.5 * abs(limit) + 0.1, -1, 1)]
    return kind(draw.choice(near if draw.random() < 0.7 or not at else at))


ODD = (-1, "a", None, float("nan"), 10**12, 10**400, "\ud800", b"bytes", {None: 3})


def slip(draw, value):
    """Return what may stand in place of a value by a slip."""
    return draw.choice([str(value), [value], {"value": value}, *ODD])


def parts_of(content):
    """Return the mappings of a configuration that have a schema, each with its fields."""
    (dataset,), (model,), (experiment,) = (
        content[section].values() for section in ("datasets", "models", "experiments")
    )
    return [
        (dataset, settings_class(dataset["equation"]).model_fields, ("datasets", "small")),
        (experiment, Experiment.model_fields, ("experiments", "small")),
        (experiment["training"], TrainingSettings.model_fields, ("experiments", "small", "training")),
        (model["settings"], architecture_settings(model["architecture"]).model_fields, ("models", "network")),
    ]


def drawn(draw, equation):
    """Return a configuration with one to three settings drawn, and the places of these settings."""
    content, places = copy.deepcopy(small_study(equation)), []
    for _ in range(draw.choice((1, 1, 2, 3))):
        part, fields, place = draw.choice(parts_of(content))
        key = draw.choice([name for name in fields if name not in LEFT])
        field = fields[key]
        kind = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
        now = part.get(key, None if field.is_required() else field.get_default(call_default_factory=True))
        part[key] = values_of(draw, kind, now)
        if hasattr(part[key], "model_dump"):
            part[key] = part[key].model_dump(mode="json")
        if draw.random() < 0.12:
            part[key] = slip(draw, part[key])
        places.append((*place, key))
    return content, places


def configurations(count):
    draw = random.Random(0)
    for number_of_drawn in range(count):
        equation = list(ARCHITECTURE)[number_of_drawn % len(ARCHITECTURE)]
        yield equation, *drawn(draw, equation)


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


def test_what_is_accepted_is_planned_and_what_is_refused_names_the_key():
    counts = Counter()
    for _, content, places in configurations(COUNT):
        try:
            configuration = load_configuration(content)
        except ConfigurationError as error:
            counts["refused"] += 1
            lines = str(error).split("\n")
            assert any(all(part in line for part in place[:2]) for place in places for line in lines), lines
            assert all(line.isprintable() for line in lines)
            continue
        counts["accepted"] += 1
        plan_everything(configuration)
    assert 0.4 < counts["accepted"] / COUNT < 0.7, counts


def run_whole(configuration, folder: Path) -> Path:
    """Solve, train, evaluate, and write the pages of runs, all in this process; return the run's folder."""
    plan = Plan(configuration)
    (dataset,) = plan.datasets.values()
    experiment = configuration.experiments["small"]
    resolution, seed = experiment.resolutions[0], experiment.seeds[0]
    card = make_dataset(dataset.settings, folder / dataset.base, dataset.versions)
    place = folder / plan.run_folder("small", "network", resolution, seed)
    run = plan.training("small", "network", resolution)
    train_run(
        card, place, resolution, seed=seed, run=run.parameters, code_versions={"a": 1}, threads=1, gpus=0
    )
    description = plan.description("small", "network", resolution, seed) | {"code_versions": {"a": 1}}
    evaluate_run(card, place, description, threads=1, gpus=0)
    above = place.parents[2]
    write_comparison([place], [], above / "comparison.csv")
    write_run_pages(
        [place], experiment=above, root=above.parent, title="Small", card=card,
        quantities=("input", "target"), command="snakemake", provenance={},
    )  # fmt: skip
    return place


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.filterwarnings("ignore")
def test_accepted_configurations_run_to_their_pages(tmp_path, monkeypatch):
    runs = 0
    for number_of_drawn, (_, content, places) in enumerate(configurations(COUNT)):
        try:
            configuration = load_configuration(content)
        except ConfigurationError:
            continue
        folder = tmp_path / str(number_of_drawn)
        folder.mkdir()
        monkeypatch.chdir(folder)
        assert (run_whole(configuration, folder) / "run.html").exists(), places
        runs += 1
        if runs == RUN:
            return
