"""Parts of docs/reported-vs-ours.md on what networks are and cost: parameters, and steps of training."""

from pathlib import Path

from resolvent.documentation.pages import table
from resolvent.figures.common.results import read_table
from resolvent.figures.papers.calvello2024.reported import SOURCE as CALVELLO
from resolvent.figures.papers.calvello2024.reported import TABLES as OF_CALVELLO
from resolvent.figures.papers.cao2021.reported import SOURCE as CAO
from resolvent.figures.papers.cao2021.reported import TABLES as OF_CAO
from resolvent.figures.papers.cao2021.tables import SCOPES, STEP_COSTS, name_of, remark
from resolvent.figures.published.tables import reported_rows
from resolvent.models.build import build, parameter_counts
from resolvent.models.registry import settings_class

# Source, title of the section, table of the paper, and as how many numbers it counts a complex parameter.
PARAMETERS = (
    (CAO, "Table 5, parameters", OF_CAO / "table5.csv", "two"),
    (CALVELLO, "Table 1, parameters", OF_CALVELLO / "table1.csv", "one"),
)
STEPS = (
    "operator", "GFLOP reported", "ours", "ours / reported", "memory reported, GB", "ours",
    "steps/s reported", "ours",
)  # fmt: skip


def size_sections(costs: dict[str, Path]) -> dict[str, dict[str, str]]:
    """Return the sections by paper and title; `costs` are measured costs by the command that makes them."""
    sections = {}
    for source, title, file, counted in PARAMETERS:
        rows = []
        for row in reported_rows(file):
            name = row["architecture"]
            chosen = {key: row[key] for key in ("model", "attention") if row.get(key)}
            known = settings_class(name).model_fields
            settings = {key: value for key, value in chosen.items() if key in known}
            once, twice = parameter_counts(build(name, settings, seed=0))
            ours = once if counted == "one" else twice
            # "550k", "2.37m", "5.98e5"; of a range its upper end
            words = row["parameters"].rpartition("-")[2]
            reported = float(words.replace("k", "e3").replace("m", "e6"))
            cells = (row["parameters"], f"{ours:,}", f"{ours / reported:.3f}")
            rows.append((" ".join([f"`{name}`", *chosen.values()]), *cells))
        lines = table(("architecture", "reported", "ours", "ours / reported"), rows)
        more = f"Of the default settings, which are the paper's; a complex parameter counts as {counted}."
        sections[source.name] = {title: f"{lines}\n\n{more}"}
    for command, measured in costs.items():
        sections[CAO.name]["Table 1"] = step_section(measured, command)
    return sections


def step_section(costs: Path, command: str) -> str:
    """Return Table 1 of Cao (2021) beside the costs that `command` measured at its size, in Markdown.

    The operations are the same on any machine; memory and speed are those of ours and of the paper's.
    """
    measured = read_table(costs, ["scope", "attention", "contraction", "peak_bytes", "flop", "seconds"])
    paper = {(row["problem"], row["attention"]): row for row in reported_rows(STEP_COSTS)}
    cases = [{str(key): value for key, value in case.items()} for case in measured.to_dict("records")]
    rows = []
    for case in cases:
        if (case["attention"], case["contraction"]) == ("fourier", "linear"):  # the paper has no such row
            continue
        reported, gflop = paper[case["scope"], case["attention"]], case["flop"] / 1e9
        rows.append(
            (
                f"{SCOPES[case['scope']]}: {name_of(case)}",
                reported["gflop"],
                f"{gflop:,.0f}",
                f"{gflop / float(reported['gflop']):.2f}",
                reported["memory_gb"],
                f"{case['peak_bytes'] / 1e9:.2f}",
                reported["steps_per_second"],
                f"{1 / case['seconds']:.3g}",
            )
        )
    run, others = remark(cases[0])
    return "\n".join(
        [table(STEPS, rows), "", f"{run} Different: {'; '.join(others)}. Made by", "", f"    {command}"]
    )
