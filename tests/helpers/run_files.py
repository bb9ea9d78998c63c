"""Parts of synthetic run folders: digests kept true, and predictions at one level of noise."""

import json

import numpy as np
import pandas as pd

from resolvent.common.digests import write_digest
from resolvent.common.files import OWN_DIGEST
from resolvent.common.predictions import Chosen, at_one_level, tree_of, write_predictions
from resolvent.common.records import ESTIMATE_COLUMNS, INFERENCE_COLUMNS, RUN_FILES, CostRecord, file_digests
from resolvent.common.runs import save_table

IDENTITY = {"resolution": 64, "seed": 3, "config_hash": "c" * 12}  # of a run whose files are made by hand
COST = CostRecord(
    **IDENTITY, status="finished", diverged_epoch=None, epochs=2, steps=4, best_epoch=2,
    best_validation_relative_l2=0.5, best_test_epoch=None, best_test_relative_l2=None, parameters=10,
    parameters_complex_once=8, forward_flop=100, train_seconds=1.0, seconds_per_step=0.25,
    peak_memory_bytes=1000, device="cpu", processes=1, threads=1, micro_batch_size=2,
)  # fmt: skip


def vouched(directory):
    """Let the record in `directory` vouch for the files as they are now; returns the directory."""
    path = directory / "run.json"
    if path.exists():
        files = file_digests(directory, RUN_FILES)
    else:
        path, files = directory / "cost.json", file_digests(directory, ("errors.csv",))
    _change(path, files=files)
    return directory


def _change(path, **changes):
    """Change keys of a record, which then has no digest of its own."""
    content = json.loads(path.read_text()) | changes
    content.pop(OWN_DIGEST, None)
    path.write_text(json.dumps(content))


def write_inference(directory, *rows):
    """Write inference.csv of these rows, each without the columns that are empty; returns its path."""
    path = directory / "inference.csv"
    save_table(pd.DataFrame(list(rows), columns=list(INFERENCE_COLUMNS)), path)
    return path


def write_estimates(directory, *rows):
    """Write estimates.csv of these rows, each without the columns that are empty; returns its path."""
    path = directory / "estimates.csv"
    save_table(pd.DataFrame(list(rows), columns=list(ESTIMATE_COLUMNS)), path)
    return path


_PREDICTIONS = {}


def write_same_predictions(directory, parts, *made_of):
    """Write predictions.nc of `parts(*made_of)`, which are by resolution.

    That takes longer than all else of a run, so it is done once for all runs that are made of the same.
    """
    path = directory / "predictions.nc"
    if (parts, made_of) not in _PREDICTIONS:
        write_predictions(path, tree_of(parts(*made_of), {}))
        _PREDICTIONS[parts, made_of] = path.read_bytes()
    path.write_bytes(_PREDICTIONS[parts, made_of])


def set_resolution(directory, resolution):
    """Let the run in `directory` be trained and tested at another resolution, by its records."""
    _change(directory / "run.json", resolution=resolution, test_resolutions=[resolution])
    _change(directory / "cost.json", resolution=resolution)


def replace_errors(directory, table):
    """Let `table` be the errors of the run, or of the baselines, in `directory`."""
    table.to_csv(directory / "errors.csv", index=False)
    return vouched(directory)


def save_arrays(path, **arrays):
    """Write an .npz file with its digest beside it."""
    np.savez(path, **arrays)
    write_digest(path)


def one_level(
    noise, axes, inputs, targets, predictions, *, samples=(3, 11, 19, 27), extremes=(2, 5, 1),
    target_axes=None, power=None,
):  # fmt: skip
    """Return what is kept at one level of noise.

    The extremes are the first three samples, under other numbers; the mean squares are of the samples given.
    """
    mean_square = {"target": (targets**2).mean(axis=0), "error": ((predictions - targets) ** 2).mean(axis=0)}
    chosen = (
        Chosen(np.array(numbers), *(values[: len(numbers)] for values in (inputs, targets, predictions)))
        for numbers in (samples, extremes)
    )
    return at_one_level(noise, axes, target_axes or axes, *chosen, power, mean_square)


def square(x):
    """Axes of a square with the coordinates `x` on each side."""
    return {"y": x, "x": x}


def whole_card(card):
    """Return a dataset card with these facts, and of every other required key something that is accepted."""
    grid = {"kind": "periodic", "points": 8, "length": 1.0, "dimension": 1}
    groups = {}
    for group, facts in card["groups"].items():
        variables = {name: {"units": "1", "dimensions": ["sample", "x"]} | words
                     for name, words in facts["variables"].items()}  # fmt: skip
        groups[group] = {"grid": grid} | facts | {"variables": variables}
    arrays = [f"{group}/{name}" for group, facts in groups.items() for name in facts["variables"]]
    other = {"settings_hash": "5" * 12, "content_hash": "c" * 64, "seed": 1, "precision": "float64"}
    other |= {"identity": {}, "library_versions": {}, "stated_accuracy": 1e-6, "error_budget": {}}
    other["statistics"] = {name: dict.fromkeys(("mean", "std", "min", "max"), 0.0) for name in arrays}
    equation = {"in_words": "w", "in_symbols": "s", "operator": "u ↦ v", "source": "ours"} | card["equation"]
    return other | card | {"groups": groups, "equation": equation}


def burgers_card(**more):
    """Return the card of a small dataset of Burgers' equation, with `more` in place of its facts."""
    variables = {"initial_velocity": {"long_name": "before"}, "velocity": {"long_name": "after"}}
    facts = {
        "dataset": "burgers_cao", "equation": {}, "groups": {"n512": {"variables": variables}},
        "samples": {"train": 1, "validation": 1, "test": 64}, "settings": {"equation": "burgers"},
        "inputs": ["initial_velocity"], "targets": ["velocity"],
    }  # fmt: skip
    return whole_card(facts | more)
