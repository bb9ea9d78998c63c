"""The model card of an exported run, README.md: what a reader of the weights must know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from resolvent.common.counts import counted
from resolvent.common.errors import FileError
from resolvent.common.files import read_json
from resolvent.figures.dataset.card import bibtex
from resolvent.figures.run.words import making

if TYPE_CHECKING:
    from resolvent.public.runs import TrainedRun

WORDS = {
    "model.safetensors": "weights and normalisers; its header has what the operator is built with",
    "model.pt2": "the operator as a program of `torch.export`",
    "model.onnx": "the operator in ONNX",
    "run.json": "what the run is, and the SHA-256 of the tables beside it",
    "cost.json": "what its training took",
    "errors.csv": "the error of every test sample under every condition",
    "history.csv": "losses and errors by epoch",
    "predictions.nc": "a few test samples with their predictions",
    "dataset.json": "the card of the dataset: equation, solver, measured errors, settings to make it again",
}


def text(run: TrainedRun, programs: list[str], licence: str | None) -> str:
    """Return the model card as Markdown, with the front matter that Hugging Face reads.

    `programs` are the names of exported programs in the folder.
    """
    record, card = run.record, run.card
    files = [name for name in WORDS if name not in ("model.pt2", "model.onnx", "dataset.json")]
    allow = ', allow=["folder of its code, which you have read"]' if ":" in record.architecture else ""
    files += programs + (["dataset.json"] if card is not None else [])
    parts = [
        _front_matter(run, licence),
        f"# {record.label}: {record.dataset}",
        f"A neural operator of the architecture `{record.architecture}`, trained from seed {record.seed} at "
        f"resolution {record.resolution} on {counted(record.training['train_samples'], 'sample')} of the "
        f"dataset `{record.dataset}`, with Resolvent.",
        "## Use",
        "    import resolvent\n\n"
        f'    run = resolvent.load_run("this folder"{allow})\n'
        "    prediction = run.predict(u)  # NumPy, torch or xarray, in physical units",
        *_quantities(run),
        "## Errors on the test samples",
        _errors(run),
        *_data(card, record),
        "## Recipe",
        _table("setting", "value", {"architecture": record.architecture} | record.settings | record.training),
        f"It has {run.cost.parameters:,} parameters and trained for {counted(run.cost.epochs, 'epoch')} in "
        f"{run.cost.train_seconds:.0f} s on {run.cost.device} with {run.cost.threads} threads; the weights "
        f"are those of epoch {run.cost.best_epoch}. Versions: "
        + ", ".join(f"{name} {number}" for name, number in record.versions.items())
        + ".",
        *_command(run),
        "## Files",
        _table("file", "content", {f"`{name}`": WORDS[name] for name in sorted(files)}),
        "## Licence",
        licence or "No licence of these weights is stated.",
    ]
    if card is not None:
        parts += ["## Citation", f"```bibtex\n{bibtex(card)}\n```"]
    return "\n\n".join(parts) + "\n"


def _front_matter(run: TrainedRun, licence: str | None) -> str:
    lines = [
        f"license: {json.dumps(licence.lower() if licence else 'unknown')}",
        "library_name: resolvent",
        f"tags: [neural-operator, {json.dumps(run.record.architecture)}]",
    ]
    return "---\n" + "\n".join(lines) + "\n---"


def _quantities(run: TrainedRun) -> list[str]:
    if run.inputs is None or run.targets is None:
        return ["The card of the dataset was not at hand: units and ranges are not stated."]
    rows = ["| | quantity | unit | smallest in the data | largest |", "|---|---|---|---|---|"]
    for which, known in (("input", run.inputs), ("output", run.targets)):
        rows += [
            f"| {which} | {one.long_name} | {one.units} | {one.low:.6g} | {one.high:.6g} |" for one in known
        ]
    return [
        "\n".join(rows),
        "Inputs outside of these ranges are warned of: what the error is there is not known.",
    ]


def _errors(run: TrainedRun) -> str:
    record, errors = run.record, run.errors
    rows = [
        "| metric | resolution | noise | samples | mean | median | largest |",
        "|---|---|---|---|---|---|---|",
    ]
    for metric in record.metrics:
        for (resolution, noise), part in errors.groupby(["resolution", "noise"]):
            values = part[metric]
            rows.append(
                f"| {record.metrics[metric]['label']} | {resolution} | {noise:g} | {len(values)} "
                f"| {values.mean():.6g} | {values.median():.6g} | {values.max():.6g} |"
            )
    words = [f"*{one['label']}*: {one['description']}." for one in record.metrics.values()]
    return "\n".join(rows) + "\n\n" + "\n".join(words)


def _data(card: dict | None, record) -> list[str]:
    lines = ["## Data", f"Dataset `{record.dataset}`, SHA-256 of its content `{record.dataset_hash}`."]
    if card is not None:
        equation = card["equation"]
        lines.append(
            f"{equation['in_words']}: {equation['in_symbols']}. Operator: {equation['operator']}. Source: "
            f"{equation['source']}. `dataset.json` has all settings to make it again, to the same content."
        )
    if record.data_warnings:
        lines.append("Warnings of its checks: " + "; ".join(map(str, record.data_warnings)))
    return lines


def _command(run: TrainedRun) -> list[str]:
    """Return the command that trains it again, where the study that it is of is at hand."""
    try:
        study = read_json(Path(run.directory).parents[3] / "study.json", "the plan of the study")
    except (FileError, FileNotFoundError, IndexError):
        return []
    target = Path(*run.directory.resolve().parts[-6:], "errors.csv").as_posix()
    return ["It is trained again by", f"    {making(study['command'], target)}"]


def _table(key: str, value: str, rows: dict) -> str:
    lines = [f"| {key} | {value} |", "|---|---|"]
    return "\n".join(
        [*lines, *(f"| {name} | {'none' if one is None else one} |" for name, one in rows.items())]
    )
