"""The cards of the front page: a picture and the facts of each dataset, what is reproduced of each paper."""

from __future__ import annotations

import base64
import io
import statistics
from pathlib import Path

import numpy as np

from resolvent.common.counts import counted
from resolvent.figures.common.numbers import DASH, absent, times
from resolvent.figures.common.results import read_json
from resolvent.figures.dataset.error_budget import summary
from resolvent.figures.dataset.preview import DatasetPreview, PreviewVariable
from resolvent.figures.front.results import Results
from resolvent.figures.front.study import PlannedDataset, PlannedPaper
from resolvent.figures.run.words import size_of

SIDE = 96  # pixels of a picture of a field, and units of the other pictures


def dataset_cards(results: Results) -> list[dict]:
    """Return what the page shows of each dataset; one that is not made yet has no facts."""
    cards = []
    for name, planned in results.study.datasets.items():
        card = {"name": name, "page": planned.page if results.there(planned.page) else "", "picture": ""}
        card["made"] = results.there(planned.card)
        if card["made"]:
            card |= _facts(results.folder, planned)
        cards.append(card)
    return cards


def paper_cards(results: Results) -> list[dict]:
    """Return what the page shows of each paper of which anything is made."""
    return [_paper(results, key, paper) for key, paper in results.study.papers.items() if paper.page]


def _facts(folder: Path, planned: PlannedDataset) -> dict:
    facts = read_json(folder / planned.card)
    errors = summary(facts)
    preview = folder / planned.preview
    return {
        "words": facts["equation"]["in_words"],
        "samples": sum(facts["samples"].values()),
        "accuracy": "" if facts.get("imported") else errors["accuracy"],
        "measured": errors["largest"] or DASH,
        "grid": errors["grid_largest"],
        "size": size_in_words(folder / planned.store),
        "picture": picture(DatasetPreview(folder / planned.card, preview)) if preview.is_file() else "",
    }


def size_in_words(store: Path) -> str:
    """Return the size of a store on disk; one that lies in an object store says so."""
    return size_of(store) or ("in an object store" if store.is_file() else "not on this disk")


def picture(preview: DatasetPreview) -> str:
    """Return the first target of the first sample as HTML: a curve as SVG, a field as a small PNG."""
    functions = [one for one in preview.functions if one.role == "target"]
    if not functions:
        return ""
    if len(functions[0].dims) == 1:
        return _curves(functions)
    return _field(np.asarray(functions[0].samples[0], dtype=float), functions[0].long_name)


def _curves(variables: list[PreviewVariable]) -> str:
    """Return curves over space or time, each scaled to the picture."""
    lines = []
    for variable in variables[:3]:
        values = np.asarray(variable.samples[0], dtype=float)
        values = values[:: max(1, len(values) // 256)]
        low, high = float(values.min()), float(values.max())
        y = SIDE * (0.92 - 0.84 * (values - low) / ((high - low) or 1.0))
        x = np.linspace(2, 2 * SIDE - 2, len(values))
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        lines.append(f'<polyline points="{points}"/>')
    names = " and ".join(variable.long_name for variable in variables[:3])
    return (
        f'<svg class="picture" viewBox="0 0 {2 * SIDE} {SIDE}" preserveAspectRatio="none" role="img" '
        f'aria-label="One sample: {names}">{"".join(lines)}</svg>'
    )


def _field(values: np.ndarray, name: str) -> str:
    """Return a field of two dimensions, the last two where there are more."""
    from matplotlib.image import imsave

    values = values.reshape(-1, *values.shape[-2:])[-1]
    step = max(1, -(-max(values.shape) // (2 * SIDE)))
    file = io.BytesIO()
    imsave(file, values[::step, ::step], cmap="viridis", origin="lower", format="png")
    data = base64.b64encode(file.getvalue()).decode()
    source = f"data:image/png;base64,{data}"
    return f'<img class="picture" src="{source}" alt="One sample: {name}" width="192" height="96">'


def _paper(results: Results, key: str, paper: PlannedPaper) -> dict:
    """Return the items of a paper, made or not, and how our numbers compare with the reported ones."""
    ratios, rows = [], 0
    for row in results.rows:
        if key in row.papers and row.tested:
            rows += 1
            ratio = row.tested.facts["ratio_to_reported"]
            if not absent(ratio):
                ratios.append(float(ratio))
    if ratios:
        words = (
            f"{len(ratios)} of {counted(rows, 'model')} {'has' if len(ratios) == 1 else 'have'} a reported "
            "number in the very same setting; ours is "
            f"{times(statistics.median(ratios))} times it in the median, {times(min(ratios))} to "
            f"{times(max(ratios))}."
        )
    elif not rows:
        words = "No model is compared yet."
    else:
        words = (
            f"None of {counted(rows, 'model')} has a reported number in the very same setting, so none is "
            "compared; the page of the paper says what differs."
        )
    page = paper.page if results.there(paper.page) else ""
    return {
        "name": paper.name,
        "page": page,
        "ratio": words,
        "made": [(name, title) for name, title in paper.items.items() if name in paper.made],
        "absent": [title for name, title in paper.items.items() if name not in paper.made],
    }
