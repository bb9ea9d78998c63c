"""Programs that cheat, fail or misbehave while they are evaluated: none sees a label, all end in one line."""

import io
import re
import zipfile
from itertools import product
from textwrap import dedent, indent

import pytest
import torch
from judged_tasks import write_task

from resolvent.common.errors import EvaluationError
from resolvent.judging import tasks
from resolvent.judging.child import _marked as marked
from resolvent.judging.judge import judge

# What a program may look into for arrays of the labels' shape, (5, 64); each yields candidates.
PLACES = {
    "frames": """
        frame = sys._getframe()
        while frame:
            yield from frame.f_locals.values()
            frame = frame.f_back
    """,
    "memory": "yield from gc.get_objects()",
    "environment": "yield from (os.environ | {'all': ' '.join(sys.argv)}).values()",
    "working folder": "yield from arrays_below(Path.cwd())",
    "its parent's folders": "yield from arrays_below(Path(sys.argv[2])); yield from open_files(os.getppid())",
    "open files": "yield from open_files(os.getpid())",
}
# What it may do instead of predicting, and what is said of it.
DEEDS = {
    "sys.exit(0)": "ended, status 0",
    "os._exit(0)": "ended, status 0",
    "os.kill(os.getpid(), 9)": "ended by signal 9",
    "os.kill(os.getpid(), 40)": "ended by signal 40",
    "raise KeyboardInterrupt": "ended",
    "raise Exception('a\\nb')": "Exception: a b",
    "raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})": "",
    "def deep(): deep()\n        deep()": "RecursionError",
    "os.closerange(0, 64)": "",
    "[os.write(number, b'{}\\n' * 9) for number in range(3, 9) if is_open(number)]": "",
    "time.sleep(1e6)": "longer than",
    "os.kill(os.getpid(), 19)": "longer than",
    "keep = []\n        while True: keep.append(np.ones(2**24))": "more than|MemoryError",
    "open('big', 'wb').truncate(2**40)": "File too large",
    "while True: print('x' * 10**6)": "longer than",
    "subprocess.Popen(['sleep', '1000'], start_new_session=True); os._exit(0)": "ended, status 0",
    "os.fork()": "",
    "os.fork() or os.setsid() or time.sleep(1000)": "",
    "socket.create_connection(('127.0.0.1', 9), 1)": "ConnectionRefusedError",
}
RESULTS = (
    "None",
    "'done'",
    "inputs[:1]",
    "np.broadcast_to(1.0, (10**6, 10**6))",
    "inputs * 1j",
    "b'x'",
    "[[1], [1, 2]]",
)

HEAD = """
import gc, os, socket, subprocess, sys, time
import numpy as np
from pathlib import Path
def is_open(number):
    try: os.fstat(number)
    except OSError: return False
    return True
def arrays_below(folder):
    for path in folder.rglob('*.np[yz]'):
        loaded = np.load(path)
        yield from loaded.values() if hasattr(loaded, 'values') else [loaded]
def open_files(pid):
    for link in Path(f'/proc/{pid}/fd').iterdir():
        if link.resolve().suffix in ('.npy', '.npz'): yield np.load(link.resolve())
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "FOLDER", folder)
        patch.setattr("resolvent.evaluation.inference.SHORTEST", 1e-3)
        yield write_task(folder, "burgers-v0", "burgers", 64)


@pytest.fixture
def working_folder(tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.syspath_prepend(tmp_path / "work")
    return tmp_path


def evaluated(folder, body, **limits):
    (folder / "work/hostile.py").write_text(HEAD + body)
    return judge("hostile:Model", "burgers-v0", folder / "out", data=folder / "data", **limits)


def quick(cases, few):
    """Return parameters, of which the first few run in `make test`."""
    return [
        pytest.param(case, marks=pytest.mark.slow if number >= few else ())
        for number, case in enumerate(cases)
    ]


@pytest.mark.parametrize("where", quick(PLACES, 2))
def test_a_program_finds_no_label(place, where, working_folder):
    search = indent(dedent(PLACES[where]), "    ")
    body = (
        f"def candidates():\n{search}\n"
        "class Model:\n    def predict(self, inputs, _):\n"
        "        for found in list(candidates()):\n"
        "            if isinstance(found, np.ndarray) and found.size == 320:\n"
        "                found = found.reshape(5, 64).astype(float)\n"
        "                if np.isfinite(found).all() and not np.allclose(found, inputs): return found\n"
        "        return 0 * inputs\n"
    )
    record = evaluated(working_folder, body, recompute=True)
    assert record["rows"][0]["mean"] > 0.1
    assert (working_folder / "data").exists()  # labels are there, where the program does not know


@pytest.mark.parametrize(
    ("stage", "deed"),
    [
        pytest.param(stage, deed, marks=[] if stage == "predict" and number < 3 else pytest.mark.slow)
        for stage, (number, deed) in product(("import", "load", "predict"), enumerate(DEEDS))
    ],
)
def test_whatever_a_program_does_ends_in_one_line(place, stage, deed, working_folder, monkeypatch):
    deeds = {name: deed if name == stage else "pass" for name in ("import", "load", "predict")}
    body = (
        f"if True:\n        {deeds['import']}\n"
        f"class Model:\n    def load(self):\n        {deeds['load']}\n"
        f"    def predict(self, inputs, _):\n        {deeds['predict']}\n        return 0 * inputs\n"
    )
    limits, marks = {"minutes": 0.15, "gigabytes": 1.5}, set()
    monkeypatch.setattr("resolvent.judging.child._marked", lambda mark: (marks.add(mark), *marked(mark))[1:])
    record, said = None, ""
    try:
        record = evaluated(working_folder, body, **limits)
    except EvaluationError as error:
        said = str(error)
    if record is None:
        assert "hostile" in said
        assert "\n" not in said
        assert re.search(DEEDS[deed], said)
        assert not (working_folder / "out").exists()
    else:
        assert DEEDS[deed] == ""
        assert record["rows"][0]["mean"] == pytest.approx(1.0)
    assert not list(marked(*marks))


@pytest.mark.parametrize("result", quick(RESULTS, 2))
def test_whatever_a_program_returns_ends_in_one_line(place, result, working_folder):
    body = f"class Model:\n    def predict(self, inputs, _):\n        return {result}\n"
    with pytest.raises(EvaluationError, match="hostile:Model") as refused:
        evaluated(working_folder, body)
    assert "\n" not in str(refused.value)


def test_pickles_in_a_program_are_not_executed(place, working_folder):
    class Runs:
        def __reduce__(self):
            return (open, (str(working_folder / "executed"), "w"))

    class Same(torch.nn.Module):
        def forward(self, functions):
            return functions + 0

    path = working_folder / "work/model.pt2"
    torch.export.save(torch.export.export(Same(), (torch.zeros(5, 64, 1),)), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    torch.save(Runs(), poison := io.BytesIO())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, poison.getvalue() if "sample_inputs" in name else content)
    with pytest.raises(EvaluationError, match=r"model\.pt2 failed on opening"):
        judge(str(path), "burgers-v0", working_folder / "out", data=working_folder / "data")
    assert not (working_folder / "executed").exists()
