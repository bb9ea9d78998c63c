"""Exhibits drawn from the folders and files that tests write."""

from pathlib import Path

import pandas as pd

from resolvent.figures.common.exhibit import Exhibit, Sources
from resolvent.figures.common.results import Run, read_runs
from resolvent.figures.common.table import Table, write_table
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.experiment.report import READERS
from resolvent.figures.papers.sources import READERS as OF_PAPERS

FACTS = {
    "train": 10, "validation": 2, "test": 40, "epochs": 30, "batch_size": 8, "seeds": "2 seeds",
    "tested": "512 points", "chosen": "Chosen.", "located": "By point.", "input": "before",
    "target": "after", "model": "a model",
}  # fmt: skip


def without_rendering(patch) -> None:
    """Let every figure be drawn, and none rendered, which takes longer than all else of a page."""

    def write_empty(figure, output):
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        words = " ".join(text.get_text() for text in figure.findobj(lambda one: hasattr(one, "get_text")))
        Path(output).write_text(f'<svg xmlns="http://www.w3.org/2000/svg"><!-- {words} --></svg>')

    patch.setattr("resolvent.figures.common.exhibit.save", write_empty)


def given(
    runs, comparison=None, baselines=(), inference=None, candidates=None, named=True, estimates=None, **more
) -> dict:
    """Return what the exhibits of an experiment are made from, as planning gives it."""
    return {
        "run_folders": runs, "candidates": candidates or runs, "named": named, "comparison_file": comparison,
        "baseline_folders": baselines, "inference_file": inference, "planned_facts": FACTS,
        "quantities": ("input", "target"), "estimates_file": estimates, "shifts": (), "scaled": False,
        "rates": False, "rollout_file": None, **more,
    }  # fmt: skip


def written(exhibit: Exhibit, output: Path, *arguments, **keywords) -> list[Path]:
    """Write an exhibit of an experiment, and return its files, the one named first."""
    exhibit.write(Sources(READERS, **given(*arguments, **keywords)), output)
    return [
        output,
        *(
            file
            for file in map(Path, exhibit.files(str(output.with_suffix(""))))
            if file != output and file.exists()
        ),
    ]


def drawn(exhibit: Exhibit, *arguments, **keywords):
    """Return the figure of an exhibit of an experiment."""
    return Sources(READERS, **given(*arguments, **keywords)).call(exhibit.draw)


def of_paper(draw, experiments=(), comparisons=(), **more):
    """Return what the function of a paper's item draws: a figure or a table."""
    sources = Sources(
        OF_PAPERS, run_folders=experiments, candidates=experiments, comparison_files=comparisons,
        quantities=("input", "target"), **more,
    )  # fmt: skip
    return sources.call(draw)


def compared(runs, folder: Path, baselines=()) -> Path:
    """Write the comparison of these runs into the folder, and return its path."""
    write_comparison(runs, baselines, folder / "comparison.csv")
    return folder / "comparison.csv"


def printed(table: Table, folder: Path) -> pd.DataFrame:
    """Write a table as `item.csv`, `.tex` and `.html`, all checked for balance; return the first as text."""
    csv, latex, html = (folder / f"item{suffix}" for suffix in (".csv", ".tex", ".html"))
    write_table(table, (csv, latex, html))
    latex, html = latex.read_text(), html.read_text()
    assert latex.count("{") == latex.count("}")
    assert latex.replace(r"\$", "").count("$") % 2 == 0
    rows = [line for line in latex.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert len({line.replace(r"\&", "").count("&") for line in rows}) == 1
    assert html.count("<tr") == html.count("</tr>")
    assert html.count("<td") == html.count("</td>")
    return pd.read_csv(csv, dtype=str, keep_default_na=False)


def words_of(figure) -> list[str]:
    """Return every text of a figure."""
    return [text.get_text() for text in figure.findobj(lambda one: hasattr(one, "get_text"))]


def read_all(experiments) -> list[list[Run]]:
    return [read_runs(folders) for folders in experiments]
