"""The digest of a script sees what changes results, and nothing else."""

# ruff: noqa: E501  (the sources of a small project)
import sys

import pytest

from resolvent.planning import rerun
from resolvent.planning import rerun as module
from resolvent.planning.places import HOME as ROOT
from resolvent.planning.plan import architecture_modules
from resolvent.planning.rerun import everything_reached, files_read, script_digest

CACHED = (
    script_digest, everything_reached, module._file_of, module._tree, module._contents, module._parts,
    module._meaning, module._used_by, module._bound_in, module._of_project, module._kept,
)  # fmt: skip
HEAT = ("resolvent.datasets.tasks_of_heat:Heat", "resolvent.datasets.settings:HeatSettings")
SOURCES = {
    "workflow/scripts/jobs.py": "from resolvent.planning.job import job\n\n"
    "def solve():\n    from resolvent.datasets.run import run\n    run()\n"
    "def draw():\n    return 1\nwith job():\n    globals()[name]()\n",
    "resolvent/planning/job.py": "def job(): pass\n",
    "resolvent/solvers/__init__.py": "",
    "resolvent/solvers/heat.py": '"""Heat."""\nfrom resolvent.solvers.grid import spacing\n\n'
    "def step(u):\n    return u * spacing\n",
    "resolvent/solvers/grid.py": "spacing = 0.1\n",
    "resolvent/solvers/nodes.py": "def nodes(n): return n\n",
    "resolvent/solvers/errors.py": "Words = str\nclass TooHot(Exception):\n    heat = 'hot'\n",
    "resolvent/solvers/refusals.py": "from resolvent.solvers.errors import TooHot, Words\nimport warnings\n"
    "TABLE: dict[int, Words] = {1: 'of no use'}\nLIST = []\n"
    "def check(u):\n    reason: Words = 'look again'\n    if u > 9: raise TooHot(f'{u} is too large')\n"
    "    warnings.warn(say(TABLE))\n    print(reason)\n"
    "def say(table) -> Words:\n    return 'so said'\ndef unused(): return 1\n"
    "@LIST.append\ndef entered(): return 1\n",
    "resolvent/solvers/unrelated.py": "x = 1\n",
    "resolvent/solvers/wave.py": "",
    "resolvent/datasets/__init__.py": "",
    "resolvent/datasets/progress.py": "bar = 3\n",
    "resolvent/datasets/run.py": "from typing import TYPE_CHECKING\nfrom resolvent.datasets.progress import bar\n"
    "from resolvent.datasets.settings import hashed\nfrom resolvent.datasets.tasks import task\n"
    "if TYPE_CHECKING:\n    from resolvent.solvers.unrelated import x\nelse:\n    from resolvent.datasets.pages import page\n"
    "def run(): task(hashed(call('resolvent.datasets.called:later')))\n",
    "resolvent/datasets/called.py": "def later(): pass\n",
    "resolvent/datasets/pages.py": "page = open\n",
    "resolvent/datasets/page.html": "<p>",
    "resolvent/datasets/other.html": "<p>",
    "resolvent/datasets/tasks.py": "TASKS = {'heat': 'resolvent.datasets.tasks_of_heat:Heat', 'wave': 'resolvent.datasets.wave:Wave'}\n"
    "def task(name): return TASKS[name]\n",
    "resolvent/datasets/tasks_of_heat.py": "class Heat:\n    def run(self):\n        import resolvent.solvers.heat as heat\n"
    "        from resolvent.solvers.refusals import check\n        heat.step(check(1))\n",
    "resolvent/datasets/wave.py": "class Wave: pass\n",
    "resolvent/datasets/settings.py": "from pydantic import Field\nfrom resolvent.solvers.nodes import nodes\n"
    "from resolvent.solvers.unrelated import x\nLEAST = 3\ndef hashed(): return 0\n"
    "class HeatSettings:\n    width: int = Field(LEAST, description='width')\n"
    "    def times(self): return nodes(self.width)\n"
    "class WaveSettings:\n    speed: int = x\n",
}  # fmt: skip


@pytest.fixture
def edit(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ROOTS", dict.fromkeys(module.ROOTS, tmp_path))
    monkeypatch.setattr(module, "TABLES", ("resolvent.datasets.tasks:TASKS",))
    monkeypatch.setattr(module, "FILES_READ", {"resolvent.datasets.pages": ("resolvent/datasets/pa*.html",)})
    forget()
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def replace(name, old, new):
        path = tmp_path / name
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
        forget()

    yield replace
    forget()


def forget():
    for cached in CACHED:
        cached.cache_clear()


@pytest.mark.parametrize(
    ("name", "old", "new", "changes"),
    [
        ("workflow/scripts/jobs.py", "    run()\n", "    run(2)\n", True),
        ("workflow/scripts/jobs.py", "with job", "# One shard.\nwith job", False),
        ("workflow/scripts/jobs.py", "return 1", "return 2", False),  # another job
        ("resolvent/solvers/heat.py", "u * spacing", "u / spacing", True),
        ("resolvent/solvers/grid.py", "0.1", "0.2", True),  # imported by what is imported, inside a function
        ("resolvent/solvers/__init__.py", "", "import resolvent.solvers.wave\n", True),
        ("resolvent/solvers/heat.py", '"""Heat."""', '"""The heat equation."""', False),
        ("resolvent/solvers/heat.py", "def step(u):", "def step(u):  # one step\n", False),
        ("resolvent/datasets/called.py", "pass", "return 1", True),  # named as a string, to be imported later
        ("resolvent/datasets/page.html", "<p>", "<b>", True),
        ("resolvent/datasets/other.html", "<p>", "<b>", False),
        # Imported for annotations, and by other settings.
        ("resolvent/solvers/unrelated.py", "1", "2", False),
        ("resolvent/solvers/unrelated.py", "1", "1\nprint(x)", True),  # which importing it does
        ("resolvent/solvers/heat.py", "return", "if u < 0: raise ValueError('negative')\n    return", True),
        ("resolvent/solvers/errors.py", "hot", "warm", False),
        ("resolvent/solvers/refusals.py", "too large", "large", False),
        ("resolvent/solvers/refusals.py", "so said", "said", False),
        ("resolvent/solvers/refusals.py", "of no use", "useless", False),
        ("resolvent/solvers/refusals.py", "look again", "look", False),
        ("resolvent/solvers/refusals.py", "u > 9", "u > 8", True),
        ("resolvent/solvers/refusals.py", "def unused(): return 1", "def unused(): return 2", False),
        ("resolvent/solvers/refusals.py", "def entered(): return 1", "def entered(): return 2", True),
        ("resolvent/datasets/progress.py", "3", "4", False),  # shows, and computes nothing
        ("resolvent/datasets/tasks.py", "return TASKS[name]", "return TASKS.get(name)", True),
        ("resolvent/datasets/tasks.py", "'wave'", "'waves'", False),
        ("resolvent/datasets/wave.py", "pass", "x = 1", False),  # another equation
        ("resolvent/datasets/settings.py", "LEAST = 3", "LEAST = 4", True),
        ("resolvent/datasets/settings.py", "nodes(self.width)", "nodes(self.width + 1)", True),
        ("resolvent/datasets/settings.py", "class Wave", "HeatSettings.width = 5\nclass Wave", True),
        ("resolvent/datasets/settings.py", "class Wave", "HeatSettings.rebuild()\nclass Wave", True),
        ("resolvent/solvers/nodes.py", "return n", "return n + 1", True),  # reached through settings alone
        ("resolvent/datasets/settings.py", "description='width'", "description='the width'", False),
        ("resolvent/datasets/settings.py", "speed: int = x", "speed: int = 1", False),
    ],
)
def test_only_what_can_change_a_result_changes_the_digest(edit, name, old, new, changes):
    before = script_digest("solve", *HEAT)
    edit(name, old, new)
    assert (script_digest("solve", *HEAT) != before) == changes


def test_another_function_of_the_same_module_is_another_digest(edit):
    assert script_digest("solve", "resolvent.solvers.heat:step") != script_digest(
        "solve", "resolvent.solvers.heat:leap"
    )


def test_a_table_that_is_named_counts_with_all_its_entries(edit):
    before = script_digest("solve", "resolvent.datasets.tasks:TASKS")
    edit("resolvent/datasets/wave.py", "pass", "x = 1")
    assert script_digest("solve", "resolvent.datasets.tasks:TASKS") != before


@pytest.mark.parametrize(
    "names", [("leap",), ("solve", "resolvent.solvers.waves"), ("solve", "resolvent.solvers.waves:Wave")]
)
def test_a_script_or_module_that_does_not_exist_is_an_error(edit, names):
    with pytest.raises(ModuleNotFoundError, match=rf"no module .*{names[-1].partition(':')[0]}"):
        script_digest(*names)


def test_what_the_constants_name_exists():
    for name in (*module.TABLES, *module.FILES_READ):
        assert module._file_of(name.partition(":")[0]) is not None, name
        assert ":" not in name or module._parts(name), name
    parts = {
        part
        for room in ("resolvent", "models", "solvers")
        for file in (ROOT / room).rglob("*.py")
        for part in file.relative_to(ROOT).with_suffix("").parts
    }
    assert parts >= module.WITHOUT_RESULT


def test_every_file_beside_the_modules_is_read_by_one_of_them():
    folders = ("resolvent/figures/assets", "resolvent/figures/templates", "resolvent/figures/papers/*/tables")
    files = {file for folder in folders for file in ROOT.glob(f"{folder}/*.*") if file.suffix != ".py"}
    assert files == set(files_read(module.FILES_READ))


@pytest.fixture
def kept(edit, tmp_path, monkeypatch):
    file = tmp_path / "compiled/kept.json"
    monkeypatch.setattr(rerun, "KEPT", file)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return file


def test_a_kept_digest_is_that_of_the_files_as_they_are(kept, edit):
    first = script_digest("solve", *HEAT)
    assert kept.exists()
    forget()
    assert script_digest("solve", *HEAT) == first
    assert module._tree.cache_info().currsize == 0  # nothing was read again
    edit("resolvent/solvers/heat.py", "u * spacing", "u / spacing")
    assert script_digest("solve", *HEAT) != first
    edit("resolvent/solvers/heat.py", "u / spacing", "u * spacing")
    assert script_digest("solve", *HEAT) == first


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"state": 1'])
def test_a_file_of_digests_that_is_damaged_counts_for_nothing(kept, content):
    kept.parent.mkdir()
    kept.write_text(content)
    digest = script_digest("solve")
    kept.unlink()
    forget()
    assert script_digest("solve") == digest


def test_no_digest_is_kept_of_code_elsewhere(kept, edit, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/laboratory.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    first = script_digest("solve", "laboratory:x")
    (tmp_path / "elsewhere/laboratory.py").write_text("x = 2\n")
    forget()
    assert script_digest("solve", "laboratory:x") != first


def test_another_version_of_the_package_that_a_network_comes_from_is_another_model(monkeypatch):
    """Other models are not touched by it."""
    releases = {}
    for release in ("2.0.0", "2.0.1"):
        monkeypatch.setattr("resolvent.planning.plan.version", lambda name, release=release: release)
        names = {one: architecture_modules(one) for one in ("neuraloperator1d", "fno1d")}
        releases[release] = {one: script_digest("train", *of) for one, of in names.items()}
    first, second = releases.values()
    assert first["neuraloperator1d"] != second["neuraloperator1d"]
    assert first["fno1d"] == second["fno1d"]
