"""What an experiment shows, in sentences: who is best and by how much, and what the labels allow."""

import pandas as pd

from resolvent.figures.common.comparison import (
    AGAINST,
    PHYSICAL,
    RATIO,
    STANDARDISED,
    TO_MEAN,
    Tested,
    by_condition,
)
from resolvent.figures.common.intervals import SEEDS_TO_RANK
from resolvent.figures.common.numbers import ends, error_in_words, scientific, times
from resolvent.figures.common.results import on_training_grid, resolution_in_words

LABELS_MATTER = 10  # an error less than so many times that of the labels is partly theirs


def verdicts(comparison: pd.DataFrame) -> list[str]:
    """Return a few sentences for each training resolution and noise, as tables and intervals have it."""
    found = by_condition(on_training_grid(comparison))
    places: dict[tuple, list[Tested]] = {}
    for one in found:
        facts = one.facts
        places.setdefault((facts["trained_resolution"], facts["trained_noise"]), []).append(one)
    noisy = len({noise for _, noise in places}) > 1
    return [
        # No line ends within a number.
        _verdict(f"On {resolution_in_words(place)}{f', noise {noise:g}' if noisy else ''}", rows)
        .replace(" × ", "\u00a0×\u00a0")
        .replace("95 %", "95\u00a0%")
        for (place, noise), rows in sorted(places.items())
        if any(one.facts["kind"] == "model" for one in rows)
    ]


def _verdict(where: str, rows: list[Tested]) -> str:
    models = sorted(
        (one for one in rows if one.facts["kind"] == "model" and one.error().known),
        key=lambda one: one.error().value,
    )
    if not models:
        return f"{where} every run diverged: there are no errors to compare."
    baselines = [one for one in rows if one.facts["kind"] == "baseline" and one.error().known]
    first, *others = models
    lowest = f"{_named(first)} has the lowest mean {error_in_words(first.leads)}, {_with_interval(first)}"
    little = [one for one in models if one.verdict]
    if len(little) == len(models):
        mean = [one for one in baselines if AGAINST.get(one.facts["key"]) == TO_MEAN]
        beside = f"; that of the mean of the targets is {scientific(mean[0].error().value)}" if mean else ""
        words = [f"{where} no model has learned more than the mean of the targets: {lowest}{beside}."]
    else:
        words = [f"{where} {lowest}."]
        if others:
            words.append(_difference(first, others, models))
        words += [f"{_named(one)} {one.verdict}." for one in little]
    if first.leads == STANDARDISED:
        words.append(
            "These are errors after subtracting the mean of the targets and dividing by their deviation: the "
            "mean is far from zero, so that the error in physical units, "
            f"{scientific(first.error(PHYSICAL).value)}, says little."
        )
    if functions := _by_function(first):
        words.append(f"By function its errors are {functions}.")
    if baselines:
        best = min(baselines, key=lambda one: one.error().value)
        words.append(f"The best baseline, “{best.facts['label']}”, has {scientific(best.error().value)}.")
    return " ".join(words)


def _by_function(one: Tested) -> str:
    """Return the mean physical error of each of several functions; nothing where there is one."""
    found = {metric: error.value for (metric, statistic), error in one.errors.items() if statistic == "mean"}
    names = [metric for metric in found if metric.startswith(f"{PHYSICAL}_")]
    return ", ".join(f"{scientific(found[name])} ({name.removeprefix(f'{PHYSICAL}_')})" for name in names)


def _difference(first: Tested, others: list[Tested], models: list[Tested]) -> str:
    """Say whether the others are shown to be worse, as the bold numbers of the table do."""
    if not any(one.is_ranked() for one in models):
        ratio = others[0].error().value / first.error().value
        return (
            f"{_named(others[0])} comes next with {times(ratio)} times that, but nothing is ranked: that "
            f"takes {SEEDS_TO_RANK} seeds of a model."
        )
    among = [one for one in models if one.is_among_the_best()]
    if len(among) == 1:
        ratio = among[0].error(statistic=RATIO)
        return (
            f"The difference is real: {_named(among[0])} has {times(ratio.value)} times the errors of the "
            f"best of the others, sample by sample (95 % interval {times(ratio.low)} to {times(ratio.high)})."
        )
    names = ", ".join(_named(one) for one in among)
    return f"The data do not show which of these is best: {names}." if among else ""


def _named(one: Tested) -> str:
    return f"“{one.facts['label']}”"


def _with_interval(one: Tested) -> str:
    error = one.error()
    interval = ends(error.low, error.high, error.value)  # of one sample there is none
    return scientific(error.value) + (f", with the 95 % interval {interval}" if interval else "")


def about_labels(comparison: pd.DataFrame, accuracy: float | None) -> dict | None:
    """Return how accurate the labels are beside the smallest mean error of a model; None where it is unknown.

    `accuracy` is what every check of the dataset stays below. `matter` says that the labels' own errors
    may be part of what is measured.
    """
    found = [one for one in by_condition(on_training_grid(comparison)) if one.facts["kind"] == "model"]
    errors = [one.error().value for one in found if one.error().known]
    if not accuracy or not errors:
        return None
    times_larger = min(errors) / accuracy
    return {
        "accuracy": accuracy,
        "smallest": min(errors),
        "times": times_larger,
        "matter": times_larger < LABELS_MATTER,
    }
