"""Write the table of docs/use.md: errors and label-free error estimates, by equation and architecture.

Run `python -m resolvent.documentation.estimates results/<study>` on any finished study.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pandas as pd

from resolvent.common.counts import counted
from resolvent.common.records import UNSHIFTED, RunRecord, read_record
from resolvent.documentation.pages import paragraph, table, write_part
from resolvent.figures.common.numbers import scientific, times
from resolvent.figures.experiment.estimates import HEADS, NUMBERS, read_estimates, summaries
from resolvent.planning.provenance import machine

PAGE, PART = "docs/use.md", "estimates"
COMMAND = "python -m resolvent.documentation.estimates"
BY = ["equation", "architecture", "distribution", "way"]
SIZES = ("train_samples", "epochs")
WORDS: dict[str, Callable[[float], str]] = {
    **dict.fromkeys(SIZES, "{:.0f}".format),
    **dict(zip(NUMBERS, (scientific, scientific, "{:.2f}".format, times), strict=True)),
}


def section(results: Path) -> str | None:
    """Return one row per equation, architecture and error estimate, or None without measurements.

    A cell has the range over all models, grids, experiments and shifts.
    """
    known, runs, most = [], 0, 0
    for file in sorted(results.glob("*/estimates.csv")):
        estimates = read_estimates(file)
        if len(estimates):
            one = read_record(next(file.parent.glob("*/*/seed*/run.json")), RunRecord).training
            known.append(summaries(estimates).assign(**{name: one[name] for name in SIZES}))
            runs += len(estimates.drop_duplicates(["model", "resolution", "seed"]))
            most = max(most, int(estimates["sample"].max()) + 1)
    if not known:
        return None
    every = pd.concat(known, ignore_index=True).query("way != ''")
    shifted = every["shift"] != UNSHIFTED
    every = every.assign(distribution=shifted.map({False: "as trained", True: "shifted"}))
    rows = []
    for of, here in every.groupby(BY, sort=False):
        equation, architecture, *more = map(str, cast(tuple, of))
        ends = ((here[name].min(), here[name].max(), write) for name, write in WORDS.items())
        cells = (" to ".join(dict.fromkeys((write(low), write(high)))) for low, high, write in ends)
        rows.append((equation, f"`{architecture}`", *more, *cells))
    about = (
        f"Written by `{COMMAND} results/{results.name}` on {machine()}: {counted(runs, 'run')}, each tested "
        f"on at most {most} samples. Errors and estimates are means over samples and seeds, rank "
        "correlations (Spearman) over the samples of a seed, ratios medians over samples; from the least to "
        "the largest of the models of an architecture, and of the shifts."
    )
    heads = ("equation", "architecture", "distribution", "known by", "training samples", "epochs", *HEADS)
    return f"{paragraph(about)}\n\n{table(heads, rows)}"


if __name__ == "__main__":
    write_part(PAGE, section(Path(sys.argv[1])), PART, "snakemake")
