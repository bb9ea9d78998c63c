"""Read the files of an experiment's comparison.

`comparison.csv` is tidy: one row per model or baseline, condition, metric and statistic. `models.csv` has one
row per model or baseline and training condition, with facts that do not depend on the metric.
"""

from dataclasses import dataclass
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
STATISTIC = ["metric", "statistic", "value", "low", "high", "sample"]

COMPARISON_COLUMNS = {
    "kind": "`model` or `baseline`",
    "key": "name of the model in the configuration, or of the baseline",
    "label": "its name in tables and figures",
    "architecture": "architecture of the model; empty for a baseline",
    "trained_resolution": "number of points along each axis, or name of a set of times, in training",
    "test_resolution": "the same, in the test",
    "trained_noise": "level ε of the noise on the inputs in training",
    "test_noise": "the same, in the test",
    "metric": "column of errors.csv: `relative_l2`, `relative_h1`, …",
    "statistic": "`mean`, `median` or `worst` of the errors of all samples and seeds that finished, or "
    f"`{RATIO}`: the errors over those of the best of the other models, the geometric mean over samples and "
    f"seeds; `{TO_MEAN}` and `{TO_LINEAR}`: likewise over those of the mean of the training targets and of "
    "the linear operator that is fitted to them",
    "value": "the statistic; empty where every seed diverged or a baseline has no answer",
    "low": "lower end of its 95 % interval; of a ratio, it allows for the choice of the best",
    "high": "upper end",
    "sample": "index in the test split of the sample with the worst error",
    "seeds": "number of seeds with finite errors",
    "diverged_seeds": "number of seeds that diverged",
    "samples": "number of test samples",
    "status": "`finished`, `diverged (epoch …)`, or `no answer: …` with the reason",
}
MODELS_COLUMNS = {
    **{name: COMPARISON_COLUMNS[name] for name in (*MODEL, "label")},
    "best_test_mean": "mean relative L2 error at each seed's best epoch on the test samples, where recorded",
    "best_test_epoch": "mean of these epochs",
    "paper": "the paper with this example",
    "recipe": "`paper`, as its text has it, or `code`, as its public code does it; empty for neither",
    "reported": "the number that the paper reports for this model, only if the setting is that which made it",
    "reported_of_other_recipe": "the same, where the model follows the paper's text in everything and the "
    "public code, which differs from the text, made the number; it has no ratio",
    "ratio_to_reported": "ours over the reported number",
    "reported_worst": "the largest error that the paper reports, if any, in the same setting",
    "worst_ratio_to_reported": "ours over that",
    "ratio_of": "which of our numbers this ratio takes",
    "reported_note": "where the reported number is from, or why there is none",
    "tuned": "what short runs chose among, on validation samples; empty where nothing was tuned",
    "leads": "the metric that pages lead with: of standardised functions where targets are far from zero",
    "prediction_spread": "how much predictions differ from sample to sample, over how much targets do",
    "parameters": "number of parameters, a complex one counted twice",
    "parameters_complex_once": "number of parameters, a complex one counted once",
    "forward_flop": "operations of a forward pass of one sample",
    "train_seconds": "seconds of training, mean over the seeds that finished",
    "seconds_per_step": "seconds of an optimisation step, likewise",
    "energy_joules": "joules of training, likewise, where the machine counts them; cost.json says whose",
    "seconds_to_error": "seconds of training until the validation error first was at most a round number, as "
    "`0.1: 2.4; 0.05: 6`, likewise, of all that every seed reached; epochs are taken to last equally long",
    "steps": "number of optimisation steps, likewise",
    "device": "what the model was trained on",
    "dataset_hash": "content hash of the dataset",
    "config_hash": "hash of each run's configuration",
    "code_digest": "digest of the code that trained it",
}


@dataclass(frozen=True)
class Tested:
    """A model or baseline under one condition: its facts, and its errors by metric and statistic."""

    facts: dict
    errors: dict[tuple[str, str], Interval]

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
        return not (pd.isna(ratio.low) or pd.isna(ratio.high)) and self.facts["seeds"] >= SEEDS_TO_RANK

    def is_among_the_best(self, metric: str | None = None) -> bool:
        """Return whether it has learned, is ranked, and is not worse than the best other model."""
        return not self.verdict and self.is_ranked(metric) and bool(self.error(metric, RATIO).low <= 1)


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
        tested.append(Tested(rows.iloc[0].to_dict(), errors))
    return tested
