"""The page of a dataset: samples, errors, spectra, values, the card, and how to load it. Self-contained."""

from pathlib import Path

from resolvent.figures.common.page import inlined_figure, render, split_card
from resolvent.figures.dataset.preview import DatasetPreview


def write_dataset_page(
    output: str | Path,
    *,
    card: str | Path,
    store: str,
    preview: str | Path,
    figures: list[tuple[str | Path, str, str]],
    command: str,
    provenance: dict[str, str],
    root: str | Path,
) -> None:
    """Write the page, all at once.

    `store` is the path or the address of what `card` is of; `figures` are (SVG or PNG file, title, caption).
    """
    dataset = DatasetPreview(card, preview)
    facts = dataset.card
    render(
        "dataset.html.j2",
        output,
        root=root,
        breadcrumbs=[("Datasets", "index.html#datasets"), (facts["dataset"], "")],
        title=facts["dataset"],
        equation=facts["equation"],
        samples=facts["samples"],
        groups=groups(facts),
        store=store,
        target=Path(card).as_posix(),
        accuracy=facts["stated_accuracy"],
        imported=facts.get("imported"),
        figures=[inlined_figure(*figure, folder=Path(output).parent) for figure in figures],
        card=split_card(facts, Path(card).name),
        command=command,
        provenance=provenance,
    )


def groups(card: dict) -> list[dict[str, str]]:
    """Return each group of the store in one row: its grid, and its variables with their dimensions."""
    return [
        {
            "name": name,
            "grid": _grid(group["grid"]),
            "variables": "; ".join(
                f"{variable} ({', '.join(facts['dimensions'])})"
                for variable, facts in group["variables"].items()
            ),
        }
        for name, group in card["groups"].items()
    ]


def _grid(facts: dict) -> str:
    if facts["kind"] == "explicit":
        times = facts["positions"]
        return f"{len(times):,} times from {times[0]:g} to {times[-1]:g}"
    shape = " × ".join([f"{facts['points']:,}"] * facts["dimension"])
    return f"{shape}, {facts['kind'].replace('_', ' ')}"
