"""Pages of docs/ that a command writes: `make docs` runs `python -m resolvent.documentation.write`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from resolvent.documentation import datasets, formats, initial_values
from resolvent.documentation import stability as collapses
from resolvent.documentation.configuration import configuration_page
from resolvent.documentation.default_run import COMMAND as DEFAULT_COMMAND
from resolvent.documentation.default_run import overview, write_default_run
from resolvent.documentation.house import house
from resolvent.documentation.pages import ROOT, Part
from resolvent.documentation.paper_sizes import size_sections
from resolvent.documentation.reported_vs_ours import write_reported_vs_ours

COMMAND = "snakemake --cores 2 --resources gpu=0 --configfile"
# Of the runs in the page of reported numbers: results, and the command that makes them.
RUNS = {
    "results/cao2021": f"{COMMAND} config/cao2021.yaml",
    "results/cao2021_cpu": f"{COMMAND} config/cao2021.yaml config/cao2021_cpu.yaml",
    "results/calvello2024_cpu": f"{COMMAND} config/calvello2024.yaml config/calvello2024_cpu.yaml",
}

STEP_COSTS = "results/cao2021/cao2021/cost.csv"
COSTS = {
    STEP_COSTS: f"snakemake {STEP_COSTS} --cores 2 --resources gpu=0 --configfile config/cao2021.yaml",
}


def parts() -> Iterator[Part]:
    """Yield every part of a page; tables come after those that they are taken from."""
    page = "docs/datasets.md"
    yield Part("docs/configuration.md", configuration_page)
    yield Part("docs/images/house.svg", house)
    yield Part(page, lambda: datasets.measured(ROOT), "measured", datasets.COMMAND)
    fresh = datasets.FRESH_COMMAND
    yield Part(page, lambda: datasets.fresh_samples(_runs(datasets.FRESH_RUNS)), "fresh-samples", fresh)
    for name, text in formats.tables().items():
        yield Part("docs/formats.md", lambda text=text: text, name)
    yield Part("docs/index.md", lambda: datasets.accuracy(ROOT / page), "accuracy")
    yield Part("README.md", lambda: datasets.accuracy(ROOT / page).replace("](", "](docs/"), "accuracy")
    yield Part("docs/stability.md", lambda: collapses.stability(ROOT), command=collapses.COMMAND)
    yield Part(
        "docs/equations/lorenz63.md",
        lambda: initial_values.section(ROOT, _runs(initial_values.RUNS)),
        "initial-values",
        initial_values.COMMAND,
    )
    yield Part("docs/default-run.md", lambda: overview(ROOT), "overview")


def main() -> None:
    """Write the pages; measurements only where the datasets are, the comparison only where the runs are."""
    if not write_default_run(ROOT):
        print(f"docs/default-run/ is left as it is: make its runs with `{DEFAULT_COMMAND}`")
    for part in parts():
        part.write()
    made = {command: runs for folder, command in RUNS.items() if (runs := _runs(folder))}
    costs = {command: ROOT / file for file, command in COSTS.items() if (ROOT / file).exists()}
    write_reported_vs_ours(
        made,
        ROOT / "docs/reported-vs-ours.md",
        ROOT / "docs/measured/reported_rows.csv",
        size_sections(costs),
    )
    if not made:
        commands = " and ".join(f"`{command}`" for command in RUNS.values())
        print(f"docs/reported-vs-ours.md keeps its runs; others are made with {commands}")


def _runs(folder: str) -> list[Path]:
    """Return the folders of the evaluated runs of a configuration."""
    return sorted(path.parent for path in (ROOT / folder).glob("*/*/*/seed*/run.json"))


if __name__ == "__main__":
    main()
