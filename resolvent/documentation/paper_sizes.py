"""Parts of docs/reported-vs-ours.md on what networks are and cost: parameters, and steps of training."""

from pathlib import Path

from resolvent.documentation.pages import table
from resolvent.figures.common.results import read_table
from resolvent.figures.papers.calvello2024.reported import SOURCE as CALVELLO
from resolvent.figures.papers.calvello2024.reported import TABLES as OF_CALVELLO
from resolvent.figures.papers.cao2021.costs import SCOPES, STEP_COSTS, name_of, remark
from resolvent.figures.papers.cao2021.reported import SOURCE as CAO
from resolvent.figures.papers.cao2021.reported import TABLES as OF_CAO
from resolvent.figures.published.tables import reported_rows
from resolvent.models.build import build, parameter_counts
from resolvent.models.registry import settings_class

PARAMETERS = ("architecture", "reported", "ours", "ours / reported")
STEPS = (
    "operator", "GFLOP reported", "ours", "ours / reported", "memory reported, GB", "ours",
    "steps/s reported", "ours",
)  # fmt: skip


def size_sections(costs: dict[str, Path]) -> dict[str, dict[str, str]]:
    """Return the sections by paper and title; `costs` are measured costs by the command that makes them."""
    sections = parameter_sections()
    for command, file in costs.items():
        sections[CAO.name]["Table 1"] = step_section(file, command)
    return sections


def parameter_sections() -> dict[str, dict[str, str]]:
    """Return, by paper and title, the parameters of the networks with their default settings, the papers'."""
    tables = (
        (CAO, "Table 5, parameters", OF_CAO / "table5.csv", "two"),
        (CALVELLO, "Table 1, parameters", OF_CALVELLO / "table1.csv", "one"),
    )
    sections = {}
    for source, title, file, counted in tables:
        lines = table(PARAMETERS, [_parameters(row, source) for row in reported_rows(file)])
        more = f"\n\nOf the default settings, which are the paper's; a complex parameter counts as {counted}."
        sections[source.name] = {title: lines + more}
    return sections


def _parameters(row: dict[str, str], source) -> tuple[str, ...]:
    name = row["architecture"]
    chosen = {key: row[key] for key in ("model", "attention") if row.get(key)}
    known = settings_class(name).model_fields
    once, twice = parameter_counts(
        build(name, {key: value for key, value in chosen.items() if key in known}, seed=0)
    )
    count = once if source is CALVELLO else twice
    words = " ".join([f"`{name}`", *chosen.values()])
    reported = _number(row["parameters"].rpartition("-")[2])  # of a range its upper end
    return words, row["parameters"], f"{count:,}", f"{count / reported:.3f}"


def _number(digits: str) -> float:
    """Read "550k", "2.37m" or "5.98e5"."""
    return float(digits.replace("k", "e3").replace("m", "e6"))


def step_section(costs: Path, command: str) -> str:
    """Return Table 1 of Cao (2021) beside the costs that `command` measured at its size, in Markdown.

    The operations are the same on any machine; memory and speed are those of ours and of the paper's.
    """
    measured = read_table(costs, ["scope", "attention", "contraction", "peak_bytes", "flop", "seconds"])
    paper = {(row["problem"], row["attention"]): row for row in reported_rows(STEP_COSTS)}
    lines = table(
        STEPS,
        [
            _steps(case, paper[case["scope"], case["attention"]])
            for case in measured.to_dict("records")
            if (case["attention"], case["contraction"]) != ("fourier", "linear")  # the paper has no such row
        ],
    )
    run, others = remark(measured.iloc[0].to_dict())
    return "\n".join([lines, "", f"{run} Different: {'; '.join(others)}. Made by", "", f"    {command}"])


def _steps(case: dict, reported: dict[str, str]) -> tuple[str, ...]:
    flop = case["flop"] / 1e9
    return (
        f"{SCOPES[case['scope']]}: {name_of(case)}",
        reported["gflop"],
        f"{flop:,.0f}",
        f"{flop / float(reported['gflop']):.2f}",
        reported["memory_gb"],
        f"{case['peak_bytes'] / 1e9:.2f}",
        reported["steps_per_second"],
        f"{1 / case['seconds']:.3g}",
    )
