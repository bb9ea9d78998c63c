"""Write the page "reported and ours" from two committed tables, and add new runs to these tables.

Training at a paper's size takes hours, and its folder is not committed. The tables keep what the page needs:
docs/measured/reported_rows.csv for papers that report means, reported_medians.csv for medians.
"""

import math
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import reported_medians
from collapse import (
    RULE,
    collapsed,
    group_of,
    lowest_reported,
    reported_collapses,
    share,
)
from common_ratio import MARGIN, Compared, Comparison, Scatter, compare, group_means, scatter
from forest import draw_forest
from page_parts import folded, paragraph, table
from reported_medians import NO_ROW, made_by, median_rows, median_section

from resolvent.common.counts import counted
from resolvent.common.files import write_text
from resolvent.figures.common.numbers import DASH, duration
from resolvent.figures.common.results import Run, error_matrix, read_runs
from resolvent.figures.common.style import save
from resolvent.figures.published.recipe import expected_of
from resolvent.figures.published.reported_numbers import (
    EXAMPLES,
    MADE_BY,
    conditions,
    example_of,
    record,
    reported_number,
)
from resolvent.figures.published.tables import PaperTable, reported_rows

ROWS, ROWS_OF_MEDIANS, PLOT = "reported_rows.csv", "reported_medians.csv", "reported-vs-ours.svg"
REPORTED_SAMPLES = 100  # test samples behind every reported mean (Cao 2021, section 5)
EDGES = f"between 1/{MARGIN:g} = {1 / MARGIN:.2f} and {MARGIN:g}"
HEADER = f"""\
# Reported and ours

This page compares the numbers reported in the two papers with our training runs. `make docs` writes it from
[reported_rows.csv](measured/{ROWS}) and [reported_medians.csv](measured/{ROWS_OF_MEDIANS}); do not edit it.
[Why they differ](why-they-differ.md) lists known causes of the differences. The costs of
training steps (Table 1 of Cao 2021) are on the page [Performance](performance.md#table-1-of-the-paper).

**No run on this page used the papers' data.** Ours are other samples of the same distributions, as far as
these are known ([comparison with public data](datasets.md#comparison-with-public-data)). If you have the
public files of Burgers' equation and Darcy flow, put them into the folder `public` (or change the paths in
`config/public_data.yaml`), and train on them with

    snakemake --cores all --configfile config/cao2021.yaml config/public_data.yaml"""
CAPTION = f"""\
Our error divided by the reported error, for each row that has a ratio. Lines are 95 % intervals that
hold for all rows of the table simultaneously; a thin line with an open marker does not include the spread
between seeds, which is unknown. The diamond is the common ratio. The grey band is the margin, {EDGES}."""
INTRODUCTIONS = {  # by the statistic that a paper reports
    "mean": f"""\
"Ours" is the mean relative L² error over the test samples at the epoch with the lowest validation error,
averaged over the seeds; for one seed, with its 95 % interval over the test samples. A ratio is shown only if
every recorded setting equals the setting of the reported number, and neither training collapsed. If the
paper's text (recipe `paper`) and its public code (`code`) differ, this is the setting of the code and, for
Burgers' equation, the data of [the public file](equations/burgers.md#the-default-operator).

All reported numbers of a table are means over the same {REPORTED_SAMPLES} test samples, and ours over the
same other samples, so the rows of a table are not independent comparisons. Each table therefore has one
*common ratio*, the geometric mean over its rows, and each row a *deviation*: its ratio divided by the common
ratio.
The common ratio and the deviations are *equivalent* to 1 if their 95 % interval lies {EDGES}, *different* if
it lies outside, and *undecided* otherwise. Intervals of ratios and of deviations hold for all rows of a table
simultaneously. They include our test samples, the {REPORTED_SAMPLES} behind the reported numbers, and the
spread between seeds, pooled over all rows with the same architecture. It is known from three seeds of one
row, or from two seeds of each of two rows. Where it is unknown, intervals marked \\* hold only for the two
trained networks, and the row is undecided.
[Intervals and rankings](statistics.md#reported-numbers) has the definitions and the measured coverage.
"Paper's protocol" is the ratio with our lowest error of all epochs on the first {REPORTED_SAMPLES} test
samples, as the paper chose its numbers; it has no interval.

{RULE} The rule is the same for reported trainings, where the paper prints the best epoch. Collapsed trainings
have no ratio; tables of collapsed trainings have exact (Clopper-Pearson) 95 % intervals of the probability of
collapse.""",
    "median": """\
The tables show median and worst errors over the test samples, for fields standardised by one mean and one
standard deviation of the training samples. The paper does not define its errors; its public code computes
them from standardised fields, in one dimension with separate statistics for each split. Trajectories are
also tested at times other than the training times (marked \\*). If models with and without quadrature weights
were trained by one command, the table has the geometric mean of the ratios of their errors: above one, the
weights help.""",
}
# Seven columns fit beside the menus of the documentation site on a screen of 1280 pixels.
MEANS = ("model", "reported", "ours", "ours / reported", "paper's protocol", "deviation", "verdict")
OF_TRAININGS = (
    "model", "recipe", "n", "seed", "ours", "paper's protocol", "best epoch", "training", "per step",
)  # fmt: skip
SETTING = ["model", "recipe", "resolution", "noise"]  # the same for all seeds of a row
SIZES = ("train_samples", "validation_samples", "test_samples", "epochs", "batch_size")
KEY = ["table", *SETTING, "seed"]
TEXTS = (
    "table", "model", "recipe", "reported", "reported_epoch", "reason", "dataset", "groups", "machine",
    "command",
)  # fmt: skip


def write_reported_vs_ours(
    commands: dict[str, list[Path]],
    output: Path,
    measured: Path,
    more: dict[str, dict[str, str]] | None = None,
) -> None:
    """Add runs to the committed tables, and write the page and its plot from these tables alone.

    commands  run folders by the command that makes the runs; empty if there are none.
    output    the page; the plot goes into the folder `images` beside it.
    measured  folder of the committed tables.
    more      other sections by paper and title.
    """
    of_means: list[dict] = []
    of_medians: list[dict] = []
    for command, folders in commands.items():
        data: dict[tuple[str, str], list[Run]] = {}
        for run in read_runs(folders):
            example = example_of(run.record)
            if example is None:
                continue
            if example.source.statistic == "median":
                settings, title = run.record.dataset_settings, example.title
                title += f", {settings['targets']} from x" if settings["equation"] == "lorenz63" else ""
                data.setdefault((example.source.name, title), []).append(run)
                continue
            # A run is a row of each table where it is comparable, or has a row, or of the first.
            recorded = record(run.record)
            having = [one for one in example.tables if one.row(recorded) is not None]
            rows = [measured_row(run, one, command) for one in having or example.tables[:1]]
            of_means += [row for row in rows if not row["reason"]] or rows
        for (paper, title), runs in data.items():
            of_medians += median_rows(runs, paper, title, command)
    tables = [_Table(name, rows) for name, rows in _by(kept_rows(measured / ROWS, of_means), ["table"])]
    medians = kept_medians(measured / ROWS_OF_MEDIANS, of_medians)

    page = [_wrapped(HEADER)]
    compared = {one.name: (one.names, one.comparison) for one in tables if one.comparison}
    if compared:
        plot = output.parent / "images" / PLOT
        plot.parent.mkdir(exist_ok=True)
        _, *others = save(draw_forest(compared), plot)
        for other in others:  # the page needs only the SVG
            other.unlink()
        page.append(
            f"![Ratios of our errors to reported errors by table](images/{PLOT})\n\n{_wrapped(CAPTION)}"
        )
    sections = {paper: dict(of_paper) for paper, of_paper in (more or {}).items()}
    for one in tables:
        sections.setdefault(one.example.source.name, {})[one.name] = one.section(tables)
    for (paper, title), rows in _by(medians, ["paper", "title"]):
        sections.setdefault(paper, {})[title] = median_section(rows)
    sources = {example.source.name: example.source for example in EXAMPLES}
    for name, source in sorted(sources.items(), key=lambda item: item[1].statistic):
        if of_paper := sections.get(name):
            cited = f'"Reported" numbers are from {source.citation}.'
            page.append(_wrapped(f"## {name}\n\n{INTRODUCTIONS[source.statistic]} {cited}"))
            page += [f"### {title}\n\n{of_paper[title]}" for title in sorted(of_paper)]
    write_text(output, "\n\n".join(page) + "\n")


def _wrapped(text: str) -> str:
    """Return text with each paragraph filled; indented commands and headings stay."""
    return "\n\n".join(one if one[0] in " #" else paragraph(one) for one in text.split("\n\n"))


def measured_row(run: Run, table: PaperTable, command: str) -> dict:
    """Return the committed values of a run and of the paper's number for the same setting.

    `place` is the row in the paper's table; `reported` is the number as printed, or "" if there is none;
    `reason` is why the two cannot be compared, or "" if they can. `mean` is the mean relative L2 error of the
    test samples at the epoch selected by validation, NaN if training diverged (in epoch `diverged`), followed
    by its `Scatter`. `protocol` is the lowest mean error of any epoch on the first test samples, as many as
    there are validation samples. `groups` are means over groups of the test samples of `dataset`, divided by
    `mean`: with them the correlation between two runs is known (rows of earlier versions have none).
    """
    cost, rows = run.cost, reported_rows(table.file)
    paper, row = reported_number(run.record, cost, table), table.row(record(run.record))
    mean, spread, groups = math.nan, Scatter(*4 * [math.nan]), ""
    errors = error_matrix([run.errors], run.resolution, run.noise).to_numpy().ravel()
    if not run.diverged and errors.size:
        mean, spread = float(errors.mean()), scatter(errors, REPORTED_SAMPLES)
        groups = " ".join(f"{group:.4g}" for group in group_means(errors) / mean)
    return {
        "table": table.name,
        "place": rows.index(row) if row else len(rows),
        "unit": table.unit,
        "model": run.label,
        "recipe": run.record.recipe or "",
        "resolution": run.resolution,
        "noise": run.noise,
        "seed": run.seed,
        "reported": paper.digits,
        "reported_epoch": paper.best_epoch,
        "reason": "" if paper.value is not None else paper.reason,
        "mean": mean,
        **asdict(spread),
        "diverged": cost.diverged_epoch or 0,
        "protocol": cost.best_test_relative_l2 or math.nan,
        "protocol_epoch": cost.best_test_epoch or 0,
        "best_epoch": cost.best_epoch,
        "epochs": run.record.training["epochs"],
        **{name: run.record.training[name] for name in SIZES if name != "epochs"},
        "train_seconds": cost.train_seconds,
        "seconds_per_step": cost.seconds_per_step,
        "dataset": run.record.dataset_hash,
        "groups": groups,
        "machine": f"{cost.device}, {counted(cost.threads, 'thread')} a run",
        "command": command,
    }


def kept_rows(file: Path, new: list[dict]) -> pd.DataFrame:
    """Replace rows of `file` by new rows with the same key, and return all rows in the papers' order."""
    rows = _with_new(file, new, TEXTS)
    if rows.empty:
        return rows
    # A new row that cannot be compared, such as of a shorter training, does not replace one that can.
    settled = rows.assign(settled=(rows["reported"] != "") & (rows["reason"] == ""))
    settled = settled.sort_values("settled", kind="stable")
    rows = settled.drop_duplicates(KEY, keep="last").drop(columns="settled")
    rows = rows.sort_values(["table", "place", *SETTING, "seed"])
    return _written(file, rows)


def kept_medians(file: Path, new: list[dict]) -> pd.DataFrame:
    """Replace rows of `file` by new rows with the same key, and return all rows, those of a run together."""
    rows = _with_new(file, new, reported_medians.TEXTS)
    if rows.empty:
        return rows
    rows = rows.drop_duplicates(reported_medians.KEY, keep="last")
    return _written(file, rows.sort_values(["paper", "title"], kind="stable"))


def _with_new(file: Path, new: list[dict], texts: tuple[str, ...]) -> pd.DataFrame:
    rows = pd.DataFrame(new)
    if file.exists():
        kept = pd.read_csv(file, dtype=dict.fromkeys(texts, str), keep_default_na=False, na_values=["nan"])
        rows = pd.concat([kept, rows]) if new else kept
    return rows


def _written(file: Path, rows: pd.DataFrame) -> pd.DataFrame:
    write_text(file, rows.to_csv(index=False, float_format="%.9g", na_rep="nan", lineterminator="\n"))
    return rows


def _by(rows: pd.DataFrame, columns: list[str]) -> list[tuple[Any, list[Any]]]:
    """Return the rows of a table by the value of a column, or by the values of several, in their order."""
    if rows.empty:
        return []
    groups = rows.groupby(columns[0] if len(columns) == 1 else columns, sort=False)
    return [(value, list(group.itertuples())) for value, group in groups]


@dataclass(frozen=True)
class _Setting:
    """The trainings of one setting: committed rows that differ only in the seed."""

    rows: list[Any]
    name: str
    reported_row: dict[str, str] | None
    collapsed: list[bool]  # for each row; a row that cannot be compared did not collapse
    reported_collapsed: bool

    @property
    def compared(self) -> list[Any]:
        """Return the rows that have a ratio."""
        if self.reported_collapsed:
            return []
        rows = [row for row, lost in zip(self.rows, self.collapsed, strict=True) if not lost]
        return [row for row in rows if row.reported and not row.reason and math.isfinite(row.mean)]

    @property
    def protocol_ratio(self) -> float:
        """Return the ratio in the paper's own protocol, NaN if not recorded for all compared rows."""
        first = self.rows[0]
        return float(np.mean([row.protocol for row in self.compared])) / (float(first.reported) * first.unit)


class _Table:
    """A table of a paper that reports means, and our trainings of its rows."""

    def __init__(self, name: str, rows: list[Any]) -> None:
        """Compare the committed rows of the table `name`."""
        self.name = name
        self.example, self.table = next(
            (example, one)
            for example in EXAMPLES
            for one in example.tables
            if one.name == name and example.source.statistic == "mean"
        )
        expected = expected_of({}, conditions(self.example, self.table, MADE_BY))
        self.epochs = int(str(expected["training.epochs"]))
        groups = groupby(rows, key=lambda row: [getattr(row, name) for name in SETTING])
        self.settings = [self._setting(list(group)) for _, group in groups]
        labels = [(setting.name, setting.rows[0].resolution) for setting in self.settings]
        for number, setting in enumerate(self.settings):
            if labels.count(labels[number]) > 1:  # only the recipe differs
                name = f"{setting.name} (recipe {setting.rows[0].recipe or 'none'})"
                self.settings[number] = replace(setting, name=name)
        self.power = f"{rows[0].unit:.0e}".lstrip("1").replace("e-0", "e-")  # "e-3", as the paper prints it
        self.compared = [setting for setting in self.settings if setting.compared]
        self.comparison: Comparison | None = None
        if self.compared:
            self.comparison = compare([self._compared(setting) for setting in self.compared])

    @property
    def names(self) -> list[str]:
        """Return the names of the compared rows with their resolution, if the table has several."""
        several = len({setting.rows[0].resolution for setting in self.settings}) > 1
        return [setting.name + f", n = {setting.rows[0].resolution}" * several for setting in self.compared]

    def _setting(self, rows: list[Any]) -> _Setting:
        first, printed = rows[0], reported_rows(self.table.file)
        reported_row = printed[first.place] if first.place < len(printed) else None
        name = f"{first.model}, noise {first.noise:g}" if first.noise else first.model
        happened, reported_collapsed = [False] * len(rows), False
        if reported_row is not None:
            lowest = lowest_reported(self.table, reported_row)
            happened = [
                not row.reason
                and (row.diverged > 0 or collapsed(row.mean, row.best_epoch, row.epochs, lowest))
                for row in rows
            ]
            if best_epoch := reported_row.get("best_epoch"):
                error = float(reported_row["reported"]) * self.table.unit
                reported_collapsed = collapsed(error, float(best_epoch), self.epochs, lowest)
        return _Setting(rows, name, reported_row, happened, reported_collapsed)

    def _compared(self, setting: _Setting) -> Compared:
        rows, first = setting.compared, setting.compared[0]
        assert setting.reported_row is not None  # it has a reported number
        scatters = [Scatter(row.below, row.above, row.few_below, row.few_above) for row in rows]
        groups = None
        datasets = [row.dataset for one in self.compared for row in one.compared if row.groups]
        if all(row.groups and row.dataset == datasets[0] for row in rows):
            groups = np.mean([row.mean * np.array(row.groups.split(), float) for row in rows], axis=0)
        means, reported = np.array([row.mean for row in rows]), float(first.reported) * first.unit
        return Compared(setting.reported_row["architecture"], means, scatters, reported, groups)

    def section(self, tables: list["_Table"]) -> str:
        """Return the section of this table; `tables` are all, which may have the same trainings."""
        cells = [self._line(setting) for setting in self.settings]
        parts = [self._statement(), self._shared(tables), table(MEANS, cells)]
        rows = [row for setting in self.settings for row in setting.rows]
        if any("*" in cell for line in cells for cell in line):
            parts.append("\\* without the spread between seeds, which is unknown")
        reasons: dict[str, dict[str, None]] = {}
        for row in rows:
            if row.reason and not row.reason.endswith(NO_ROW):
                reasons.setdefault(row.reason, {})[row.model] = None
        parts += [paragraph(f"{', '.join(models)}: {reason}.") for reason, models in reasons.items()]
        parts.append(self._collapses())
        values = {name: dict.fromkeys(str(getattr(row, name)) for row in rows) for name in SIZES}
        sizes = (f"{name.replace('_', ' ')} {' or '.join(values[name])}" for name in SIZES)
        trainings = [self._training(setting, row) for setting in self.settings for row in setting.rows]
        parts += [f"Sizes: {', '.join(sizes)}.", folded("Trainings", table(OF_TRAININGS, trainings))]
        parts.append(made_by(rows))
        return "\n\n".join(filter(None, parts))

    def _statement(self) -> str:
        """Return the result of the comparison in one paragraph."""
        if self.comparison is None:
            return "No row has a ratio."
        common, rows = self.comparison.common, self.comparison.rows
        protocol = np.exp(np.mean([np.log(setting.protocol_ratio) for setting in self.compared]))
        beside = f" ({protocol:.2f} in the paper's protocol)" if np.isfinite(protocol) else ""
        if len(rows) == 1:
            words = f"One row has a ratio, {_bracketed(common)}{beside}, so the table has no common ratio"
            return paragraph(f"**{words}: {self.comparison.verdict}.**")
        words = f"Common ratio of {len(rows)} rows: {_bracketed(common)}{beside}, {self.comparison.verdict}"
        names: dict[str, list[str]] = {verdict: [] for verdict in ("different", "equivalent", "undecided")}
        for name, row in zip(self.names, rows, strict=True):
            names[row.verdict].append(name)
        said = []
        for verdict, named in names.items():
            if named:
                which = "; ".join(named) if len(named) < 4 else f"{len(named)} of {len(rows)} rows"
                said.append(f"{verdict} for {which}")
        known = self.comparison.correlation
        correlation = "The correlation of two rows' errors over the test samples "
        if known is None:
            correlation += (
                "was not recorded for these runs. It counts as 1 for the common ratio and as 0 for the "
                "deviations, which gives the widest intervals."
            )
        else:
            correlation += f"is {known:.2f}."
        return paragraph(f"**{words}.** The deviations from it are {', and '.join(said)}. {correlation}")

    def _shared(self, tables: list["_Table"]) -> str:
        """Say which of the compared trainings are compared in another table too."""
        mine, said = _trainings(self), []
        for other in tables:
            both = len(mine & _trainings(other)) if other is not self else 0
            if both == len(mine) and mine:
                said.append(
                    f"All trainings compared here are also compared in {other.name}, so this is not a second "
                    "comparison."
                )
            elif both:
                said.append(
                    f"Also compared in {other.name}: {both} of the {len(mine)} trainings compared here."
                )
        return paragraph(" ".join(said))

    def _line(self, setting: _Setting) -> tuple[str, ...]:
        """Return the cells of a setting, in the columns `MEANS`."""
        result = None
        if self.comparison and setting in self.compared:
            result = self.comparison.rows[self.compared.index(setting)]
        first, rows, lost = setting.rows[0], setting.rows, sum(setting.collapsed)
        reported = f"{first.reported}{self.power}" if first.reported else NO_ROW
        if first.reported_epoch:
            reported += f" (epoch {first.reported_epoch})"
        seeds = counted(len(rows), "seed") + (f", {lost} collapsed" if 0 < lost < len(rows) else "")
        name = f"{setting.name}, n = {first.resolution} ({seeds})"
        if result is None:
            ours = self._ours(rows)
            verdict = DASH
            if lost == len(rows):
                verdict = "; ".join(dict.fromkeys(map(_ending, rows)))
            elif setting.reported_collapsed and not first.reason:
                verdict = "the reported training collapsed"
            return (name, reported, ours, DASH, DASH, DASH, verdict)
        mark = "" if result.seeds_known else "*"
        deviation = _bracketed(result.deviation) + mark if np.isfinite(result.deviation.low) else DASH
        protocol = f"{setting.protocol_ratio:.2f}" if np.isfinite(setting.protocol_ratio) else DASH
        return (
            name, reported, self._ours(setting.compared),
            _bracketed(result.ratio) + mark, protocol, deviation, result.verdict,
        )  # fmt: skip

    def _ours(self, rows: list[Any]) -> str:
        """Return the mean error over seeds; for one seed, with its interval over the test samples."""
        finite = [row for row in rows if math.isfinite(row.mean)]
        if not finite:
            return DASH
        mean = float(np.mean([row.mean for row in finite])) / finite[0].unit
        if len(finite) > 1:
            return f"{mean:.3f}{self.power}"
        low, high = mean * np.exp([-finite[0].below, finite[0].above])
        return f"{mean:.3f}{self.power} [{low:.3f}, {high:.3f}]"

    def _training(self, setting: _Setting, row) -> tuple[str, ...]:
        """Return the cells of a training, in the columns `OF_TRAININGS`."""
        protocol = DASH
        if row.protocol_epoch and row.protocol < 1:
            protocol = f"{row.protocol / row.unit:.3f}{self.power} (epoch {row.protocol_epoch})"
        ours = self._ours([row])
        if not math.isfinite(row.mean):
            ours = f"diverged in epoch {row.diverged}" if row.diverged else "not finite"
        return (
            setting.name, row.recipe or DASH, str(row.resolution), _seed(row.seed), ours, protocol,
            f"{row.best_epoch} of {row.epochs}", duration(row.train_seconds),
            f"{row.seconds_per_step * 1e3:.0f} ms",
        )  # fmt: skip

    def _collapses(self) -> str:
        """Return the table of settings in which a training collapsed, ours or the paper's."""
        ours: dict[str, list[bool]] = {}
        for setting in self.settings:
            if setting.reported_row is not None:
                comparable = [not row.reason for row in setting.rows]
                happened = [lost for lost, kept in zip(setting.collapsed, comparable, strict=True) if kept]
                ours.setdefault(group_of(self.table, setting.reported_row), []).extend(happened)
        reported = reported_collapses(self.table, self.epochs)
        lines: list[tuple[str, ...]] = []
        without = [0, 0]
        for group in dict.fromkeys([*reported, *ours]):
            outcomes = ours.get(group, []), reported.get(group, [])
            if any(map(any, outcomes)):
                lines.append((group, *(share(one) if one else DASH for one in outcomes)))
            else:
                without = [known + len(one) for known, one in zip(without, outcomes, strict=True)]
        rest = f"{without[0]} of ours" + (f" and {without[1]} reported" if reported else "")
        if not lines:
            return f"No training collapsed ({rest})." if any(without) else ""
        heads = ["collapsed trainings", "ours, by seed", "reported, by cell"]
        if not reported:  # the table has no best epochs
            heads, lines = heads[:2], [line[:2] for line in lines]
        return f"{table(heads, lines)}\n\nNo other training collapsed ({rest})."


def _trainings(of_table: _Table) -> set[tuple]:
    rows = [row for setting in of_table.compared for row in setting.compared]
    return {(row.model, row.recipe, row.resolution, row.noise, row.seed, row.mean) for row in rows}


def _ending(row) -> str:
    """Return how a collapsed training ended."""
    return f"diverged in epoch {row.diverged}" if row.diverged else f"collapsed at epoch {row.best_epoch}"


def _seed(seed: float) -> str:
    return DASH if math.isnan(seed) else f"{seed:.0f}"


def _bracketed(interval) -> str:
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
