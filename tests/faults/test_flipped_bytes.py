"""A byte of a finished study is changed: the file is refused in one line, or no number differs.

FAULT_BYTES is how many are changed in files of each kind.
"""

import os
import random
from dataclasses import asdict

import numpy as np
import pytest
import torch

import resolvent
from resolvent.common.errors import ResolventError
from resolvent.common.files import read_json
from resolvent.common.runs import read_baselines_table, read_run
from resolvent.datasets.loading import load_arrays, read_card
from resolvent.figures.common.comparison import read_comparison
from resolvent.figures.common.results import read_arrays
from resolvent.figures.front.study import read_study

pytestmark = [pytest.mark.faults, pytest.mark.timeout(3600), pytest.mark.filterwarnings("ignore")]
COUNT = int(os.environ.get("FAULT_BYTES", "25"))
LARGEST = 2**22  # bytes of a file: larger ones only take longer


def dataset(path):
    """Read the card beside a file of a store, and all samples of it."""
    while path.suffix not in (".zarr", ".shards"):
        path = path.parent
    card = path.with_suffix(".json")
    facts = read_card(card)
    return facts, [load_arrays(card, group, split) for group in facts["groups"] for split in facts["samples"]]


def receipt(path):
    content = read_json(path, "the receipt")
    return content["errors"], content["digests"], dataset(path)


def run(path):
    """Read everything of a run that pages show."""
    results = read_run(path.parent)
    tables = (node.to_dataset().variables for node in results.predictions.subtree)
    kept = [{name: one.values for name, one in variables.items()} for variables in tables]
    return asdict(results.record), asdict(results.cost), results.errors, results.history, kept


def checkpoint(path):
    return resolvent.load_run(path.parent).checkpoint


def baselines(path):
    record, errors = read_baselines_table(path.parent)
    return asdict(record), errors


def comparison(path):
    return read_comparison(path.with_name("comparison.csv"))


def study(path):
    return asdict(read_study(path.parent))


RUN = "results/*/*/*/*/seed*"
READERS = {
    "data/*/*.zarr/**/zarr.json": dataset,
    "data/*/*.zarr/*/*/c/**/*": dataset,
    "data/*/*.shards/*.json": receipt,
    "data/*/*.json": read_card,
    "data/*/*.npz": read_arrays,
    f"{RUN}/run.json": run,
    f"{RUN}/cost.json": run,
    f"{RUN}/errors.csv": run,
    f"{RUN}/history.csv": run,
    f"{RUN}/predictions.nc": run,
    f"{RUN}/checkpoint.pt": checkpoint,
    "results/*/*/baselines/cost.json": baselines,
    "results/*/*/baselines/errors.csv": baselines,
    "results/*/*/comparison.csv": comparison,
    "results/*/*/models.csv": comparison,
    "results/*/study.json": study,
}


def plain(value):
    """Return a value as numbers, text and containers that `==` compares; NaN equals NaN."""
    if isinstance(value, torch.Tensor):
        value = value.numpy()
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tolist() if value.dtype.kind in "OUT" else value.tobytes()
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value.to_csv() if hasattr(value, "to_csv") else repr(value)


@pytest.mark.parametrize("pattern", READERS)
def test_a_changed_byte_is_refused_or_gives_the_same_numbers(pattern, project, fault):
    read, draw = READERS[pattern], random.Random(pattern)
    files = [path for path in sorted(project.folder.glob(pattern)) if path.is_file()]
    files = [path for path in files if 0 < path.stat().st_size < LARGEST]
    whole = {path: plain(read(path)) for path in files}
    for _ in range(COUNT):
        path = draw.choice(files)
        content = path.read_bytes()
        changed = bytearray(content)
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        path.write_bytes(changed)
        try:
            refusal, numbers = "", plain(read(path))
        except ResolventError as error:
            refusal, numbers = str(error), whole[path]
        path.write_bytes(content)
        assert numbers == whole[path], path
        assert "snakemake" in refusal or not refusal, refusal
        assert "\n" not in refusal
        fault(f"a changed byte of {pattern}")
