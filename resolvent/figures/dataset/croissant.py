"""Metadata of a dataset in the Croissant format, version 1.1 of MLCommons, as JSON-LD.

The format: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html. The store is a set of files,
and each of its groups a set of records, a record a sample.
"""

import hashlib
import os
from pathlib import Path

from resolvent.common.files import json_text, write_text
from resolvent.figures.common.page import relative
from resolvent.figures.common.results import read_json
from resolvent.figures.dataset.checks import summary
from resolvent.figures.dataset.citation import MIT, bibtex, licence

CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
CONTEXT = Path(__file__).parents[1] / "templates/croissant_context.json"  # as the format prescribes it


def write_croissant(output: str | Path, *, card: str | Path, store: str, page: str, date: str) -> None:
    """Write the metadata of the dataset of `card`.

    `store` is the path or the address of the store, `page` the link to the dataset's page, `date` the day on
    which the dataset was finished, "2026-11-23".
    """
    folder = Path(output).parent
    place = store if "://" in store else relative(store, folder)
    facts = croissant(read_json(card), Path(card), folder, place, page, date)
    write_text(Path(output), json_text(facts))


def croissant(facts: dict, card: Path, folder: Path, place: str, page: str, date: str) -> dict:
    """Return the metadata; paths are from `folder`, in which they will lie."""
    equation = facts["equation"]
    return {
        "@context": read_json(CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": facts["dataset"],
        "description": f"{equation['in_words'][0].upper()}{equation['in_words'][1:]}. "
        f"Operator: {equation['operator']}. {_errors(facts)}",
        "license": MIT if licence(facts)[0] == "MIT" else licence(facts)[1],
        "url": page,
        "creator": {"@type": "sc:Organization", "name": _creator(facts)},
        "datePublished": date,
        "version": f"1.0.0+{facts['content_hash'][:12]}",
        "keywords": ["operator learning", "partial differential equations", facts["settings"]["equation"]],
        "citeAs": bibtex(facts),
        "isLiveDataset": False,
        "rai:dataCollection": f"Solver: {facts['solver']['method']}. {facts['precision']}.",
        "rai:dataLimitations": _errors(facts),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "card",
                "name": card.name,
                "description": "The dataset card: settings, error budget, statistics, digests.",
                "contentUrl": Path(os.path.relpath(card, folder)).as_posix(),
                "encodingFormat": "application/json",
                "sha256": hashlib.sha256(card.read_bytes()).hexdigest(),
            },
            {
                "@type": "cr:FileSet",
                "@id": "store",
                "name": place.rpartition("/")[2],
                "description": "A Zarr store, version 3, with a group for each grid or set of times.",
                "encodingFormat": "application/vnd.zarr",
                "includes": f"{place}/**",
            },
        ],
        "recordSet": [_records(facts, name) for name in facts["groups"]],
    }


def _records(facts: dict, name: str) -> dict:
    group = facts["groups"][name]
    fields = [_field(facts, name, variable) for variable in group["variables"]]
    split = {
        "@type": "cr:Field",
        "@id": f"{name}/split",
        "name": f"{name}/split",
        "description": ", ".join(f"{size} {split}" for split, size in facts["samples"].items()),
        "dataType": "sc:Text",
        "source": {"fileSet": {"@id": "store"}, "extract": {"fileProperty": "content"}},
    }
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"The group {name} of the store: a record is a sample, in the order of the store.",
        "field": [*fields, split],
    }


def _field(facts: dict, group: str, variable: str) -> dict:
    known = facts["groups"][group]["variables"][variable]
    role = "input" if variable in facts["inputs"] else "target" if variable in facts["targets"] else "more"
    dims = known["dimensions"][1:]
    field = {
        "@type": "cr:Field",
        "@id": f"{group}/{variable}",
        "name": f"{group}/{variable}",
        "description": f"{role}: {known['long_name']}",
        "dataType": "cr:Float32" if facts["precision"].endswith("float32") else "cr:Float64",
        "source": {"fileSet": {"@id": "store"}, "extract": {"fileProperty": "content"}},
    }
    if dims:
        grid = facts["groups"][group]["grid"]
        shape = ",".join(str(_length(dim, grid)) for dim in dims)
        field |= {"isArray": True, "arrayShape": shape}
    return field


def _length(dim: str, grid: dict) -> int:
    """Return the points along a dimension; -1 where the card does not say."""
    if dim in ("x", "y", "z"):
        return grid["points"]
    return len(grid["positions"]) if dim == "time" and "positions" in grid else -1


def _errors(facts: dict) -> str:
    if "imported" in facts:
        return " ".join([f"Solutions: {facts['imported']['summary']}.", *facts["imported"]["warnings"]])
    known = summary(facts)
    words = f"Stated accuracy of the solutions, relative L² error: {known['accuracy']}; "
    words += f"largest that was measured: {known['largest']}."
    return words + (f" Error of the discretisation, median: {known['grid']}." if known["grid"] else "")


def _creator(facts: dict) -> str:
    return "The authors of the imported files" if "imported" in facts else "The Resolvent developers"
