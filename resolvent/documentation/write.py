"""Pages of docs/ that a command writes: `make docs` runs `python -m resolvent.documentation.write`.

What measurements and runs are not here for is left as it is, and the command that makes them is printed.
"""

from __future__ import annotations

from pathlib import Path

from resolvent.documentation import datasets, initial_values, stability
from resolvent.documentation.configuration import keys
from resolvent.documentation.default_run import overview, write_default_run
from resolvent.documentation.pages import ROOT, write_part
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


def main() -> None:
    """Write the parts of all pages; tables come after those that they are taken from."""
    write_part("docs/configuration.md", keys(), "keys")
    page = "docs/datasets.md"
    write_part(page, datasets.measured(ROOT), "measured", datasets.COMMAND)
    fresh = datasets.fresh_samples(_runs(datasets.FRESH_RUNS))
    write_part(page, fresh, "fresh-samples", datasets.FRESH_COMMAND)
    accuracy = datasets.accuracy(ROOT / page)
    write_part("docs/index.md", accuracy, "accuracy")
    write_part("README.md", accuracy.replace("](", "](docs/"), "accuracy")
    write_part("docs/stability.md", stability.stability(ROOT), command=stability.COMMAND)
    values = initial_values.section(ROOT, _runs(initial_values.RUNS))
    write_part("docs/equations/lorenz63.md", values, "initial-values", initial_values.COMMAND)
    write_default_run(ROOT)
    write_part("docs/default-run.md", overview(ROOT), "overview")

    made = {command: runs for folder, command in RUNS.items() if (runs := _runs(folder))}
    costs = {
        f"snakemake {STEP_COSTS} --cores 2 --resources gpu=0 --configfile config/cao2021.yaml": ROOT
        / STEP_COSTS
    }
    write_reported_vs_ours(
        made,
        ROOT / "docs/reported-vs-ours.md",
        ROOT / "docs/measured/reported_rows.csv",
        size_sections(costs if (ROOT / STEP_COSTS).exists() else {}),
    )
    if not made:
        commands = " and ".join(f"`{command}`" for command in RUNS.values())
        print(f"docs/reported-vs-ours.md keeps its runs; others are made with {commands}")


def _runs(folder: str) -> list[Path]:
    """Return the folders of the evaluated runs of a configuration."""
    return sorted(path.parent for path in (ROOT / folder).glob("*/*/*/seed*/run.json"))


if __name__ == "__main__":
    main()
