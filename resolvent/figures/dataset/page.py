"""The page of a dataset: equation, errors, samples, use and citation."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from resolvent.figures.common.commands import making
from resolvent.figures.common.exhibit import Section, Sources, draw_sections
from resolvent.figures.common.numbers import in_bytes
from resolvent.figures.common.page import render, without_budget
from resolvent.figures.common.results import read_arrays
from resolvent.figures.dataset.card import bibtex, equation_of, groups, licence, snippets
from resolvent.figures.dataset.error_budget import checks_of, others, summary
from resolvent.figures.dataset.film import FILM
from resolvent.figures.dataset.gallery import FLUX, GALLERY
from resolvent.figures.dataset.preview import DatasetPreview
from resolvent.figures.dataset.statistics import HISTOGRAMS, SPECTRA

READERS: dict[str, Callable[..., Any]] = {
    "dataset": lambda card_file, preview_file: DatasetPreview(card_file, preview_file),
    "card": lambda dataset: dataset.card,
    "motion": lambda motion_file: read_arrays(motion_file),
}


SECTIONS = (
    Section("equation", "Equation", heading="Equation and data"),
    Section("errors", "Accuracy", heading="Accuracy of the labels"),
    Section("samples", "Samples", {
        "film": FILM,
        "dataset_gallery": GALLERY,
        "dataset_flux": FLUX,
        "dataset_spectra": SPECTRA,
        "dataset_histograms": HISTOGRAMS,
    }),
    Section("contents", "Contents"),
    Section("use", "Use"),
    Section("cite", "Cite", heading="Licence and citation"),
    Section("again", "Regenerate"),
    Section("card", "Card"),
)  # fmt: skip


def write_dataset_page(
    output: str | Path,
    *,
    card: str | Path,
    store: str,
    size: int,
    preview: str | Path,
    sources: dict[str, Any],
    used_by: list[dict],
    croissant: str | Path,
    command: str,
    provenance: dict[str, str],
    root: str | Path,
) -> None:
    """Draw the exhibits in a folder with the dataset's name, next to `output`, and write the page.

    store      path or address of the store, which has `size` bytes.
    sources    `motion_file`, the time steps of the film, if there is one, and `film_caption`; `shows_flux`.
    used_by    experiments with the dataset: `name`, `title`, `models` (their number), `tested_only`.
    croissant  file of the Croissant metadata.
    """
    previewed = DatasetPreview(card, preview)
    captions = sources | previewed.measured
    read = Sources(READERS, dataset=previewed, facts=captions, **sources)
    facts = read["card"]
    dataset, budget = facts["dataset"], facts["error_budget"]
    render(
        "dataset.html.j2",
        output,
        root=root,
        breadcrumbs=[("Datasets", "index.html#datasets"), (dataset, "")],
        title=dataset,
        equation=equation_of(facts),
        solver=facts.get("solver", {}),
        summary=summary(facts),
        checks=checks_of(budget),
        other_checks=others(budget),
        imported=facts.get("imported"),
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
        again=f"{making(command, Path(card).as_posix())} -R solve_{dataset}",
        command=making(command),
        provenance=provenance,
        sections=draw_sections(SECTIONS, read, Path(output), figures=dataset),
    )
