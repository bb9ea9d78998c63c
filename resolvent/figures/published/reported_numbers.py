"""Reported numbers of the papers, their comparability with our runs, and descriptions of runs.

A reported number is a measurement in one setting. It is compared with a run only if all fields of the run
agree (`resolvent.figures.published.recipe`); otherwise the reason lists the differences. If a paper's text
and public code differ, the numbers come from the code: next to a run that follows the text, the number is
marked as from another recipe and not compared.
"""

import math
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from resolvent.common.counts import counted
from resolvent.common.records import CostRecord, RunRecord
from resolvent.figures.common.numbers import duration
from resolvent.figures.common.results import Run
from resolvent.figures.published.recipe import (
    Condition,
    differing,
    expected_of,
    fields_of,
    meets,
    sources_of,
)
from resolvent.figures.published.tables import Example, PaperTable

# Examples of all papers, found in every folder of papers with a `reported.py`.
EXAMPLES: tuple[Example, ...] = tuple(
    example
    for file in sorted(Path(__file__).parents[1].glob("papers/*/reported.py"))
    for example in import_module(f"resolvent.figures.papers.{file.parent.name}.reported").EXAMPLES
)
MADE_BY: str = "code"  # the recipe of the reported numbers, if text and code differ


@dataclass(frozen=True)
class Reported:
    """A paper's reported number for a run.

    value         the number; None if it cannot be compared (`reason` says why).
    digits        as printed; "" if the paper has no such row.
    best_epoch    if the paper reports it.
    worst         the reported largest error, if `value` is known; None if not reported.
    other_recipe  whether the run follows the paper's text in all fields, but the number comes from its code,
                  which differs from the text; `reason` lists the differences.
    """

    value: float | None
    digits: str
    reason: str
    best_epoch: str = ""
    other_recipe: bool = False
    unit: float = 1.0
    worst: float | None = None

    @property
    def shown(self) -> float | None:
        """Return the number if a page may show it: for comparison, or marked as from another recipe."""
        return float(self.digits) * self.unit if self.value is not None or self.other_recipe else None


def record(facts: RunRecord) -> dict:
    """Return all recorded settings of a run.json by key, without the names of their blocks."""
    recorded = {name.rpartition(".")[2]: value for name, value in fields_of(facts).items()}
    return recorded | {"recipe": facts.recipe, "resolution": facts.resolution, "grids": facts.grids}


def example_of(facts: RunRecord) -> Example | None:
    """Return the paper's example that matches a run of any size; None if the equation is in no paper.

    The matching example with the most conditions is returned: Darcy flow with the distribution of a paper
    belongs to that paper, and with any other distribution to the paper without a condition on it.
    """
    recorded = fields_of(facts)
    having = [example for example in EXAMPLES if meets(recorded, example.marks)]
    return max(having, key=lambda example: len(example.marks), default=None)


def tables_of(facts: RunRecord) -> tuple[PaperTable, ...]:
    """Return the tables of errors with runs of this example."""
    example = example_of(facts)
    return example.tables if example else ()


def differences(
    facts: RunRecord, cost: CostRecord, table: PaperTable | None = None, recipe: str = MADE_BY
) -> list[str]:
    """List differences between a run (run.json `facts`, cost.json) and the setting of a table's numbers.

    Without a table, the table with a matching row and the fewest differences is used, or the example only.
    With the `recipe` "paper", the run is compared with the paper's text.
    """
    example = example_of(facts)
    if example is None:
        return [f"equation {facts.dataset_settings.get('equation')}, which is not in the paper"]
    having = [table for table in example.tables if table.row(record(facts)) is not None]
    tables = having if table is None and having else [table]
    return min((_differences(example, facts, cost, table, recipe) for table in tables), key=len)


def _differences(
    example: Example, facts: RunRecord, cost: CostRecord, table: PaperTable | None, recipe: str
) -> list[str]:
    recorded, made_by = fields_of(facts), recipe if example.recipes else "paper"
    stated = conditions(example, table, recipe)
    expected, sources = expected_of(recorded, stated), sources_of(recorded, stated)
    # A setting and what was recorded of its effect may differ both: "optimiser adam", "optimiser Adam".
    lines = differing(recorded, expected, made_by, sources)
    differ = list({line.partition(" (")[0].lower(): line for line in lines}.values())
    differ += [f"imported data differ from their description: {warning}" for warning in facts.data_warnings]
    if facts.home != facts.resolution:
        differ.append(f"tested at {facts.home}, not at the training resolution {facts.resolution}")
    low, high = example.source.parameters(record(facts), table) or (0, math.inf)
    count = getattr(cost, (table.counted if table else "") or example.source.counted)
    if count is None:
        differ.append("parameters were not counted as in the paper")
    elif not low <= count <= high:
        differ.append(f"{count:,} parameters (paper {low:,} to {high:,})")
    return differ


def conditions(example: Example, table: PaperTable | None, recipe: str) -> tuple[Condition, ...]:
    """Return all conditions on a run of this example and table with this recipe."""
    of_table = (*table.where, *table.recipes.get(recipe, ())) if table else ()
    return (*example.setting, *example.recipes.get(recipe, ()), *of_table)


def reported_number(facts: RunRecord, cost: CostRecord, table: PaperTable | None = None) -> Reported:
    """Return the paper's number for this run, or the reason that there is none.

    Without a table, the first of the example's tables with the fewest differences is used.
    """
    example, recorded = example_of(facts), fields_of(facts)
    source = example.source.citation if example else "the paper"
    tables = [table] if table else tables_of(facts)
    rows = [(table, row) for table in tables if (row := table.row(record(facts))) is not None]
    having = [(differences(facts, cost, table), table, row) for table, row in rows]
    if example is None or not having:
        return Reported(None, "", f"{source}{f', {table.name}' if table else ''} has no such row")
    differ, closest, row = min(having, key=lambda differences_of: len(differences_of[0]))
    stated = conditions(example, closest, MADE_BY)
    expected, sources = expected_of(recorded, stated), sources_of(recorded, stated)
    learnt = {name: recorded[name] for name in example.operator if name in recorded}
    if other := "; ".join(differing(learnt, {name: expected[name] for name in learnt}, MADE_BY, sources)):
        return Reported(None, "", f"the reported operator differs: {other}")
    digits, best_epoch, unit = row["reported"], row.get("best_epoch", ""), closest.unit
    if differ:
        as_printed = facts.recipe == "paper" and not differences(facts, cost, closest, "paper")
        words = "the number comes from the public code" if as_printed else "not comparable"
        return Reported(None, digits, f"{words}: {'; '.join(differ)}", best_epoch, as_printed, unit)
    worst = float(row["worst"]) * unit if row.get("worst") else None
    where = f"{source}, {closest.name}"
    return Reported(float(digits) * unit, digits, where, best_epoch, unit=unit, worst=worst)


def summarise(runs: list[Run]) -> str:
    """Describe the runs in a few sentences."""
    models, seeds = len({run.model for run in runs}), len({run.seed for run in runs})
    resolutions, epochs = sorted({run.resolution for run in runs}), values_of(runs, "epochs")
    ended = "all of which finished" if len(runs) > 1 else "which finished"
    if lost := sum(run.diverged for run in runs):
        ended = f"of which {lost} diverged"
    levels = sorted({run.record.training.get("noise", 0.0) for run in runs})
    noise = f", noise {_names([f'{level:g}' for level in levels])} on the inputs" if any(levels) else ""
    chosen = chosen_on_validation(runs)
    return (
        f"{counted(models, 'model')} trained on {_names(resolutions)}"
        f"{'' if isinstance(resolutions[0], str) else ' grid points'} with "
        f"{counted(seeds, 'seed')}{' each' * (models > 1)}: {counted(len(runs), 'run')}, {ended}. "
        f"Training used {values_of(runs, 'train_samples')} samples, "
        f"{values_of(runs, 'validation_samples')} more to "
        f"{f'choose {chosen}' if chosen else 'measure the error of each epoch'}, "
        f"{epochs} epoch{'' if epochs == '1' else 's'} and batches of "
        f"{values_of(runs, 'batch_size')}{noise}; "
        f"errors are measured on {values_of(runs, 'test_samples')} test samples that training never saw. "
        f"Training took {duration(sum(run.cost.train_seconds for run in runs))} in total on "
        f"{_names(sorted({_machine(run) for run in runs}))}."
    )


def differences_from_paper(runs: list[Run], table: PaperTable | None = None) -> list[str]:
    """List differences from the recipe of each run, with the models' names if not for all models.

    Runs without a recipe are compared with the public code, from which the numbers come.
    """
    labels_of: dict[str, dict[str, None]] = {}
    for run in runs:
        for difference in differences(run.record, run.cost, table, run.record.recipe or MADE_BY):
            labels_of.setdefault(difference, {})[run.label] = None
    models = len({run.label for run in runs})
    lines = []
    for difference, labels in labels_of.items():
        of = _names(list(labels)) if len(labels) <= 3 else f"{len(labels)} models"
        lines.append(difference if len(labels) == models else f"{of}: {difference}")
    return lines


def differences_of_recipes(runs: list[Run], table: PaperTable | None = None) -> list[str]:
    """List differences between public code and text for models that follow the text, one line per model."""
    differences_by_label: dict[str, dict[str, None]] = {}
    for run in runs:
        if run.record.recipe == "paper":
            own = differences(run.record, run.cost, table, "paper")
            own_fields = {words.partition(" (")[0] for words in own}
            for difference in differences(run.record, run.cost, table):
                if difference.partition(" (")[0] not in own_fields:
                    differences_by_label.setdefault(run.label, {})[difference] = None
    return [f"{label}: {', '.join(listed)}" for label, listed in differences_by_label.items()]


def _names(values: list) -> str:
    return " and ".join(filter(None, [", ".join(map(str, values[:-1])), str(values[-1])]))


def values_of(runs: list[Run], name: str) -> str:
    """Return the values of a training setting in the runs: "8 and 20"."""
    values = sorted({run.record.training[name] for run in runs if name in run.record.training})
    return _names([f"{value:,}" for value in values]) if values else "an unrecorded number of"


def chosen_on_validation(runs: list[Run]) -> str:
    """Return what the validation samples select; an empty text if all runs keep their last epoch."""
    kept = {run.record.training.get("selection", "best") for run in runs}
    return f"the checkpoint{' of some models' * ('last' in kept)}" if "best" in kept else ""


def _machine(run: Run) -> str:
    threads, processes = run.cost.threads, run.cost.processes
    used = [f"{processes} processes"] * (processes > 1) + [counted(threads, "thread")] * bool(threads)
    return run.cost.device + (f" ({' of '.join(used)})" if used else "")
