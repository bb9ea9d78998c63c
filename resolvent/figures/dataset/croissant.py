"""Metadata of a dataset in MLCommons' Croissant format, version 1.1, as JSON-LD.

Format: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html. The store is a set of files, each
group is a set of records, and each sample is a record.
"""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from resolvent.common.files import json_text, write_text
from resolvent.figures.common.page import relative
from resolvent.figures.common.results import read_card
from resolvent.figures.dataset.card import bibtex, licence, points_of
from resolvent.figures.dataset.error_budget import summary

FIRST = "first-samples"  # of a split; no name of a group has a hyphen
CONTEXT = Path(__file__).parents[1] / "templates/croissant_context.json"  # as the format prescribes it


def write_croissant(
    output: str | Path,
    *,
    card: str | Path,
    store: str,
    page: str,
    first: tuple[str, dict[str, Path]] | None = None,
) -> None:
    """Write the metadata of the dataset of `card`; paths in it are relative to the folder of `output`.

    store  path or address of the store;  page  link to the dataset's page.
    first  name of a group, and for each split a CSV file of its first samples, for loaders: one row per
           sample, arrays as numbers separated by spaces.
    The date of publication is that of the card.
    """
    card, folder, facts = Path(card), Path(output).parent, read_card(card)
    place = store if "://" in store else relative(store, folder)
    equation, (licence_name, about) = facts["equation"], licence(facts)
    authors = "The authors of the imported files" if "imported" in facts else "The Resolvent developers"
    content = {
        "@context": json.loads(CONTEXT.read_text(encoding="utf-8")),
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": facts["dataset"],
        "description": f"{equation['in_words'][0].upper()}{equation['in_words'][1:]}. "
        f"Operator: {equation['operator']}. {_errors(facts)}",
        "license": "https://opensource.org/license/mit" if licence_name == "MIT" else about,
        "url": page,
        "creator": {"@type": "sc:Organization", "name": authors},
        "datePublished": f"{datetime.fromtimestamp(card.stat().st_mtime, UTC):%Y-%m-%d}",
        "version": f"1.0.0+{facts['content_hash'][:12]}",
        "keywords": ["operator learning", "partial differential equations", facts["settings"]["equation"]],
        "citeAs": bibtex(facts),
        "isLiveDataset": False,
        **responsible(facts),
        "distribution": [
            _file(card, folder, "card", "The dataset card: settings, error budget, statistics, digests."),
            {
                "@type": "cr:FileSet",
                "@id": "store",
                "name": place.rpartition("/")[2],
                "description": "A Zarr store, version 3, with a group for each grid or set of times.",
                "encodingFormat": "application/vnd.zarr",
                "includes": f"{place}/**",
            },
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": name,
                "name": name,
                "description": f"Group {name} of the store: each record is a sample, in the stored order.",
                "field": _fields(facts, name, name),
            }
            for name in facts["groups"]
        ],
    }
    group, tables = first or ("", {})
    for split, table in tables.items():
        description, name = f"The first samples of {split} in {group}; arrays row by row.", f"{FIRST}-{split}"
        content["distribution"].append(_file(table, folder, f"table-{split}", description))
        records = {"@type": "cr:RecordSet", "@id": name, "name": name, "description": description}
        content["recordSet"].append(records | {"field": _fields(facts, group, name, f"table-{split}")})
    write_text(Path(output), json_text(content))


def _file(path: Path, folder: Path, name: str, description: str) -> dict[str, str]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": path.name,
        "description": description,
        "contentUrl": relative(path, folder),
        "encodingFormat": {".json": "application/json", ".csv": "text/csv"}[path.suffix],
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }


def responsible(facts: dict) -> dict[str, str]:
    """Return the fields of the extension on responsible AI, version 1.0."""
    distribution = "; ".join(
        f"{key.removeprefix('distribution_of_').replace('_', ' ')}: {entry['in_symbols']}"
        for key, entry in facts.items()
        if key.startswith("distribution_of_") and "in_symbols" in entry
    )
    origin = "All samples come from one distribution and one set of parameters of the equation"
    if "imported" in facts:
        origin = "The samples were read from third-party files"
    method = facts.get("solver", {}).get("method", "not stated")
    return {
        "rai:dataCollection": f"Solver: {method}. {facts['precision']}.",
        "rai:dataLimitations": _errors(facts),
        "rai:dataBiases": f"{origin}{f' ({distribution})' if distribution else ''}: errors on them do not "
        "predict errors elsewhere.",
        "rai:dataUseCases": "Training, testing and comparing operators between functions.",
        "rai:personalSensitiveInformation": "None known: the samples are functions and numbers.",
        "rai:dataSocialImpact": "None known.",
        "rai:dataReleaseMaintenancePlan": "The content hash in the version changes with every sample.",
    }


def _fields(facts: dict, name: str, records: str, table: str | None = None) -> list[dict]:
    """Return the variables of a group and the split as fields of `records`, in the store or a table.

    A length that the card does not state is -1.
    """
    group, fields = facts["groups"][name], []
    roles = dict.fromkeys(facts["inputs"], "input") | dict.fromkeys(facts["targets"], "target")
    axes = group["grid"].get("axes", [group["grid"]] * 3)  # a single grid is the same along all axes
    names = ["time"] if "positions" in group["grid"] else "zyx"[-len(axes) :]
    lengths = dict(zip(names, map(points_of, axes), strict=False))
    number = "cr:Float32" if facts["precision"].endswith("float32") else "cr:Float64"
    split = ", ".join(f"{size} {split}" for split, size in facts["samples"].items())
    for variable, stored in (*group["variables"].items(), ("split", None)):
        source: dict[str, Any] = {"fileSet": {"@id": "store"}, "extract": {"fileProperty": "content"}}
        if table:
            source = {"fileObject": {"@id": table}, "extract": {"column": variable}}
        field: dict[str, Any] = {
            "@type": "cr:Field",
            "@id": f"{records}/{variable}",
            "name": f"{records}/{variable}",
            "description": f"{roles.get(variable, 'more')}: {stored['long_name']}" if stored else split,
            "dataType": number if stored else "sc:Text",
            "source": source,
        }
        if stored and (dims := stored["dimensions"][1:]):
            field |= {"isArray": True, "arrayShape": ",".join(str(lengths.get(dim, -1)) for dim in dims)}
            if table:
                source["transform"] = {"separator": " "}
        fields.append(field)
    return fields


def _errors(facts: dict) -> str:
    if "imported" in facts:
        return " ".join([f"Solutions: {facts['imported']['summary']}.", *facts["imported"]["warnings"]])
    errors = summary(facts)
    sentence = (
        "Stated accuracy of the solutions, as a relative L² error: {accuracy}; largest measured: {largest}."
    )
    return (sentence + " Median error of the discretisation: {grid}." * bool(errors["grid"])).format(**errors)
