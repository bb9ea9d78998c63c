"""Export a dataset to a format of another library: `resolvent export burgers --to well OUT`."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import yaml

from resolvent.common.files import remove, write_text
from resolvent.common.sums import SUMS, write_sums
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.exports import LAYOUTS, Content
from resolvent.datasets.loading import load_arrays, read_card
from resolvent.datasets.storage.addresses import located
from resolvent.datasets.storage.layout import grid_from_facts
from resolvent.figures.dataset.card import bibtex, groups, licence, snippets
from resolvent.figures.dataset.croissant import write_croissant
from resolvent.figures.dataset.error_budget import summary
from resolvent.planning.places import HOME

FOLDER = "huggingface"
FEW = 2  # samples of each split, in the table for Croissant loaders
SIZES = {  # size categories of the hub
    "n<1K": 1e3, "1K<n<10K": 1e4, "10K<n<100K": 1e5, "100K<n<1M": 1e6, "1M<n<10M": 1e7, "10M<n<100M": 1e8,
    "100M<n<1B": 1e9,
}  # fmt: skip


def export(card: Path, layout: str, out: Path, resolution: int | str | None = None) -> list[Path]:
    """Write the dataset of `card` to `out` in one of `LAYOUTS`, or as a folder for "huggingface".

    Returns the written files. A layout holds one grid, by default the finest. Raises `DatasetError` if the
    dataset is not finished, the layout cannot hold it, or `out` exists.
    """
    card, out = Path(card), Path(out)
    if out.exists():
        raise DatasetError(f"{out} exists; choose another path, or delete it")
    if layout == FOLDER:
        return _folder(card, out)
    if layout not in LAYOUTS:
        raise DatasetError(f"unknown layout '{layout}'; accepted: {', '.join((*LAYOUTS, FOLDER))}")
    return LAYOUTS[layout](Content(card, resolution), out)


def _folder(card: Path, out: Path) -> list[Path]:
    facts, store = read_card(card), card.with_suffix(".zarr")
    if isinstance(located(store), str):
        raise DatasetError(f"{store} is in an object store; accepted: a store in a local folder")
    name, digest = facts["dataset"], facts["settings_hash"]
    part = out.with_name(f".{out.name}.partial")
    remove(part)
    part.mkdir(parents=True)
    try:
        copied = part / name / f"{digest}.json"
        shutil.copytree(store, copied.with_suffix(".zarr"))
        shutil.copy2(card, copied)
        settings = {"name": name, "build": {"datasets": [name]}, "datasets": {name: facts["settings"]}}
        write_text(part / "dataset.yaml", yaml.safe_dump(settings, sort_keys=False, allow_unicode=True))
        group, tables = _write_first_samples(copied, part / "samples")
        near, first = str(copied.with_suffix(".zarr")), (group, tables)
        write_croissant(part / "croissant.json", card=copied, store=near, page="README.md", first=first)
        write_text(part / "README.md", _readme(facts, {split: f"samples/{split}.csv" for split in tables}))
        name_of, words = licence(facts)
        text = (HOME / "LICENSE").read_text("utf-8") if name_of == "MIT" else f"{name_of}\n\n{words}\n"
        write_text(part / "LICENSE", text)
        write_sums(part)
        part.rename(out)
    finally:
        remove(part)
    return sorted(file for file in out.rglob("*") if file.is_file())


def _write_first_samples(card: Path, folder: Path) -> tuple[str, dict[str, Path]]:
    """Write a table of the first samples of each split to `folder`; return their group, and the tables.

    The group is the smallest that has most variables.
    """
    facts = read_card(card)
    ranks = {
        name: (-len(group["variables"]), grid_from_facts(group["grid"]).size)
        for name, group in facts["groups"].items()
    }
    group = min(ranks, key=lambda name: ranks[name])
    sizes = {split: size for split, size in facts["samples"].items() if size}
    tables = {split: folder / f"{split}.csv" for split in sizes}
    folder.mkdir()
    for split, table in tables.items():
        arrays = load_arrays(card, group, split, min(FEW, sizes[split]))
        rows = [("split", *facts["groups"][group]["variables"])]
        for sample in zip(*arrays.values(), strict=True):
            rows.append((split, *(" ".join(map(str, values.ravel())) for values in sample)))
        with table.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    return group, tables


def _readme(facts: dict, tables: dict[str, str]) -> str:
    """Return the text of README.md; `tables` are the paths of the first samples of each split."""
    name, total = facts["dataset"], sum(facts["samples"].values())
    (known, about_licence), equation = licence(facts), facts["equation"]
    citation = bibtex(facts)
    if citation.startswith("@"):
        citation = f"```bibtex\n{citation}\n```"
    front = {
        "pretty_name": name,
        "license": {"MIT": "mit", "unknown": "unknown"}.get(known, "other"),
        "size_categories": [next((size for size, most in SIZES.items() if total < most), "n>1B")],
        "tags": ["operator-learning", "pde", "croissant", facts["settings"]["equation"].replace(":", "-")],
    }
    if front["license"] == "other":
        front |= {"license_name": known, "license_link": "LICENSE"}
    files = [{"split": split, "path": table} for split, table in tables.items()]
    front["configs"] = [{"config_name": "first_samples", "data_files": files}]
    path = f"{name}/{facts['settings_hash']}.json"
    code = "\n\n".join(
        f"{words}:\n\n```python\n{lines}\n```"
        for words, lines in snippets(facts, path, path.replace(".json", ".zarr")).items()
    )
    rows = "\n".join(f"| `{row['name']}` | {row['grid']} | {row['variables']} |" for row in groups(facts))
    splits = ", ".join(f"{size:,} {split}" for split, size in facts["samples"].items())
    return f"""---
{yaml.safe_dump(front, sort_keys=False, allow_unicode=True)}---

# {name}

{equation["in_words"][0].upper()}{equation["in_words"][1:]}: {equation["in_symbols"]}.
Operator: {equation["operator"]}. Source: {equation["source"]}.

{_accuracy(facts)} Samples: {splits}.

| group | grid | variables |
|---|---|---|
{rows}

{code}

A look at the first samples, arrays as text, with the Python package `datasets`:

```python
import datasets

first = datasets.load_dataset(".", split="{next(iter(tables))}")
```

## Verify and regenerate

`{SUMS}` lists the SHA-256 of every file; the card holds the digest of the numbers:

    sha256sum --check --quiet {SUMS}
    resolvent verify .

{_made_again(facts)}

## Licence

{known}: {about_licence}

## Cite

{citation}
"""


def _made_again(facts: dict) -> str:
    """Return how to regenerate the samples: the command, and the source files or module it needs."""
    command = f"    resolvent run finalise_{facts['dataset']} --configfile dataset.yaml"
    words, where = "", "With the Python package Resolvent installed, regenerate the same samples by"
    if "imported" in facts:
        of = " of the server's metadata" if "://" in str(facts["settings"]["source"]) else ""
        files = [f"- `{file['file']}`, SHA-256{of} `{file['sha256']}`" for file in facts["imported"]["files"]]
        words = "The samples were read from these files, which are not in this folder:\n\n"
        words += "\n".join(files) + "\n\nSet `source` in `dataset.yaml` to their paths. "
    elif ":" in (equation := facts["settings"]["equation"]):
        words = (
            f"The samples are computed by the authors' code `{equation}`, which is not in this folder: "
            "put its module into the working folder. "
        )
    return f"{words}{where}\n\n{command}"


def _accuracy(facts: dict) -> str:
    if "imported" in facts:
        words = facts["imported"]["summary"]
        return " ".join([f"{words[0].upper()}{words[1:]}.", *facts["imported"]["warnings"]])
    known = summary(facts)
    return (
        f"Stated accuracy, a relative L² error: {known['accuracy']}; the largest error measured is "
        f"{known['largest']}. The card has every check."
    )
