"""Exhibits drawn from the folders and files that tests write."""

from pathlib import Path

from resolvent.figures.common.exhibit import Exhibit, Sources
from resolvent.figures.common.results import Run, read_runs
from resolvent.figures.experiment.report import READERS
from resolvent.figures.papers.items import READERS as OF_PAPERS

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


def given(runs, comparison=None, baselines=(), inference=None, candidates=None, named=True, **more) -> dict:
    """Return what the exhibits of an experiment are made from, as planning gives it."""
    return {
        "run_folders": runs, "candidates": candidates or runs, "named": named, "comparison_file": comparison,
        "baseline_folders": baselines, "inference_file": inference, "planned_facts": FACTS,
        "quantities": ("input", "target"), **more,
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


def read_all(experiments) -> list[list[Run]]:
    return [read_runs(folders) for folders in experiments]
