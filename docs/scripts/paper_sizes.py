"""Parts of docs/reported-vs-ours.md on numbers of parameters."""

from page_parts import table

from resolvent.figures.published.reported_numbers import EXAMPLES
from resolvent.figures.published.tables import reported_rows
from resolvent.models.build import build, parameter_counts
from resolvent.models.registry import settings_class

MORE = "Parameters of the default settings, which are the paper's; a complex parameter counts as "
HEADS = ("architecture", "reported", "ours", "ours / reported")


def size_sections() -> dict[str, dict[str, str]]:
    """Return tables of numbers of parameters, by paper and title."""
    sections: dict[str, dict[str, str]] = {}
    sources = {one.file.parent: example.source for example in EXAMPLES for one in example.tables}
    for folder, source in sources.items():
        of_paper = sections.setdefault(source.name, {})
        for file in sorted(folder.glob("table?.csv")):
            rows = reported_rows(file)
            if {"architecture", "parameters"} <= rows[0].keys():
                counted = "one" if source.counted == "parameters_complex_once" else "two"
                lines = table(HEADS, [_sizes(row, counted) for row in rows])
                title = f"{file.stem.replace('table', 'Table ')}, parameters"
                of_paper[title] = f"{lines}\n\n{MORE}{counted}."
    return sections


def _sizes(row: dict[str, str], counted: str) -> tuple[str, ...]:
    name = row["architecture"]
    chosen = {key: row[key] for key in ("model", "attention") if row.get(key)}
    known = settings_class(name).model_fields
    settings = {key: value for key, value in chosen.items() if key in known}
    once, twice = parameter_counts(build(name, settings, seed=0))
    ours = once if counted == "one" else twice
    # "550k", "2.37m" or "5.98e5"; for a range, the upper end
    reported = float(row["parameters"].rpartition("-")[2].replace("k", "e3").replace("m", "e6"))
    words = " ".join([f"`{name}`", *chosen.values()])
    return words, row["parameters"], f"{ours:,}", f"{ours / reported:.3f}"
