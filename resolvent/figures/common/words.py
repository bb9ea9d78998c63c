"""Runs in words: what was run, and how that differs from the paper's setting."""

from resolvent.figures.common.numbers import duration
from resolvent.figures.common.results import Run
from resolvent.figures.published.beside import differences
from resolvent.figures.published.tables import PaperTable


def summarise(runs: list[Run]) -> str:
    """What was run, in a few sentences."""
    models = len({run.model for run in runs})
    seeds = len({run.seed for run in runs})
    resolutions = sorted({run.resolution for run in runs})
    lost = sum(run.diverged for run in runs)
    epochs = _range(runs, "epochs")
    ended = f"of which {lost} diverged" if lost else "all of which finished"
    return (
        f"{_count(models, 'model')} trained on {_names(resolutions)}"
        f"{'' if isinstance(resolutions[0], str) else ' grid points'} with "
        f"{_count(seeds, 'seed')} each: {_count(len(runs), 'run')}, {ended}. "
        f"Training used {_range(runs, 'train_samples')} samples, {_range(runs, 'validation_samples')} more "
        f"to choose the checkpoint, {epochs} epoch{'' if epochs == '1' else 's'} and batches of "
        f"{_range(runs, 'batch_size')}{_noise(runs)}; "
        f"errors are measured on {_range(runs, 'test_samples')} test samples that training never saw. "
        f"It took {duration(sum(run.cost['train_seconds'] for run in runs))} in all on "
        f"{_names(sorted({_machine(run) for run in runs}))}."
    )


def differences_from_paper(runs: list[Run], table: PaperTable | None = None) -> list[str]:
    """What differs from the setting of a table, once each, in the order met; of which models if not all."""
    told: dict[str, dict[str, None]] = {}
    for run in runs:
        for words in differences(run.facts, run.cost, table):
            told.setdefault(words, {})[run.label] = None
    models = len({run.label for run in runs})
    return [words if len(labels) == models else f"{_some(labels)}: {words}" for words, labels in told.items()]


def _some(labels: dict[str, None]) -> str:
    """Up to three names, or how many they are."""
    return _names(list(labels)) if len(labels) <= 3 else f"{len(labels)} models"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _names(values: list) -> str:
    return " and ".join(filter(None, [", ".join(map(str, values[:-1])), str(values[-1])]))


def _range(runs: list[Run], name: str) -> str:
    values = sorted({run.facts["training"][name] for run in runs if name in run.facts["training"]})
    return _names([f"{value:,}" for value in values]) if values else "an unrecorded number of"


def _noise(runs: list[Run]) -> str:
    levels = sorted({run.facts["training"].get("noise", 0.0) for run in runs})
    return f", noise {_names([f'{level:g}' for level in levels])} on the inputs" if any(levels) else ""


def _machine(run: Run) -> str:
    threads, processes = run.cost.get("threads"), run.cost.get("processes", 1)
    used = [f"{processes} processes"] * (processes > 1) + [_count(threads, "thread")] * bool(threads)
    return str(run.cost["device"]) + (f" ({' of '.join(used)})" if used else "")
