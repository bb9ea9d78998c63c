"""The tables of docs/formats.md: every field of what the pipeline writes, its type and its meaning.

The fields and types are those of the classes and tables that read and write the files; the words are here.
"""

from __future__ import annotations

from dataclasses import MISSING, fields

from resolvent.common.predictions import WORDS
from resolvent.common.records import (
    INFERENCE_COLUMNS,
    BaselineCost,
    BaselinesRecord,
    CostRecord,
    RunRecord,
    TunedRecord,
)
from resolvent.datasets.verify import CARD, CHECK, RECEIPT
from resolvent.documentation.pages import table
from resolvent.figures.common.comparison import COMPARISON_COLUMNS, MODELS_COLUMNS

TYPES = {
    "str": "text",
    "int": "integer",
    "float": "number",
    "dict": "mapping",
    "list": "list",
    "None": "null",
}
OF_CARD = {
    "dataset": "name of the dataset in the configuration",
    "settings_hash": "the first 12 digits of the SHA-256 of `settings`, as JSON with sorted keys; the name "
    "of the files",
    "content_hash": "SHA-256 of the digests of all arrays, by shard and, within one, by name: equal numbers, "
    "equal hash",
    "equation": "the equation `in_words`, `in_symbols` and `in_latex`, its `parameters`, the `operator` to "
    "learn, the `source`",
    "inputs": "names of the input variables",
    "targets": "names of the target variables",
    "groups": "of each group its `grid` (`kind`, `points`, `length`, `dimension`; or `positions` in time) "
    "and its `variables` with `long_name`, `units` and `dimensions`",
    "samples": "size of each split, in stored order",
    "seed": "seed of every random draw",
    "precision": "in which precision the numbers were computed and are stored",
    "stated_accuracy": "largest relative L2 error that an entry `against_…` of the error budget may have",
    "error_budget": "measured errors of stored solutions; below",
    "statistics": "`mean`, `std`, `min` and `max` of every array",
    "settings": "the dataset's settings, as the configuration has them with all defaults",
    "code_digest": "digest of the code that made it",
    "library_versions": "versions of the libraries that compute and store",
}
OF_CHECK = {
    "samples": "number of samples that were checked",
    "of": "number of samples of the dataset",
    "median_relative_l2": "median over these samples of the relative L2 error",
    "largest_relative_l2": "the largest of them; at most `stated_accuracy`",
}
OF_RECEIPT = {
    "shard": "number of the shard, from 0",
    "code_digest": "digest of the code that made it",
    "checksums": "CRC-32C of the numbers of each sample, in order, by array; held whenever a sample is read",
    "digests": "SHA-256 of the shard's numbers (little-endian, C order) by array, whatever their compression",
    "errors": "errors that were estimated of each sample, in order, by name; Kolmogorov flow has "
    "`over_the_lead_time`",
}
OF_RUN = {
    "experiment": "name of the experiment",
    "model": "name of the model in the configuration",
    "label": "its name in tables and figures",
    "architecture": "name of the architecture, or `module:SettingsClass`",
    "recipe": "`paper` or `code`, what the model starts from; null: the architecture's defaults",
    "settings": "settings of the architecture",
    "look": "colour and marker of the architecture in figures; null: a colour that no other model has",
    "cut_off": "largest wavenumber along an axis that its layers pass on, in cycles; null: all",
    "grids": "which grids input and target are on: `stored`, or `fine` or `coarse` for both",
    "grid": "grid of the training inputs, as on the card",
    "coarse_points": "points a side of a coarse grid inside of the model, or of the targets of an inverse "
    "problem",
    "resolution": "training resolution: points along each axis, or the name of a set of times",
    "test_resolutions": "resolutions of the test",
    "test_noise": "levels of the noise on the inputs in the test",
    "noise_realisations": "draws of the noise for each sample, at levels above 0",
    "seed": "seed of the initial weights and of the order of the samples",
    "dataset": "name of the dataset",
    "dataset_settings": "its settings",
    "dataset_hash": "its `content_hash`",
    "training": "settings of the training, and the number of samples of each split that this run used",
    "config_hash": "hash of all that determines the training but resolution, seed and data",
    "code_digest": "digest of the code that trained it",
    "versions": "versions of NumPy, and of torch and every other package that the network comes from",
    "computation": "optimiser and arithmetic of the training: the optimiser and its constants, "
    "whether an incomplete last batch is left out, types of weights and products",
    "data_warnings": "what the check of an imported dataset remarks on",
    "targets": "on imported data: `names` of the target functions, their `mean` and `deviation` in training",
    "prediction_spread": "how much predictions differ from sample to sample, over how much targets do: 0 "
    "where they are the same for every input",
    "metrics": "`label` and `description` of every metric of errors.csv, by its column",
    "files": "SHA-256 of history.csv, errors.csv, predictions.nc and checkpoint.pt; exported runs have no "
    "checkpoint",
    "tuning": "the content of tuned.json, where training settings were tuned",
}
OF_COST = {
    "resolution": "as in run.json",
    "seed": "as in run.json",
    "config_hash": "as in run.json",
    "status": "`finished` or `diverged`",
    "diverged_epoch": "epoch in which it diverged",
    "epochs": "epochs trained",
    "steps": "optimisation steps",
    "best_epoch": "epoch of the checkpoint; 0 if there is none",
    "best_validation_relative_l2": "mean relative L2 error of the validation samples in that epoch",
    "best_test_epoch": "epoch of the lowest test error, for runs that record it",
    "best_test_relative_l2": "that error",
    "parameters": "real numbers trained, a complex one counted as two",
    "parameters_complex_once": "the same, a complex one counted as one",
    "forward_flop": "operations of one output at the training resolution",
    "train_seconds": "seconds of training",
    "seconds_per_step": "seconds of a step",
    "peak_memory_bytes": "bytes of memory at the most, of one process",
    "device": "what it was trained on",
    "processes": "processes that trained it",
    "threads": "CPU threads of each",
    "micro_batch_size": "samples of a batch that were in memory at once",
}
OF_TUNED = {
    "epochs": "epochs of every short run",
    "seed": "seed of every short run",
    "candidates": "what was tried, in order: `settings`, `validation_relative_l2` (null if it diverged), "
    "`diverged_epoch`, `train_seconds`",
    "chosen": "settings of the lowest of these errors; the first candidate if all diverged",
}
OF_BASELINES = {
    "experiment": "name of the experiment",
    "dataset_hash": "the `content_hash` of the dataset",
    "costs": "what each baseline costs, by resolution and name; below",
    "metrics": "as in run.json",
    "files": "SHA-256 of errors.csv",
}
OF_BASELINE = {
    "label": "its name in tables and figures",
    "seconds_per_sample": "seconds of one answer; null if it has none",
    "parameters": "numbers fitted",
    "no_answer": "why it has no answer to some sample; null if it has",
}

LEADERBOARD = {
    "experiment": "name of the experiment",
    "problem": "its title",
    "paper": "papers that it is of, by `; `",
    "model": "name of the model in the configuration",
    "label": "its name in tables and figures",
    "recipe": "`paper` or `code`; empty for neither",
    "trained_resolution": "training resolution, at which it is tested here",
    "noise": "level of the noise on the inputs, in training and test",
    "seeds": "number of seeds that are asked for",
    "finished": "number of those that finished",
    "diverged": "number of those that diverged; the others are missing",
    "metric": "`relative_l2`, or that of standardised functions where imported targets are far from zero",
    "error": "mean error in this metric over the test samples and seeds",
    "low": "lower end of its 95 % interval",
    "high": "upper end",
    "verdict": "how it compares with the best of the others, in words",
    "ratio_to_best_other": "its errors over those of the best of the other models, sample by sample",
    "ratio_low": "lower end of the interval of this ratio",
    "ratio_high": "upper end",
    "classical_solver": "mean error of the classical solver on the same grid",
    "train_seconds": "seconds of training, mean over the seeds that finished",
}


def tables() -> dict[str, str]:
    """Return the tables in Markdown, by the name of their region on the page."""
    return {
        "card": _of_types(CARD, OF_CARD),
        "check": _of_types(CHECK, OF_CHECK),
        "receipt": _of_types(RECEIPT, OF_RECEIPT),
        "run": _of_record(RunRecord, OF_RUN),
        "cost": _of_record(CostRecord, OF_COST),
        "tuned": _of_record(TunedRecord, OF_TUNED),
        "baselines": _of_record(BaselinesRecord, OF_BASELINES),
        "baseline": _of_record(BaselineCost, OF_BASELINE),
        "predictions": _table(("name", "meaning"), [(f"`{name}`", words) for name, words in WORDS.items()]),
        "comparison": _of_columns(COMPARISON_COLUMNS),
        "models": _of_columns(MODELS_COLUMNS),
        "inference": _of_columns(INFERENCE_COLUMNS),
        "leaderboard": _of_columns(LEADERBOARD),
    }


def _of_types(types: dict[str, type], words: dict[str, str]) -> str:
    _same_keys(types, words)
    rows = [(f"`{key}`", TYPES[kind.__name__], words[key]) for key, kind in types.items()]
    return _table(("key", "type", "meaning"), rows)


def _of_record(kind: type, words: dict[str, str]) -> str:
    _same_keys({one.name: one for one in fields(kind)}, words)
    rows = []
    for one in fields(kind):
        types = " or ".join(TYPES[part.strip()] for part in str(one.type).split("|"))
        optional = one.default is not MISSING or one.default_factory is not MISSING
        rows.append((f"`{one.name}`", types + (", optional" if optional else ""), words[one.name]))
    return _table(("key", "type", "meaning"), rows)


def _of_columns(columns: dict[str, str]) -> str:
    return _table(("column", "meaning"), [(f"`{name}`", words) for name, words in columns.items()])


def _same_keys(given: dict, words: dict[str, str]) -> None:
    if given.keys() != words.keys():
        raise KeyError(f"described otherwise than written: {', '.join(sorted(given.keys() ^ words.keys()))}")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    return table(head, rows, rule=" --- ")
