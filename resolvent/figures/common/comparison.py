"""Read the files of an experiment's comparison.

`comparison.csv` is tidy: one row per model or baseline, condition, metric and statistic. `models.csv` has one
row per model or baseline and training condition, with facts that do not depend on the metric.
"""

import math
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from resolvent.figures.common.intervals import SEEDS_TO_RANK, UNKNOWN, Interval
from resolvent.figures.common.numbers import error_in_words
from resolvent.figures.common.results import read_table

MODELS_FILE = "models.csv"
RATIO = "ratio_to_best_other"
TO_MEAN, TO_LINEAR = "ratio_to_mean", "ratio_to_linear"
AGAINST = {"mean_predictor": TO_MEAN, "ridge_regression": TO_LINEAR}  # baselines that every model should beat
LEARNT = 0.9  # ratio to the errors of the mean: a model not shown to be below has learned next to nothing
CONSTANT = 1e-3  # ratio of spreads of predictions and targets: below, predictions are constant
PHYSICAL, STANDARDISED = "relative_l2", "standardised_relative_l2"
MODEL = ("kind", "key", "trained_resolution", "trained_noise")  # identify a row of models.csv
CONDITION = (*MODEL, "test_resolution", "test_noise")
CONTEST = ("trained_resolution", "test_resolution", "test_noise")  # the same for all models that are compared
STATISTIC = ["metric", "statistic", "value", "low", "high", "sample"]

COMPARISON_COLUMNS = {
    "kind": "`model` or `baseline`",
    "key": "name of the model in the configuration, or name of the baseline",
    "label": "name in tables and figures",
    "architecture": "architecture of the model; empty for a baseline",
    "trained_resolution": "training resolution: points along each axis, or name of a set of times",
    "test_resolution": "test resolution, in the same form",
    "trained_noise": "noise level ε of the training inputs",
    "test_noise": "noise level ε of the test inputs",
    "metric": "column of errors.csv: `relative_l2`, `relative_h1`, …",
    "statistic": "`mean`, `median` or `worst` error over all samples and finished seeds, or a ratio of mean "
    f"errors on the same samples: `{RATIO}` is the ratio to the best other model, `{TO_MEAN}` to the mean of "
    f"the training targets, `{TO_LINEAR}` to a linear operator fitted to the training data",
    "value": "value of the statistic; empty if every seed diverged or the baseline has no answer",
    "low": f"lower end of the 95 % interval; for `{RATIO}` it accounts for the selection of the best",
    "high": "upper end of the interval",
    "sample": "index in the test split of the sample with the worst error",
    "seeds": "number of seeds with finite errors",
    "diverged_seeds": "number of seeds that diverged",
    "samples": "number of test samples",
    "status": "`finished`, `diverged (epoch …)`, or `no answer: …` with the reason",
}
MODELS_COLUMNS = {
    **{name: COMPARISON_COLUMNS[name] for name in (*MODEL, "label")},
    "best_test_mean": "lowest test error (relative L2) of any epoch, mean over the seeds; only if recorded",
    "best_test_epoch": "epoch of this error, mean over the seeds",
    "paper": "paper that this example is from",
    "recipe": "`paper`: settings from the paper's text; `code`: from its public code; empty: neither",
    "reported": "error that the paper reports for this model; empty if it was obtained with other settings",
    "reported_of_other_recipe": "reported error, if the model follows the paper's text, but the number was "
    "obtained with the public code, which differs from the text; no ratio is computed",
    "ratio_to_reported": "our error divided by the reported error",
    "reported_worst": "largest error that the paper reports for the same setting, if any",
    "worst_ratio_to_reported": "our largest error divided by `reported_worst`",
    "ratio_of": "which of our errors `ratio_to_reported` uses",
    "reported_note": "source of the reported number, or why there is none",
    "tuned": "settings compared by short runs on validation samples; empty if nothing was tuned",
    "leads": "main metric of the pages: a standardised metric if the targets are far from zero",
    "prediction_spread": "standard deviation of the predictions over samples, divided by that of the targets",
    "parameters": "number of parameters; complex parameters count twice",
    "parameters_complex_once": "number of parameters; complex parameters count once",
    "forward_flop": "operations of a forward pass for one sample",
    "train_seconds": "training time in seconds, mean over the finished seeds",
    "seconds_per_step": "time of an optimisation step in seconds, mean over the finished seeds",
    "seconds_to_error": "training time until the validation error first reached round values, as in "
    "`0.1: 2.4; 0.05: 6`: mean over the finished seeds, for values that every seed reached; all epochs are "
    "assumed to take the same time",
    "steps": "number of optimisation steps, mean over the finished seeds",
    "device": "device on which the model was trained",
    "dataset_hash": "content hash of the dataset",
    "config_hash": "hash of each run's configuration",
    "code_versions": "versions of what trained it",
}


Place = tuple[int | str, int | str, float]  # resolutions of training and test, and input noise of training


@dataclass
class Tested:
    """A model or baseline under one condition: its facts, and its errors by metric and statistic."""

    facts: dict
    errors: dict[tuple[str, str], Interval]
    seeds: dict[str, int] = field(default_factory=dict)  # number with finite errors, by metric
    # Lowest mean error of a model that is shown to be worse than the best, by metric.
    worse_from: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> tuple[str, str]:
        """Return the kind, `model` or `baseline`, and the key."""
        return self.facts["kind"], self.facts["key"]

    @property
    def place(self) -> Place:
        facts = self.facts
        return facts["trained_resolution"], facts["test_resolution"], float(facts["trained_noise"])

    @property
    def leads(self) -> str:
        return self.facts.get("leads", PHYSICAL)

    @property
    def verdict(self) -> str:
        """Return a remark if a model is not shown to have learned more than next to nothing."""
        if self.facts.get("prediction_spread", CONSTANT) < CONSTANT:
            return "predicts the same for every input"
        ratio = self.error(statistic=TO_MEAN)
        how = "worse" if ratio.low > 1 else "no better" if ratio.high > 1 else "hardly better"
        return f"is {how} than the mean of the targets" if ratio.high > LEARNT else ""

    def error(self, metric: str | None = None, statistic: str = "mean") -> Interval:
        """Return a statistic of a metric, by default the leading metric; NaN if not measured."""
        return self.errors.get((metric or self.leads, statistic), UNKNOWN)

    def is_ranked(self, metric: str | None = None) -> bool:
        """Return whether it is compared with other models and has enough seeds to be called worse."""
        ratio = self.error(metric, RATIO)
        seeds = self.seeds.get(metric or self.leads, 0)
        return not (pd.isna(ratio.low) or pd.isna(ratio.high)) and seeds >= SEEDS_TO_RANK

    def is_worse(self, metric: str | None = None) -> bool:
        """Return whether it is shown to be worse than the best other model."""
        return self.is_ranked(metric) and bool(self.error(metric, RATIO).low > 1)

    def is_among_the_best(self, metric: str | None = None) -> bool:
        """Return whether it has learned, is ranked, and has a lower mean than any model shown worse."""
        worse = self.worse_from.get(metric or self.leads, math.inf)
        return not self.verdict and self.is_ranked(metric) and self.error(metric).value < worse


def read_comparison(path: str | Path) -> pd.DataFrame:
    """Read a comparison.csv, and add the facts of each row's model from models.csv."""
    path = Path(path)
    rows = read_table(path, list(COMPARISON_COLUMNS))
    return with_facts(rows, read_table(path.with_name(MODELS_FILE), list(MODELS_COLUMNS)))


def with_facts(rows: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    return rows.merge(models.drop(columns="label"), on=list(MODEL), how="left", validate="many_to_one")


def leading(comparison: pd.DataFrame) -> str:
    return comparison["leads"].iloc[0]


def mean_error(comparison: pd.DataFrame) -> str:
    """Return the axis label of the mean error in the leading metric."""
    return f"mean {error_in_words(leading(comparison))}"


def errors_of(comparison: pd.DataFrame, metric: str, statistic: str) -> pd.DataFrame:
    return comparison[(comparison["metric"] == metric) & (comparison["statistic"] == statistic)]


def by_condition(comparison: pd.DataFrame) -> list[Tested]:
    """Group rows by model or baseline and condition, in the comparison's order."""
    tested = []
    for _, rows in comparison.groupby(list(CONDITION), sort=False):
        errors = {
            (metric, statistic): Interval(*row)
            for metric, statistic, *row in rows[STATISTIC].itertuples(index=False)
        }
        seeds = dict(zip(rows["metric"], rows["seeds"], strict=True))
        tested.append(Tested(rows.iloc[0].to_dict(), errors, seeds))
    contests: dict[tuple, dict[str, float]] = {}
    for each in tested:
        worse_from = contests.setdefault(tuple(each.facts[name] for name in CONTEST), {})
        each.worse_from = worse_from
        for metric in each.seeds:
            if each.is_worse(metric):
                lowest = worse_from.get(metric, math.inf)
                worse_from[metric] = min(lowest, each.error(metric).value)
    return tested
