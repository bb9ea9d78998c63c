"""Write the generated parts of docs/: `make docs` runs `python docs/scripts/write_pages.py`.

Parts without their measurements or runs are left unchanged, and the command that makes them is printed.
"""

from pathlib import Path

import estimates
import initial_values
import measured_datasets
from configuration_keys import keys
from default_run import overview, write_default_run
from page_parts import ROOT, planned, write_part
from paper_sizes import size_sections
from reported_vs_ours import write_reported_vs_ours

from resolvent.figures.papers.registry import PAPERS

COMMAND = "snakemake --cores 2 --resources gpu=0 --configfile"


def main() -> None:
    """Write the parts of all pages, in an order such that a table's sources are written before it."""
    write_part("docs/configuration.md", keys(), "keys")
    page = "docs/datasets.md"
    write_part(page, measured_datasets.measured(ROOT), "measured", measured_datasets.COMMAND)
    accuracy = measured_datasets.accuracy(ROOT / page)
    write_part("docs/index.md", accuracy, "accuracy")
    write_part("README.md", accuracy.replace("](", "](docs/"), "accuracy")
    fresh = measured_datasets.fresh_samples(_runs(measured_datasets.FRESH_RUNS))
    write_part(page, fresh, "fresh-samples", measured_datasets.FRESH_COMMAND)
    values = initial_values.section(ROOT, _runs(initial_values.RUNS))
    write_part("docs/equations/lorenz63.md", values, "initial-values", initial_values.COMMAND)
    results = planned().results
    for part, found in ((estimates.PART, estimates.section(results)), ("atlas", estimates.atlas(results))):
        write_part(estimates.PAGE, found, part, f"{estimates.COMMAND} {results}")
    write_default_run(ROOT)
    write_part("docs/default-run.md", overview(ROOT), "overview")

    commands = {}
    for paper in PAPERS:
        commands[f"results/{paper}"] = f"{COMMAND} config/{paper}.yaml"
        commands[f"results/{paper}_cpu"] = f"{COMMAND} config/{paper}.yaml config/{paper}_cpu.yaml"
    made = {command: runs for folder, command in commands.items() if (runs := _runs(folder))}
    measured = ROOT / "docs/measured"
    write_reported_vs_ours(made, ROOT / "docs/reported-vs-ours.md", measured, size_sections())
    if not made:
        words = " and ".join(f"`{command}`" for command in commands.values())
        print(f"docs/reported-vs-ours.md has the committed rows; make new runs with {words}")


def _runs(folder: str) -> list[Path]:
    return sorted(path.parent for path in (ROOT / folder).glob("*/*/*/seed*/run.json"))


if __name__ == "__main__":
    main()
