"""The report: one self-contained page with the table, the figures, the data behind them and their origin."""

from pathlib import Path

import pandas as pd

from figures.page import inlined_figure, render, split_card
from figures.reported import EXAMPLES, differences, tables_of
from figures.results import Run, present, read_json, read_runs
from figures.table import as_html, duration, headline


def write_report(
    output: str | Path,
    *,
    title: str,
    command: str,
    table: str | Path,
    runs: list[str | Path],
    cards: list[str | Path],
    figures: list[tuple[str | Path, str, str]],
    provenance: dict[str, str],
    paper_page: str | None = None,
) -> None:
    """Write the page, all at once.

    `table` is the comparison CSV, `runs` the run directories, `cards` the dataset cards (JSON), `figures` are
    (SVG or PNG file, title, caption), `provenance` is what only the caller knows: git revision, machine, ...
    `paper_page` is the link to the page of the paper whose tables or figures these runs give.
    """
    loaded = read_runs(runs)
    comparison = pd.read_csv(present(Path(table)))
    errors = headline(comparison)
    render(
        "report.html.j2",
        output,
        title=title,
        command=command,
        summary=summarise(loaded, comparison),
        told_apart=differences_from_paper(loaded),
        paper=paper_of(loaded),
        paper_page=paper_page,
        headline=as_html(errors),
        has_best_test=errors.has_best_test,
        seeds=sorted({run.seed for run in loaded}),
        samples=int(comparison["samples"].max()),
        several_resolutions=comparison["test_resolution"].nunique() > 1,
        comparison=comparison.to_dict("records"),
        figures=[inlined_figure(*figure) for figure in figures],
        cards=[split_card(read_json(card), Path(card).name) for card in cards],
        runs=loaded,
        provenance=provenance,
    )


def summarise(runs: list[Run], comparison: pd.DataFrame) -> str:
    """What was run, in a few sentences."""
    models = len({run.model for run in runs})
    seeds = len({run.seed for run in runs})
    resolutions = sorted({run.resolution for run in runs})
    lost = sum(run.diverged for run in runs)
    ended = f"of which {lost} diverged" if lost else "all of which finished"
    samples = int(comparison["samples"].max())
    return (
        f"{_count(models, 'model')} trained on {_names(resolutions)} grid points with "
        f"{_count(seeds, 'seed')} each: {_count(len(runs), 'run')}, {ended}. "
        f"Training used {_range(runs, 'train_samples')} samples, {_range(runs, 'validation_samples')} more "
        f"to choose the checkpoint, {_range(runs, 'epochs')} epochs and batches of "
        f"{_range(runs, 'batch_size')}; "
        f"errors are measured on {samples} test samples that training never saw. "
        f"It took {duration(sum(run.cost['train_seconds'] for run in runs))} in all on "
        f"{_names(sorted({_machine(run) for run in runs}))}."
    )


def differences_from_paper(runs: list[Run]) -> list[str]:
    """What differs from the paper's setting, once each, in the order met; parameters by model."""
    told: dict[str, None] = {}
    for run in runs:
        for words in differences(run.facts, run.cost):
            told[f"{run.label}: {words}" if "parameters" in words else words] = None
    return list(told)


def paper_of(runs: list[Run]) -> dict[str, str]:
    """Where the paper has this example: its section, and the tables of errors."""
    tables = tables_of(runs[0].facts)
    example = EXAMPLES.get(runs[0].facts["dataset_settings"].get("equation"))
    return {
        "section": f"Section {example.section}" if example else "",
        "tables": " or ".join(table.name for table in tables),
    }


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _names(values: list) -> str:
    return " and ".join(filter(None, [", ".join(map(str, values[:-1])), str(values[-1])]))


def _range(runs: list[Run], name: str) -> str:
    values = sorted({run.facts["training"][name] for run in runs if name in run.facts["training"]})
    return _names([f"{value:,}" for value in values]) if values else "an unrecorded number of"


def _machine(run: Run) -> str:
    threads = run.cost.get("threads")
    return str(run.cost["device"]) + (f" ({_count(threads, 'thread')})" if threads else "")
