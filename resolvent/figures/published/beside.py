"""The numbers that the papers report, whether they can be compared with ours, and runs in words.

A reported number is a measurement in one setting. It is compared with a run only if the run agrees in every
field (`resolvent.figures.published.recipe`); otherwise the reason says what differs. Where a paper's text and
its public code differ, the code made the numbers: a run that follows the text has the number beside it as one
of another recipe, which is not compared.
"""

import math
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from resolvent.common.counts import counted
from resolvent.common.records import CostRecord, RunRecord
from resolvent.figures.common.numbers import duration
from resolvent.figures.common.results import Run
from resolvent.figures.published.recipe import Condition, differing, expected_of, fields_of, meets
from resolvent.figures.published.tables import Example, PaperTable

# Of every paper: each folder of papers with a `reported.py` has some, and none is named here.
EXAMPLES: tuple[Example, ...] = tuple(
    example
    for file in sorted(Path(__file__).parents[1].glob("papers/*/reported.py"))
    for example in import_module(f"resolvent.figures.papers.{file.parent.name}.reported").EXAMPLES
)
MADE_BY: str = "code"  # what made the numbers, of an example whose text and code differ


@dataclass(frozen=True)
class Reported:
    """What a paper reports for a run.

    value         the number; None where it cannot be compared, and `reason` says why.
    digits        as printed; "" where the paper has no such row.
    best_epoch    where the paper reports it.
    worst         the largest error that the paper reports, where value is its statistic; None without any.
    other_recipe  whether the run follows the paper's text in everything, but the number was made by its code,
                  which differs from the text; `reason` says in what.
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
        """Return the number where it may stand on a page: compared, or as one of another recipe."""
        return float(self.digits) * self.unit if self.value is not None or self.other_recipe else None


def record(facts: RunRecord) -> dict:
    """Return all that a run.json has recorded of its setting, by its inner name alone."""
    recorded = {name.rpartition(".")[2]: value for name, value in fields_of(facts).items()}
    return recorded | {"recipe": facts.recipe, "resolution": facts.resolution, "grids": facts.grids}


def example_of(facts: RunRecord) -> Example | None:
    """Return the paper's example that a run is of, whatever its sizes; None for an equation of no paper.

    Of several, the one with the most marks: Darcy flow with the distribution of one paper is that paper's,
    and with any other of the paper that asks for none.
    """
    recorded = fields_of(facts)
    having = [one for one in EXAMPLES if meets(recorded, one.marks)]
    return max(having, key=lambda one: len(one.marks), default=None)


def tables_of(facts: RunRecord) -> tuple[PaperTable, ...]:
    """Return the tables of errors that have runs of this example."""
    example = example_of(facts)
    return example.tables if example else ()


def differences(
    facts: RunRecord, cost: CostRecord, table: PaperTable | None = None, recipe: str = MADE_BY
) -> list[str]:
    """List where a run, by its run.json (`facts`) and cost.json, differs from what made a table's numbers.

    Without a table: of that with such a row from which it differs least, or of the example alone. With the
    `recipe` "paper": from what the text says.
    """
    example = example_of(facts)
    if example is None:
        return [f"equation {facts.dataset_settings.get('equation')}, which the paper has not"]
    having = [one for one in example.tables if one.row(record(facts)) is not None]
    tables = having if table is None and having else [table]
    return min((_differences(example, facts, cost, one, recipe) for one in tables), key=len)


def _differences(
    example: Example, facts: RunRecord, cost: CostRecord, table: PaperTable | None, recipe: str
) -> list[str]:
    recorded, made_by = fields_of(facts), recipe if example.recipes else "paper"
    differ = list(differing(recorded, expected_of(recorded, conditions(example, table, recipe)), made_by))
    differ += [f"imported data are not what is stated: {warning}" for warning in facts.data_warnings]
    low, high = example.source.parameters(record(facts), table) or (0, math.inf)
    count = getattr(cost, (table.counted if table else "") or example.source.counted)
    if count is None:
        differ.append("parameters not recorded as the paper counts them")
    elif not low <= count <= high:
        differ.append(f"{count:,} parameters (paper {low:,} to {high:,})")
    return differ


def conditions(example: Example, table: PaperTable | None, recipe: str) -> tuple[Condition, ...]:
    """Return all that is expected of a run of this example and table by this recipe."""
    of_table = (*table.where, *table.recipes.get(recipe, ())) if table else ()
    return (*example.setting, *example.recipes.get(recipe, ()), *of_table)


def reported_beside(facts: RunRecord, cost: CostRecord, table: PaperTable | None = None) -> Reported:
    """Return the paper's number for this run, or the reason why there is none.

    Without a table: of the tables of its example, that from which it differs least, the first of equals.
    """
    example, recorded = example_of(facts), fields_of(facts)
    source = example.source.citation if example else "the paper"
    tables = [table] if table else tables_of(facts)
    having = [
        (differences(facts, cost, one), one, row)
        for one in tables
        if (row := one.row(record(facts))) is not None
    ]
    if example is None or not having:
        return Reported(None, "", f"{source}{f', {table.name}' if table else ''} has no such row")
    differ, closest, row = min(having, key=lambda one: len(one[0]))
    expected = expected_of(recorded, conditions(example, closest, MADE_BY))
    learnt = {name: recorded[name] for name in example.operator if name in recorded}
    if other := "; ".join(differing(learnt, {name: expected[name] for name in learnt}, MADE_BY)):
        return Reported(None, "", f"another operator than the reported one: {other}")
    digits, best_epoch, unit = row["reported"], row.get("best_epoch", ""), closest.unit
    if differ:
        as_printed = facts.recipe == "paper" and not differences(facts, cost, closest, "paper")
        words = "the number was made by the public code" if as_printed else "not comparable"
        return Reported(None, digits, f"{words}: {'; '.join(differ)}", best_epoch, as_printed, unit)
    worst = float(row["worst"]) * unit if row.get("worst") else None
    return Reported(
        float(digits) * unit, digits, f"{source}, {closest.name}", best_epoch, unit=unit, worst=worst
    )


def summarise(runs: list[Run]) -> str:
    """Describe what was run, in a few sentences."""
    models = len({run.model for run in runs})
    seeds = len({run.seed for run in runs})
    resolutions = sorted({run.resolution for run in runs})
    lost = sum(run.diverged for run in runs)
    epochs = _range(runs, "epochs")
    finished = "all of which finished" if len(runs) > 1 else "which finished"
    ended = f"of which {lost} diverged" if lost else finished
    return (
        f"{counted(models, 'model')} trained on {_names(resolutions)}"
        f"{'' if isinstance(resolutions[0], str) else ' grid points'} with "
        f"{counted(seeds, 'seed')} each: {counted(len(runs), 'run')}, {ended}. "
        f"Training used {_range(runs, 'train_samples')} samples, {_range(runs, 'validation_samples')} more "
        f"to choose the checkpoint, {epochs} epoch{'' if epochs == '1' else 's'} and batches of "
        f"{_range(runs, 'batch_size')}{_noise(runs)}; "
        f"errors are measured on {_range(runs, 'test_samples')} test samples that training never saw. "
        f"It took {duration(sum(run.cost.train_seconds for run in runs))} in all on "
        f"{_names(sorted({_machine(run) for run in runs}))}."
    )


def differences_from_paper(runs: list[Run], table: PaperTable | None = None) -> list[str]:
    """List what differs from the recipe that each run follows, and for which models if not for all.

    Without a recipe, from that of the public code, which made the numbers.
    """
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for words in differences(run.record, run.cost, table, run.record.recipe or MADE_BY):
            found.setdefault(words, {})[run.label] = None
    models = len({run.label for run in runs})
    lines = []
    for words, labels in found.items():
        of = _names(list(labels)) if len(labels) <= 3 else f"{len(labels)} models"
        lines.append(words if len(labels) == models else f"{of}: {words}")
    return lines


def differences_of_recipes(runs: list[Run], table: PaperTable | None = None) -> list[str]:
    """Say of each model that follows the paper's text in what the public code differs, a line a model."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        if run.record.recipe == "paper":
            own = differences(run.record, run.cost, table, "paper")
            known = {words.partition(" (")[0] for words in own}
            for words in differences(run.record, run.cost, table):
                if words.partition(" (")[0] not in known:
                    found.setdefault(run.label, {})[words] = None
    return [f"{label}: {', '.join(words)}" for label, words in found.items()]


def _names(values: list) -> str:
    return " and ".join(filter(None, [", ".join(map(str, values[:-1])), str(values[-1])]))


def _range(runs: list[Run], name: str) -> str:
    values = sorted({run.record.training[name] for run in runs if name in run.record.training})
    return _names([f"{value:,}" for value in values]) if values else "an unrecorded number of"


def _noise(runs: list[Run]) -> str:
    levels = sorted({run.record.training.get("noise", 0.0) for run in runs})
    return f", noise {_names([f'{level:g}' for level in levels])} on the inputs" if any(levels) else ""


def _machine(run: Run) -> str:
    threads, processes = run.cost.threads, run.cost.processes
    used = [f"{processes} processes"] * (processes > 1) + [counted(threads, "thread")] * bool(threads)
    return run.cost.device + (f" ({' of '.join(used)})" if used else "")
