"""The rerun trigger sees what changes results, and nothing else."""

import pytest

from resolvent.planning import rerun as module
from resolvent.planning.rerun import code_digest


def forget():
    """Sources do not change while Snakemake plans, so all is worked out once."""
    for cached in (code_digest, module._file_of, module._tree, module._imports, module._meaning):
        cached.cache_clear()


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ROOT", tmp_path)
    forget()
    files = {
        "resolvent/solvers/__init__.py": "",
        "resolvent/solvers/heat.py": '"""Heat."""\nfrom resolvent.solvers.grid import spacing\n\n'
        "def step(u):\n    return u * spacing\n",
        "resolvent/solvers/grid.py": "spacing = 0.1\n",
        "resolvent/solvers/unrelated.py": "x = 1\n",
        "resolvent/datasets/__init__.py": "",
        "resolvent/datasets/settings.py": "steps = 3\n",
        "resolvent/datasets/progress.py": "bar = 3\n",
        "resolvent/datasets/heat_settings.py": "width = 3\n",
        "resolvent/datasets/task.py": "def run():\n    import resolvent.solvers.heat\n"
        "    from resolvent.datasets.settings import steps\n"
        "    from resolvent.datasets.heat_settings import width\n"
        "    from resolvent.datasets.progress import bar\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
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
        ("resolvent/solvers/heat.py", "u * spacing", "u / spacing", True),
        ("resolvent/solvers/grid.py", "0.1", "0.2", True),  # imported by what is imported, inside a function
        ("resolvent/solvers/__init__.py", "", "import resolvent.solvers.unrelated\n", True),
        ("resolvent/solvers/heat.py", '"""Heat."""', '"""The heat equation."""', False),
        ("resolvent/solvers/heat.py", "def step(u):", "def step(u):  # one step\n", False),
        ("resolvent/solvers/unrelated.py", "1", "2", False),
        ("resolvent/datasets/heat_settings.py", "3", "4", False),
        ("resolvent/datasets/progress.py", "3", "4", False),  # shows, and computes nothing
        (
            "resolvent/datasets/settings.py",
            "3",
            "4",
            False,
        ),  # settings are parameters of the rules themselves
    ],
)
def test_only_what_can_change_a_result_changes_the_digest(project, name, old, new, changes):
    before = code_digest("resolvent.datasets.task")
    project(name, old, new)
    assert (code_digest("resolvent.datasets.task") != before) == changes


def test_a_module_that_does_not_exist_is_an_error(project):
    with pytest.raises(ModuleNotFoundError, match=r"no module resolvent\.solvers\.wave"):
        code_digest("resolvent.solvers.wave")
