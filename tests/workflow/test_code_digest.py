"""The rerun trigger sees what changes results, and nothing else."""

import pytest

from workflow import code_digest as module
from workflow.code_digest import code_digest


def forget():
    """Sources do not change while Snakemake plans, so all is worked out once."""
    for cached in (code_digest, module._file_of, module._tree, module._imports, module._meaning):
        cached.cache_clear()


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ROOT", tmp_path)
    forget()
    files = {
        "solvers/__init__.py": "",
        "solvers/heat.py": '"""Heat."""\nfrom solvers.grid import spacing\n\n'
        "def step(u):\n    return u * spacing\n",
        "solvers/grid.py": "spacing = 0.1\n",
        "solvers/unrelated.py": "x = 1\n",
        "datasets/__init__.py": "",
        "datasets/settings.py": "steps = 3\n",
        "datasets/progress.py": "bar = 3\n",
        "datasets/heat_settings.py": "width = 3\n",
        "datasets/task.py": "def run():\n    import solvers.heat\n    from datasets.settings import steps\n"
        "    from datasets.heat_settings import width\n    from datasets.progress import bar\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def edit(name, old, new):
        path = tmp_path / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
        forget()

    yield edit
    forget()


@pytest.mark.parametrize(
    ("name", "old", "new", "changes"),
    [
        ("solvers/heat.py", "u * spacing", "u / spacing", True),
        ("solvers/grid.py", "0.1", "0.2", True),  # imported by what is imported, inside a function
        ("solvers/__init__.py", "", "import solvers.unrelated\n", True),
        ("solvers/heat.py", '"""Heat."""', '"""The heat equation."""', False),
        ("solvers/heat.py", "def step(u):", "def step(u):  # one step\n", False),
        ("solvers/unrelated.py", "1", "2", False),
        ("datasets/heat_settings.py", "3", "4", False),
        ("datasets/progress.py", "3", "4", False),  # shows, and computes nothing
        ("datasets/settings.py", "3", "4", False),  # settings are parameters of the rules themselves
    ],
)
def test_only_what_can_change_a_result_changes_the_digest(project, name, old, new, changes):
    before = code_digest("datasets.task")
    project(name, old, new)
    assert (code_digest("datasets.task") != before) == changes


def test_a_module_that_does_not_exist_is_an_error(project):
    with pytest.raises(ModuleNotFoundError, match=r"no module solvers\.wave"):
        code_digest("solvers.wave")
