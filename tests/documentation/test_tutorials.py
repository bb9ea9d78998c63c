"""Tutorials and the gallery run as they stand, on one core, in less than a minute of it each."""

import os
import resource
from pathlib import Path

import jupytext
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs/gallery.md", *sorted((ROOT / "docs/tutorials").glob("[!i]*.md"))]
NOTEBOOKS = [page for page in PAGES if page.read_text(encoding="utf-8").startswith("---\njupytext:")]
SECONDS = 60


def core_seconds() -> float:
    """Return the seconds that processes which this one started, and which have ended, took of all cores."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    monkeypatch.setenv("PYTHONWARNINGS", "error:::__main__")
    monkeypatch.setenv("PYTHONPATH", str(ROOT) + os.pathsep + os.environ.get("PYTHONPATH", ""))
    before = core_seconds()
    notebook = jupytext.read(path)
    place = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place)
    client.shutdown_kernel = "immediate"  # an orderly end of it looks through all that torch has made
    client.execute()
    assert core_seconds() - before < SECONDS
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    complaints = [output.text for output in outputs if output.get("name") == "stderr"]
    assert not complaints


def test_the_study_that_a_tutorial_reads_is_as_specified():
    from resolvent.planning.verify import faults_below

    assert list(faults_below([ROOT / "docs/tutorials/finished_study"])) == []
