"""The report: one self-contained page with the table, the figures, the data behind them and their origin.

The page loads nothing: figures are inlined as data, style and script are part of it. It can be mailed,
archived and printed.
"""

import base64
import os
from pathlib import Path

import jinja2
import pandas as pd

from figures.errors import ResultError
from figures.reported import differences
from figures.results import Run, present, read_json, read_runs
from figures.table import as_html, duration, headline, milli

TEMPLATES = Path(__file__).parent / "templates"
MEDIA_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


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
) -> None:
    """Write the page, all at once.

    `table` is the comparison CSV, `runs` the run directories, `cards` the dataset cards (JSON), `figures` are
    (SVG or PNG file, title, caption), `provenance` is what only the caller knows: git revision, machine, ...
    """
    loaded = read_runs(runs)
    comparison = pd.read_csv(present(Path(table)))
    page = (
        _environment()
        .get_template("report.html.j2")
        .render(
            title=title,
            command=command,
            summary=summarise(loaded, comparison),
            told_apart=differences_from_paper(loaded),
            headline=as_html(*headline(comparison)),
            seeds=sorted({run.seed for run in loaded}),
            samples=int(comparison["samples"].max()),
            several_resolutions=comparison["test_resolution"].nunique() > 1,
            comparison=comparison.to_dict("records"),
            figures=[_figure(*figure) for figure in figures],
            cards=[split_card(read_json(card), Path(card).name) for card in cards],
            runs=loaded,
            provenance=provenance,
        )
    )
    output = Path(output)
    unfinished = output.with_name(output.name + ".unfinished")
    unfinished.write_text(page, encoding="utf-8")
    os.replace(unfinished, output)


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


def split_card(card: dict, file: str) -> dict:
    """A dataset card with its truth budget taken to the front."""
    rest = {key: value for key, value in card.items() if key != "truth_budget"}
    return {"name": card.get("dataset", file), "truth_budget": card.get("truth_budget"), "rest": rest}


def _figure(path: str | Path, title: str, caption: str) -> dict[str, str]:
    path = present(Path(path))
    if path.suffix not in MEDIA_TYPES:
        raise ResultError(f"{path} is no {' or '.join(MEDIA_TYPES)} file: give the report one of these")
    data = base64.b64encode(path.read_bytes()).decode()
    return {"title": title, "caption": caption, "source": f"data:{MEDIA_TYPES[path.suffix]};base64,{data}"}


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"milli": milli, "duration": duration, "words": _words, "value": _value}
    return environment


def _words(key: str) -> str:
    return str(key).replace("_", " ")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return "—" if value is None else str(value)


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
