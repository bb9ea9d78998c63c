"""Tutorials and the gallery run as they stand, on one core, in less than a minute of it each."""

import os
from pathlib import Path

import jupytext
import nbformat
import psutil
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs/gallery.md", *sorted((ROOT / "docs/tutorials").glob("*.md"))]
NOTEBOOKS = [page for page in PAGES if page.read_text(encoding="utf-8").startswith("---\njupytext:")]
SECONDS = 60
pytestmark = pytest.mark.docs
CLIENT = "jupyter_client.asynchronous.AsyncKernelClient"  # which nbclient asks for


@pytest.fixture(scope="module")
def kernel():
    """Start a Python for all notebooks, since to import takes longer than most of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_PLATFORMS", "cpu")
        patch.setenv("PYTHONWARNINGS", "error:::__main__")
        patch.setenv("PYTHONPATH", str(ROOT) + os.pathsep + os.environ.get("PYTHONPATH", ""))
        manager = KernelManager(kernel_name="python3", client_class=CLIENT)
        manager.start_kernel()
    yield manager
    manager.shutdown_kernel(now=True)  # an orderly end of it looks through all that torch has made


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, kernel):
    process = psutil.Process(kernel.provisioner.process.pid)
    before = sum(process.cpu_times())
    notebook = jupytext.read(path)
    begin = f"%reset -f\nimport os\nos.chdir({str(path.parent)!r})\ndel os"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(begin))
    client = NotebookClient(notebook, timeout=300, km=kernel)
    client.execute()
    client.kc.stop_channels()
    assert sum(process.cpu_times()) - before < SECONDS
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    complaints = [output.text for output in outputs if output.get("name") == "stderr"]
    assert not complaints
