"""Pack a study into one file to share: a zip archive that is also an RO-Crate.

Format: https://www.researchobject.org/ro-crate/specification/1.2/, a JSON-LD file in the root folder.
"""

from __future__ import annotations

import mimetypes
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from resolvent.common.counts import counted
from resolvent.common.digests import file_digest
from resolvent.common.errors import FileError
from resolvent.common.files import everything_below, json_text, read_json, write_atomically
from resolvent.figures.dataset.card import licence
from resolvent.figures.front.page import PAGE
from resolvent.figures.front.results import Results, read_results
from resolvent.figures.front.study import STUDY_FILE, read_study

METADATA = "ro-crate-metadata.json"
# Weights, logs for TensorBoard and unfinished files: large, or of no use to a reader.
LEFT_OUT = ("*.pt", "*.partial", "*/tensorboard/*")
MEANINGS = {
    PAGE: "Front page of the study: leaderboard, and links to all other pages.",
    "leaderboard.csv": "Errors with intervals, ranks, times and break-even of every model.",
    STUDY_FILE: "Plan of the study: experiments, models, resolutions, seeds, datasets.",
}
RUN = "Record of a training: settings, versions, digests."


def export_study(folder: str | Path, out: str | Path) -> int:
    """Write all pages, tables, records and dataset cards of the study in `folder` to the zip archive `out`.

    Returns the number of files in it. Raises `FileError` if the folder has no front page, if `out` exists or
    is in the folder, or if a file is damaged.
    """
    folder, out = Path(folder), Path(out)
    if out.exists():
        raise FileError(f"{out} exists: choose another name, or delete it")
    if out.resolve().is_relative_to(folder.resolve()):
        raise FileError(f"{out} is in the study's folder, and would be packed again: choose another place")
    if not (folder / PAGE).is_file():
        raise FileError(f"{folder} has no {PAGE}: give the folder of a study, such as results/demo")
    results = read_results(read_study(folder), folder)
    inside = {
        path.relative_to(folder).as_posix(): path
        for path in everything_below(folder)
        if path.is_file() and not any(path.match(pattern) for pattern in LEFT_OUT)
    }
    # Datasets are too large for an archive; their cards have all that is needed to regenerate them.
    planned = results.study.datasets
    cards = {name: folder / one.card for name, one in planned.items() if results.there(one.card)}
    inside |= {f"datasets/{name}.card.json": card for name, card in cards.items()}
    metadata = json_text(_metadata(results, inside, cards))

    def write(partial: Path) -> None:
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(METADATA, metadata)
            for name, path in inside.items():
                archive.write(path, name)

    write_atomically(out, write)
    return len(inside) + 1


def _metadata(results: Results, inside: dict[str, Path], cards: dict[str, Path]) -> dict:
    """Return the JSON-LD: the study, its files with their digests, and what made them."""
    study = results.study
    finished = sum(run.state == "finished" for run in results.runs)
    runs = {f"{run.folder}/run.json" for run in results.runs}
    files = [_file(name, path, runs) for name, path in inside.items()]
    made = max(path.stat().st_mtime for path in inside.values())
    words = (
        f"{counted(len(study.experiments), 'experiment')} on {counted(len(study.datasets), 'dataset')}; "
        f"{finished} of {counted(len(results.runs), 'training')} finished."
    )
    return {
        "@context": "https://w3id.org/ro/crate/1.2/context",
        "@graph": [
            {
                "@id": METADATA,
                "@type": "CreativeWork",
                "conformsTo": {"@id": "https://w3id.org/ro/crate/1.2"},
                "about": {"@id": "./"},
            },
            {
                "@id": "./",
                "@type": "Dataset",
                "name": f"Comparison of neural operators: {study.name}",
                "description": words,
                "datePublished": f"{datetime.fromtimestamp(made, UTC):%Y-%m-%d}",
                "license": "Not stated: add the licence under which you share these results.",
                "hasPart": [{"@id": one["@id"]} for one in files],
                "mainEntity": {"@id": PAGE},
                "mentions": [{"@id": "#made"}, *({"@id": f"#{name}"} for name in cards)],
            },
            {
                "@id": "#made",
                "@type": "CreateAction",
                "name": study.command or "snakemake",
                "instrument": {"@id": "#resolvent"},
                "object": [{"@id": f"#{name}"} for name in cards],
                "result": [{"@id": "./"}],
            },
            {
                "@id": "#resolvent",
                "@type": "SoftwareApplication",
                "name": "Resolvent",
                "version": study.provenance.get("git revision", "unknown"),
                "description": "; ".join(f"{key} {value}" for key, value in study.provenance.items()),
            },
            *(_dataset(name, read_json(card, "the card")) for name, card in cards.items()),
            *files,
        ],
    }


def _file(name: str, path: Path, runs: set[str]) -> dict:
    meaning = RUN if name in runs else MEANINGS.get(name)
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    known = {"@id": name, "@type": "File", "name": Path(name).name, "encodingFormat": kind}
    if meaning:
        known["description"] = meaning
    return known | {"contentSize": str(path.stat().st_size), "sha256": file_digest(path)}


def _dataset(name: str, facts: dict) -> dict:
    stated, about = licence(facts)
    return {
        "@id": f"#{name}",
        "@type": "Dataset",
        "name": name,
        "description": f"{facts['equation']['in_words']}; not in this archive.",
        "license": about if stated == "unknown" else stated,
        "identifier": facts["content_hash"],
        "subjectOf": {"@id": f"datasets/{name}.card.json"},
    }
