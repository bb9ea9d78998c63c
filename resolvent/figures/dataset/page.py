"""The page of a dataset: what it is, how wrong it is, what it looks like, and how to use and cite it."""

import shlex
from collections.abc import Callable
from pathlib import Path

from resolvent.figures.common.film import film_of
from resolvent.figures.common.numbers import in_bytes
from resolvent.figures.common.page import inlined_figure, render, without_budget
from resolvent.figures.dataset import checks
from resolvent.figures.dataset.citation import bibtex, licence
from resolvent.figures.dataset.contents import groups, snippets
from resolvent.figures.dataset.equation import equation_of
from resolvent.figures.dataset.error_budget import error_budget_chart
from resolvent.figures.dataset.flux import flux_chart
from resolvent.figures.dataset.gallery import gallery_chart
from resolvent.figures.dataset.histograms import histogram_chart
from resolvent.figures.dataset.preview import DatasetPreview
from resolvent.figures.dataset.spectra import spectra_chart
from resolvent.figures.run.words import configuration_of

CHARTS: dict[str, Callable[[DatasetPreview], dict | None]] = {
    "error_budget": lambda dataset: error_budget_chart(dataset.card),
    "dataset_gallery": gallery_chart,
    "dataset_flux": flux_chart,
    "dataset_spectra": spectra_chart,
    "dataset_histograms": histogram_chart,
}


def write_dataset_page(
    output: str | Path,
    *,
    card: str | Path,
    store: str,
    size: int,
    preview: str | Path,
    figures: list[tuple[str | Path, str, str]],
    film: tuple[str | Path, str, str] | None = None,
    used_by: list[dict],
    croissant: str | Path,
    command: str,
    provenance: dict[str, str],
    root: str | Path,
) -> None:
    """Write the page, all at once.

    store      the path or the address of what `card` is of; `size`: its bytes.
    figures    (SVG or PNG file, title, caption); the names of the files are those in `CHARTS`.
    film       (MP4 file, title, caption).
    used_by    the experiments on it: `name`, `title`, `models` (how many), `tested_only`.
    croissant  the file with its metadata.
    """
    dataset, folder = DatasetPreview(card, preview), Path(output).parent
    facts, shown = dataset.card, {}
    for path, title, caption in figures:
        name = Path(path).stem
        chart = CHARTS[name](dataset) if name in CHARTS else None
        shown[name] = inlined_figure(path, title, caption, folder=folder, interactive=chart)
    render(
        "dataset.html.j2",
        output,
        root=root,
        breadcrumbs=[("Datasets", "index.html#datasets"), (facts["dataset"], "")],
        title=facts["dataset"],
        equation=equation_of(facts),
        solver=facts.get("solver", {}),
        summary=checks.summary(facts),
        checks=checks.rows(facts["error_budget"]),
        other_checks=checks.others(facts["error_budget"]),
        imported=facts.get("imported"),
        budget=shown.pop("error_budget", None),
        figures=list(shown.values()),
        film=film and film_of(*film, folder=folder),
        samples=facts["samples"],
        groups=groups(facts),
        store=store,
        size=in_bytes(size),
        snippets=snippets(facts, Path(card).as_posix(), store),
        used_by=used_by,
        licence=licence(facts),
        bibtex=bibtex(facts),
        croissant=Path(croissant).name,
        card=without_budget(facts),
        again=again(facts["dataset"], Path(card).as_posix(), command),
        command=command,
        provenance=provenance,
    )


def again(dataset: str, card: str, command: str) -> str:
    """Return the command that makes the dataset again, and nothing else, as configured in `command`."""
    return shlex.join(
        ["snakemake", card, "--cores", "all", "-R", f"solve_{dataset}", *configuration_of(command)]
    )
