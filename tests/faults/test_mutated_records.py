"""Records with wrong types, gaps and damage: a line names file and field, or no number that is read differs.

FAULT_RECORDS is how many mutations of each kind of record are drawn. A number that is another number of the
right type cannot be known for wrong; such mutations only must not end in a traceback.
"""

import copy
import json
import math
import os
import random
import traceback
from dataclasses import asdict
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import yaml
from array_files import SETTINGS, arrays, write_npz
from dataset_fixtures import computed_arrays, copied_once, make_dataset, small
from rich.console import Console
from test_flipped_bytes import plain
from training_fixtures import RUN, finished_run

import resolvent
from resolvent.common.errors import ResolventError
from resolvent.common.files import OWN_DIGEST
from resolvent.common.records import TunedRecord, write_record
from resolvent.datasets.loading import load_arrays, read_card
from resolvent.datasets.tasks.registry import settings_of, settings_on
from resolvent.datasets.verify import faults_of_dataset
from resolvent.evaluation.baselines import write_baselines
from resolvent.figures.common.page import without_budget
from resolvent.figures.common.results import read_baselines, read_runs
from resolvent.figures.dataset.card import bibtex, equation_of, groups, licence, snippets
from resolvent.figures.dataset.croissant import write_croissant
from resolvent.figures.dataset.error_budget import checks_of, others, summary
from resolvent.figures.front.results import read_results
from resolvent.figures.front.study import read_study, write_study
from resolvent.figures.published.reported_numbers import differences_from_paper, example_of
from resolvent.judging import tasks
from resolvent.judging.board import print_board, read_board, write_site
from resolvent.judging.exported import own_task
from resolvent.judging.judge import judge
from resolvent.public.describe import describe, run_facts
from resolvent.public.model_card import text as model_card
from resolvent.training.tuning import tuned_run

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore")]
COUNT = int(os.environ.get("FAULT_RECORDS", "2000"))  # of all files
EXPERIMENT = "results/tiny/burgers"


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Make a folder with every kind of record, as a study, an export and a judgement leave them."""
    folder = tmp_path_factory.mktemp("records")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("resolvent.evaluation.inference.SHORTEST", 1e-3)  # times may be inexact
        patch.setattr(tasks, "FOLDER", folder / "tasks")
        for equation in ("burgers", "darcy", "lorenz63"):
            copied_once(tmp_path_factory, equation, Path("data", equation))
        source = write_npz(folder / "own.npz", arrays())
        Path("data/arrays").mkdir()
        make_dataset(Path("data/arrays"), settings_of(SETTINGS | {"source": [str(source)]}))
        card = Path("data/burgers/burgers.json")
        resolvent.load_run(finished_run(card, Path(RUN))).export("away")
        write_baselines(
            card, Path(EXPERIMENT, "baselines"), experiment="burgers", resolutions=[64],
            counts={"train": 16, "validation": 4, "test": 6}, noise=0.0, realisations=1,
        )  # fmt: skip
        _write_plan()
        _write_judgement()
        short = [{"settings": {"learning_rate": rate}, "validation_relative_l2": rate, "diverged_epoch": None,
                  "train_seconds": 1.0} for rate in (0.1, 0.2)]  # fmt: skip
        tuned = TunedRecord(epochs=2, seed=1, candidates=short, chosen={"learning_rate": 0.1})
        write_record(f"{EXPERIMENT}/fno/n64/tuned.json", tuned)
        yield folder


def _write_plan():
    row = {"model": "fno", "label": "FNO", "recipe": None, "resolution": 64, "noise": 0.0,
           "runs": {"3": "burgers/fno/n64/seed3"}}  # fmt: skip
    experiment = {"title": "Burgers", "dataset": "burgers", "page": "burgers/report.html", "finest": 64,
                  "papers": [], "rows": [row]}  # fmt: skip
    dataset = {"page": "datasets/burgers.html", "card": "../../data/burgers/burgers.json",
               "preview": "none.npz", "store": "../../data/burgers/burgers.zarr"}  # fmt: skip
    planned = {"name": "tiny", "about": "", "experiments": {"burgers": experiment},
               "datasets": {"burgers": dataset}, "papers": {}, "pages": {}}  # fmt: skip
    write_study("results/tiny/study.json", planned, command="snakemake", provenance={"version": "1"})


def _write_judgement():
    settings = small("burgers", samples={"train": 6, "validation": 2, "test": 5}, samples_per_shard=4)
    labels = computed_arrays(settings, [("test", index) for index in range(5)])
    content = {"title": "Small", "given": "a function", "asked": "another", "tested": [64],
               "dataset": settings.model_dump(mode="json"), "test": tasks.marks_of(labels)}  # fmt: skip
    Path("tasks").mkdir()
    Path("tasks/tiny-v1.yaml").write_text(yaml.safe_dump(content))
    np.savez("theirs.npz", n64=1.1 * labels["n64/final_velocity"])
    judge("theirs.npz", "tiny-v1", Path("judged"), certify=True)
    judge("away", None, Path("confirmed"))


def console():
    return Console(file=StringIO(), width=100)


def read_a_run(folder):
    """Read all of a run in Python, in a terminal, on its pages and on its model card."""
    run = resolvent.load_run(folder)
    inputs = np.sin(2 * np.pi * np.arange(64) / 64)[None]
    prediction = run.predict(inputs)
    (loaded,) = read_runs([folder])
    run._repr_html_(), example_of(run.record), differences_from_paper([loaded])
    run_facts(run), model_card(run, [], None)
    own_task(run)
    record = {key: value for key, value in asdict(run.record).items() if key not in DESCRIPTIONS}
    return record, asdict(run.cost), run.errors, run.inputs, run.targets, run.equation, prediction


def read_a_card(path):
    """Read a dataset in all ways in which users do, and what its page, its metadata and a terminal show."""
    card = read_card(path)
    tree = resolvent.open_dataset(path)
    for name in card["groups"]:
        assert load_arrays(path, name, "test", 1)
    if len(card["groups"]) == 1:
        tree.numpy("test")
    faults = faults_of_dataset(path)
    describe(str(path), console())
    page = equation_of(card), groups(card), snippets(card, str(path), "s"), licence(card), bibtex(card)
    others(card["error_budget"]), without_budget(card)
    write_croissant("croissant.json", card=path, store="s", page="p")
    if faults:
        raise ResolventError(faults[0])
    numbers = {key: card[key] for key in ("groups", "samples", "seed", "stated_accuracy", "statistics")}
    settings = settings_on(card, path).model_dump()
    return numbers, settings, summary(card), checks_of(card["error_budget"]), page[1:]


def read_a_receipt(path):
    card = path.parent.with_suffix(".json")
    if faults := faults_of_dataset(card):
        raise ResolventError(faults[0])
    return [load_arrays(card, "n64", split) for split in ("train", "validation", "test")]


def read_a_judgement(path):
    tests = read_board([path.parent])
    print_board(tests, console())
    write_site(tests, Path("board"))
    return [(test.name, test.places, entry.record, entry.rows) for test in tests for entry in test.entries]


def read_the_baselines(path):
    return [
        (one.label, one.resolution, one.errors, asdict(one.cost)) for one in read_baselines([path.parent])
    ]


def read_the_plan(path):
    study = read_study(path.parent)
    read_results(study, path.parent)
    describe(str(path.parent), console())
    describe(RUN, console())
    return asdict(study)


def read_a_task(path):
    task = tasks.read_task(path.stem)
    return task.model_dump()


DESCRIPTIONS = ("computation", "look", "versions", "code_versions", "data_warnings", "metrics")
FAST = {
    "away/run.json": lambda path: read_a_run(path.parent),
    "away/cost.json": lambda path: read_a_run(path.parent),
    f"{RUN}/run.json": lambda path: read_a_run(path.parent),
    "judged/evaluation.json": read_a_judgement,
    "confirmed/evaluation.json": read_a_judgement,
    f"{EXPERIMENT}/baselines/cost.json": read_the_baselines,
    "results/tiny/study.json": read_the_plan,
    f"{EXPERIMENT}/fno/n64/tuned.json": lambda path: tuned_run({"training": {"epochs": 1}}, path),
    "tasks/tiny-v1.yaml": read_a_task,
}
SLOW = {  # read with the numbers of their store, or with the predictions of their run: a third as often
    "away/dataset.json": lambda path: read_a_run(path.parent),
    "data/burgers/burgers.json": read_a_card,
    "data/darcy/darcy.json": read_a_card,
    "data/lorenz63/lorenz63.json": read_a_card,
    "data/arrays/arrays.json": read_a_card,
    "data/burgers/burgers.shards/1.json": read_a_receipt,
}
READERS = FAST | SLOW
SHARES = dict.fromkeys(FAST, 3) | dict.fromkeys(SLOW, 1)


def places(content, place=()):
    """Yield the place of every value in a record: keys and indices."""
    entries = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in entries:
        yield (*place, key)
        if isinstance(value, dict | list):
            yield from places(value, (*place, key))


def at(content, place):
    for key in place:
        content = content[key]
    return content


OTHERS = [None, True, False, "", "text", "1.5", [], {}, [1.5], ["a", 1], {"a": 1}, 1.5, 7, -1, -2.5, 0, 
          10**15, 10**30, 10**400, 1e300, math.nan, math.inf, -math.inf, [[[[]]]], "\ud800"]  # fmt: skip


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def mutate(content, draw):
    """Return a mutated copy, the place and the new value, and whether a number has become something else."""
    content = copy.deepcopy(content)
    place = draw.choice(list(places(content)))
    within, key = at(content, place[:-1]), place[-1]
    value = within[key]
    kind = draw.choice(["other"] * 6 + ["nested", "as text", "as truth", "deleted", "added"])
    if kind == "deleted":
        del within[key]
        return content, place, "deleted", False
    if kind == "added":
        within.append(7) if isinstance(within, list) else within.update(unexpected=7)
        return content, place, "unexpected", False
    changed = {"nested": [value], "as text": str(value), "as truth": bool(value)}
    within[key] = changed[kind] if kind in changed else draw.choice(OTHERS)
    return content, place, within[key], is_number(value) and not is_number(within[key])


def damaged_text(text, draw):
    """Return the bytes of a file that was cut, or in which a byte is no UTF-8."""
    content, place = text.encode(), draw.randrange(1, len(text.encode()))
    return content[:place] if draw.random() < 0.5 else content[:place] + b"\xff" + content[place + 1 :]


def written(path, content):
    """Write a record without its digest, as earlier versions did: its types alone are looked at."""
    content.pop(OWN_DIGEST, None)
    text = yaml.safe_dump(content) if path.suffix == ".yaml" else json.dumps(content, indent=2)
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    return text


def with_store(path, content):
    """Let the store beside a card have the same mutated attributes."""
    store = path.with_suffix(".zarr") / "zarr.json"
    if store.exists() and path.parent.parent.name == "data":
        store.write_text(json.dumps(json.loads(store.read_text()) | {"attributes": content}))


def is_reported(message, path, place):
    """Return whether a message is a line with the file, or the run or store that it is of, and the field."""
    fields = {key for key in place if isinstance(key, str)} | {"unexpected", "the run of its folder"}
    named = any(str(file) in message for file in (path, path.parent, path.parent.with_suffix(".zarr")))
    return named and "\n" not in message and (not place or any(field in message for field in fields))


@pytest.mark.parametrize("name", READERS)
def test_a_mutated_record_is_refused_by_file_and_field_or_read_as_before(name, records, monkeypatch, fault):
    monkeypatch.chdir(records)
    monkeypatch.setattr(tasks, "FOLDER", records / "tasks")
    read, draw, path = READERS[name], random.Random(name), Path(name)
    store = path.with_suffix(".zarr") / "zarr.json"
    kept = {file: file.read_bytes() for file in (path, store) if file.is_file()}
    content = yaml.safe_load(kept[path]) if path.suffix == ".yaml" else json.loads(kept[path])
    content.pop(OWN_DIGEST, None)
    written(path, content)
    whole, failures = plain(read(path)), []
    count = -(-COUNT * SHARES[name] // sum(SHARES.values()))
    for _ in range(count):
        if draw.random() < 0.1:
            place, now, other = (), "cut, or no UTF-8", True
            path.write_bytes(damaged_text(kept[path].decode(), draw))
        else:
            mutated, place, now, other = mutate(content, draw)
            other = other and (path.suffix != ".yaml" or now != "1.5")  # YAML 1.1 has numbers as text
            written(path, mutated)
            with_store(path, mutated)
        try:
            same = plain(read(path)) == whole
            failure = "" if same or not other else "is read as another number"
        except ResolventError as error:
            failure = "" if is_reported(str(error), path, place) else str(error)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            failure = f"{type(error).__name__} in {where.filename}, line {where.lineno}: {error}"
        if failure:
            failures.append(f"{'.'.join(map(str, place))}: {now!r:.60}: {failure:.200}")
        for file, before in kept.items():
            file.write_bytes(before)
        fault("a mutated record")
    assert not failures, f"{len(failures)} of {count}\n" + "\n".join(failures)
