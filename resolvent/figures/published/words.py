"""Runs in words: what was run, and how that differs from the paper's setting."""

from resolvent.common.counts import counted
from resolvent.figures.common.numbers import duration
from resolvent.figures.common.results import Run
from resolvent.figures.published.beside import differences_from_own_recipe, recipe_differences
from resolvent.figures.published.tables import PaperTable


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
        for words in differences_from_own_recipe(run.record, run.cost, table):
            found.setdefault(words, {})[run.label] = None
    models = len({run.label for run in runs})
    return [
        words if len(labels) == models else f"{_some(labels)}: {words}" for words, labels in found.items()
    ]


def differences_of_recipes(runs: list[Run], table: PaperTable | None = None) -> list[str]:
    """Say of each model that follows the paper's text in what the public code differs, a line a model."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for words in recipe_differences(run.record, run.cost, table):
            found.setdefault(run.label, {})[words] = None
    return [f"{label}: {', '.join(words)}" for label, words in found.items()]


def _some(labels: dict[str, None]) -> str:
    """Return up to three names, or how many they are."""
    return _names(list(labels)) if len(labels) <= 3 else f"{len(labels)} models"


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
