"""Write the model card of an exported run, README.md."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resolvent.common.counts import counted
from resolvent.common.errors import FileError
from resolvent.figures.common.commands import making
from resolvent.figures.dataset.card import bibtex
from resolvent.figures.front.study import read_study

if TYPE_CHECKING:
    from resolvent.public.runs import TrainedRun

WORDS = {
    "model.safetensors": "weights and normalisers; its header has the settings of the operator",
    "model.pt2": "the operator as a program of `torch.export`",
    "run.json": "facts of the run, and the SHA-256 of its tables",
    "cost.json": "time and memory of the training",
    "errors.csv": "the error of every test sample under every condition",
    "history.csv": "losses and errors by epoch",
    "predictions.nc": "a few test samples with their predictions",
    "dataset.json": "the card of the dataset: equation, solver, measured errors, settings to regenerate it",
}


def text(run: TrainedRun, programs: list[str], licence: str | None) -> str:
    """Return the model card as Markdown, with Hugging Face's front matter.

    `programs` are the exported programs in the folder.
    """
    record, card, cost = run.record, run.card, run.cost
    data = f"Dataset `{record.dataset}`"
    if card is not None and card["dataset"] != record.dataset:
        data = f"Trained on the dataset `{record.dataset}`; tested on `{card['dataset']}`"
    files = [name for name in WORDS if name not in ("model.pt2", "dataset.json")]
    files += programs + (["dataset.json"] if card is not None else [])
    allow = ', allow=["folder of its code; read it first"]' if ":" in record.architecture else ""
    recipe = {"architecture": record.architecture} | record.settings | record.training
    versions = ", ".join(f"{name} {number}" for name, number in record.versions.items())
    parts = [
        f"---\nlicense: {json.dumps(licence.lower() if licence else 'unknown')}\nlibrary_name: resolvent\n"
        f"tags: [neural-operator, {json.dumps(record.architecture)}]\n---",
        f"# {record.label}: {record.dataset}",
        f"A neural operator of architecture `{record.architecture}`, trained from seed {record.seed} at "
        f"resolution {record.resolution} on {counted(record.training['train_samples'], 'sample')} of the "
        f"dataset `{record.dataset}`, with Resolvent.",
        "## Use",
        "    import resolvent\n\n"
        f'    run = resolvent.load_run("this folder"{allow})\n'
        "    prediction = run.predict(u)  # NumPy, torch or xarray, in physical units",
        *_quantities(run),
        "## Errors on the test samples",
        _errors(run),
        "## Data",
        f"{data} with the content hash (SHA-256) `{record.dataset_hash}`.",
    ]
    if card is not None:
        equation = card["equation"]
        parts.append(
            f"{equation['in_words']}: {equation['in_symbols']}. Operator: {equation['operator']}. Source: "
            f"{equation['source']}. `dataset.json` has all settings to regenerate exactly the same dataset."
        )
    if record.data_warnings:
        parts.append("Warnings from checks of the data: " + "; ".join(map(str, record.data_warnings)))
    parts += [
        "## Recipe",
        _table("setting value", [(key, "none" if value is None else value) for key, value in recipe.items()]),
        f"It has {cost.parameters:,} parameters and trained for {counted(cost.epochs, 'epoch')} in "
        f"{cost.train_seconds:.0f} s on {cost.device} with {cost.threads} threads; the weights are those of "
        f"epoch {cost.best_epoch}. Versions: {versions}.",
    ]
    with suppress(FileError, IndexError):  # without the study, the command is unknown
        study = read_study(Path(run.directory).parents[3])
        target = Path(*run.directory.resolve().parts[-6:], "errors.csv").as_posix()
        parts += ["Command to retrain it:", f"    {making(study.command, target)}"]
    parts += ["## Files", _table("file content", [(f"`{name}`", WORDS[name]) for name in sorted(files)])]
    parts += ["## Licence", licence or "No licence is stated for these weights."]
    if card is not None:
        parts += ["## Citation", f"Of the data:\n\n```bibtex\n{bibtex(card)}\n```"]
    return "\n\n".join(parts) + "\n"


def _quantities(run: TrainedRun) -> list[str]:
    if run.inputs is None or run.targets is None:
        return ["Units and ranges are unknown: the card of the dataset was not found at export."]
    rows = [
        (which, quantity.long_name, quantity.units, f"{quantity.low:.6g}", f"{quantity.high:.6g}")
        for which, functions in (("input", run.inputs), ("output", run.targets))
        for quantity in functions
    ]
    return [
        _table(["", "quantity", "unit", "smallest in the data", "largest"], rows),
        "Inputs outside these ranges cause a warning, because the error there is unknown.",
    ]


def _errors(run: TrainedRun) -> str:
    metrics, rows = run.record.metrics, []
    for metric, facts in metrics.items():
        for (resolution, noise), part in run.errors.groupby(["resolution", "noise"]):
            values = part.groupby("sample")[metric].mean()  # over realisations of the noise, as on pages
            numbers = (f"{number:.6g}" for number in (values.mean(), values.median(), values.max()))
            rows.append((facts["label"], resolution, f"{noise:g}", len(values), *numbers))
    descriptions = [f"*{metric['label']}*: {metric['description']}." for metric in metrics.values()]
    return (
        _table("metric resolution noise samples mean median largest", rows) + "\n\n" + "\n".join(descriptions)
    )


def _table(heads: str | list[str], rows: Iterable[tuple[Any, ...]]) -> str:
    heads = heads.split() if isinstance(heads, str) else heads
    lines = ["|" + "".join(f" {head} |" if head else " |" for head in heads), "|" + "---|" * len(heads)]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])
