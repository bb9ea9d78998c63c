"""Papers with reproduced tables and figures: every folder here with a paper.py, by folder name."""

from importlib import import_module
from pathlib import Path

from resolvent.figures.papers.items import Paper

PAPERS: dict[str, Paper] = {
    file.parent.name: import_module(f"resolvent.figures.papers.{file.parent.name}.paper").PAPER
    for file in sorted(Path(__file__).parent.glob("*/paper.py"))
}
