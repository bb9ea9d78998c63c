"""Results of an experiment in sentences: best model, margin, and limits due to the labels' accuracy."""

from collections.abc import Sequence

import pandas as pd

from resolvent.figures.common import comparison as tidy
from resolvent.figures.common.comparison import Tested
from resolvent.figures.common.intervals import SEEDS_TO_RANK
from resolvent.figures.common.numbers import absent, ends, error_in_words, scientific, times
from resolvent.figures.common.results import grids_in_words, on_home_grid, resolution_in_words

LABELS_MATTER = 10  # a smaller ratio of an error to the labels' error is partly due to the labels


def verdicts(comparison: pd.DataFrame, functions: Sequence[str] = ()) -> list[str]:
    """Return some sentences per training resolution and noise, consistent with tables and intervals.

    `functions` are the names of the targets, which have errors of their own if there are several.
    """
    places: dict[tuple, dict[str, list[Tested]]] = {}
    for tested in tidy.by_condition(on_home_grid(comparison)):
        places.setdefault(tested.place, {"model": [], "baseline": []})[tested.facts["kind"]].append(tested)
    noisy = len({noise for *_, noise in places}) > 1
    sentences = []
    for (trained, on_grid, noise), of_place in sorted(places.items()):
        where = f"On {resolution_in_words(trained)}{f', noise {noise:g}' if noisy else ''}"
        if on_grid != trained:
            where = f"Trained on {grids_in_words(trained, on_grid)},"
        if of_place["model"]:
            words = _verdict(where, _known(of_place["model"]), _known(of_place["baseline"]), functions)
            # No line breaks inside a number.
            sentences.append(words.replace(" × ", "\u00a0×\u00a0").replace("95 %", "95\u00a0%"))
    return sentences


def _known(rows: list[Tested]) -> list[Tested]:
    """Return the rows with an error, lowest first."""
    known = [tested for tested in rows if tested.error().known]
    return sorted(known, key=lambda tested: tested.error().value)


def _verdict(where: str, models: list[Tested], baselines: list[Tested], functions: Sequence[str]) -> str:
    if not models:
        return f"{where} every run diverged, so there are no errors to compare."
    first, error = models[0], models[0].error()
    lowest = f"{_named(first)} has the lowest mean {error_in_words(first.leads)}, {scientific(error.value)}"
    if interval := ends(error.low, error.high, error.value):  # one sample has no interval
        lowest += f", with the 95 % interval {interval}"
    if all(model.verdict for model in models):
        mean = [baseline for baseline in baselines if tidy.AGAINST.get(baseline.facts["key"]) == tidy.TO_MEAN]
        of_mean = f"; the mean of the targets has {scientific(mean[0].error().value)}" if mean else ""
        none = "no model is clearly better than predicting the mean of the targets"
        words = [f"{where} {none}: {lowest}{of_mean}."]
    else:
        words = [f"{where} {lowest}."]
        words += [_difference(models)] if len(models) > 1 else []
        words += [f"{_named(model)} {model.verdict}." for model in models if model.verdict]
    if first.leads == tidy.STANDARDISED:
        words.append(
            "These are errors of standardised functions: the mean of the targets is far from zero, so the "
            f"error in physical units, {scientific(first.error(tidy.PHYSICAL).value)}, means little."
        )
    by_function = {name: first.error(f"{tidy.PHYSICAL}_{name}") for name in functions}
    each = [f"{scientific(error.value)} ({name})" for name, error in by_function.items() if error.known]
    if each:
        words.append(f"Its errors by function: {', '.join(each)}.")
    if baselines:
        label, best = baselines[0].facts["label"], baselines[0].error().value
        words.append(f"The best baseline, “{label}”, has {scientific(best)}.")
    return " ".join(words)


def _difference(models: list[Tested]) -> str:
    """Return a sentence on the models shown to be worse than the first, consistent with bold numbers."""
    if not any(model.is_ranked() for model in models):
        lowest, error = (model.error().value for model in models[:2])
        words = f"{times(error / lowest)} times that error" if lowest else scientific(error)
        why = f"Models are ranked only with {SEEDS_TO_RANK} seeds or more."
        ratios = [model.error(statistic=tidy.RATIO) for model in models]
        if not any(ratio.known for ratio in ratios):
            why = "They cannot be ranked: an error is zero, or their targets differ."
        elif all(absent(ratio.low) for ratio in ratios):
            why = "They cannot be ranked on one test sample."
        return f"{_named(models[1])} is next with {words}. {why}"
    among = [model for model in models if model.is_among_the_best()]
    if len(among) == 1:
        over, name = among[0].error(statistic=tidy.RATIO), _named(among[0])
        if over.high >= 1:  # such as with a model of fewer seeds
            return f"The data do not show that {name} is better than every other model."
        return (
            f"The difference is real: {name} has {times(over.value)} times the mean error of the "
            f"best other model (95 % interval {times(over.low)} to {times(over.high)})."
        )
    return f"The data do not show which of these is best: {', '.join(map(_named, among))}." if among else ""


def _named(tested: Tested) -> str:
    return f"“{tested.facts['label']}”"


def about_labels(comparison: pd.DataFrame, card: dict) -> dict | None:
    """Return the accuracy of the labels relative to the smallest mean error of a model, or None if unknown.

    Imported data have no stated accuracy. `matter` means that the labels' errors may be part of the measured
    errors.
    """
    solved = any(name.startswith("against_") for name in card["error_budget"])
    accuracy = card["stated_accuracy"] if solved else None
    every = tidy.by_condition(on_home_grid(comparison))
    models = _known([tested for tested in every if tested.facts["kind"] == "model"])
    if not accuracy or not models:
        return None
    smallest = models[0].error().value
    larger = smallest / accuracy
    return {"accuracy": accuracy, "smallest": smallest, "times": larger, "matter": larger < LABELS_MATTER}
