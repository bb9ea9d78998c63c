"""Summaries of runs, datasets and studies for a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from resolvent.common.counts import counted
from resolvent.common.errors import FileError, printable
from resolvent.datasets.errors import DatasetError
from resolvent.public.datasets import card_of
from resolvent.public.runs import TrainedRun, load_run


class Terminal(Console):
    """A console that prints text literally, without interpreting markup or control characters."""

    def render_str(self, text: str, **options: Any) -> Text:
        lines = "\n".join(map(printable, text.split("\n")))
        return super().render_str(lines, **{**options, "markup": False, "emoji": False})


def describe(name: str, console: Console, *, results: str = "results", data: str = "data") -> None:
    """Print a summary of the study, run or dataset `name`, a name or a path.

    Raises `FileError` if it is none of these.
    """
    for study in (Path(name), Path(results, name)):
        if (study / "study.json").is_file():
            return _study(study, console)
    try:
        card = card_of(name, data)
    except DatasetError as error:
        no_dataset = str(error)
    else:
        return _dataset(card, console)
    try:
        run = load_run(name, results=results)
    except FileError as error:
        raise FileError(f"'{name}' is not a study, run or dataset: {error}; {no_dataset}") from None
    return _run(run, console)


def _study(folder: Path, console: Console) -> None:
    from resolvent.figures.front.page import PAGE
    from resolvent.figures.front.results import read_results
    from resolvent.figures.front.study import read_study
    from resolvent.figures.front.terminal import print_leaderboard

    print_leaderboard(read_results(read_study(folder), folder), console)
    if (folder / PAGE).exists():
        console.print(f"The front page: {(folder / PAGE).resolve().as_uri()}", soft_wrap=True)


def run_facts(run: TrainedRun) -> tuple[str, list[tuple[str, str]]]:
    """Return the title of a run and its properties, without errors."""
    record, cost = run.record, run.cost
    samples = counted(record.training["train_samples"], "sample")
    ended = f"diverged in epoch {cost.diverged_epoch}: it has no operator"
    training = f"{counted(cost.epochs, 'epoch')} in {cost.train_seconds:.0f} s on {cost.device}"
    facts = [
        ("folder", str(run.directory)),
        ("architecture", record.architecture),
        ("trained at", f"resolution {record.resolution}, on {samples}"),
        ("parameters", f"{cost.parameters:,}"),
        ("ended", ended) if run.diverged else ("training", training),
    ]
    for which, quantities in (("input", run.inputs), ("output", run.targets)):
        for quantity in quantities or ():
            unit = f" (unit {quantity.units})" if quantity.units else ""
            words = f"{quantity.long_name}{unit}, from {quantity.low:.4g} to {quantity.high:.4g} in the data"
            facts.append((which, words))
    if run.card is None:
        facts.append(("data", "units and ranges are unknown: no card of the dataset was found"))
    return f"{record.label}: {record.dataset}, seed {record.seed}", facts


def _run(run: TrainedRun, console: Console) -> None:
    _print_facts(*run_facts(run), console)
    table = Table(title="relative L² error on test samples", title_justify="left")
    for column in ("resolution", "noise", "samples", "mean", "median", "largest"):
        table.add_column(column, justify="right")
    for (resolution, noise), part in run.errors.groupby(["resolution", "noise"], sort=False):
        errors = part.groupby("sample")["relative_l2"].mean()  # over realisations of the noise, as on pages
        numbers = (errors.mean(), errors.median(), errors.max())
        table.add_row(
            str(resolution), f"{noise:g}", str(len(errors)), *(f"{number:.4g}" for number in numbers)
        )
    console.print(table)


def _dataset(path: Path, console: Console) -> None:
    from resolvent.datasets.loading import read_card

    card = read_card(path)
    facts = [
        ("card", str(path)),
        ("equation", card["equation"]["in_words"]),
        ("", card["equation"]["in_symbols"]),
        ("operator", card["equation"]["operator"]),
        ("samples", ", ".join(f"{count} {split}" for split, count in card["samples"].items())),
        *((f"at {name}", ", ".join(group["variables"])) for name, group in card["groups"].items()),
    ]
    for name, entry in card["error_budget"].items():
        if isinstance(entry, dict) and "largest_relative_l2" in entry:
            of = counted(entry["samples"], "sample")
            words = f"{name.replace('_', ' ')}: largest {entry['largest_relative_l2']:.2g} of {of}"
            facts.append(("error", words))
    _print_facts(card["dataset"], [*facts, ("content", card["content_hash"])], console)


def _print_facts(title: str, facts: list[tuple[str, str]], console: Console) -> None:
    table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for row in facts:
        table.add_row(*row)
    console.print(table)
