"""Slips in overlays: what `resolvent run` refuses before it starts Snakemake, `resolvent check` refuses in the same lines."""

# ruff: noqa: E501  (tables of slips)
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
from pipeline_project import NOT_COPIED, ROOT
from planning_forks import dry_run

from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import check
from resolvent.planning.start import start_snakemake

pytestmark = [pytest.mark.faults, pytest.mark.timeout(3600)]
PLAIN = """\
name: mine
build: {experiments: [burgers]}
datasets:
  burgers:
    resolutions: [64, 128]
    samples: {train: 64, validation: 8, test: 40}
    accuracy: 1.0e-3
experiments:
  burgers:
    models: [fno]
    shown: null
    resolutions: [64]
    seeds: [1]
    samples: {train: 16}
    training: {epochs: 3, learning_rate: 0.001}
"""
# What a person may write in the place of a piece of the text above; all of it is refused, or means what it says.
SLIPS = {
    "a tab": [(" ", "\t"), ("  ", "\t"), (": ", ":\t"), (", ", ",\t")],
    "a key twice": [("name: mine", "name: mine\nname: mine"), ("seeds: [1]", "seeds: [1]\n    seeds: [2]")],
    "a number of YAML 1.1": [(": 3", ": 010"), (": 3", ": 1:30"), ("0.001", "12:30:45"), ("64", "0x40"), ("16", "1_6")],
    "a number": [("1.0e-3", "1e-3"), ("0.001", ".001"), (": 3", ": 1e2"), (": 3", ": +3"), (": 3", ": 3."), ("64", "064")],
    "a word of YAML 1.1": [("mine", "no"), ("null", "off"), (": 3", ": yes"), ("fno", "on"), ("name", "no")],
    "a date": [("mine", "2026-01-31"), (": 3", ": 2026-31-01")],
    "a tag": [("mine", "!!python/object/apply:os.mkdir [executed]"), ("mine", "!!bool maybe"), (": 3", ": !!int ''")],
    "an alias": [("[64]", "&a [*a]"), ("mine", "*mine"), ("{train: 16}", "&a {train: *a}")],
    "code": [("name: mine", "__use_yte__: true\nname: ?open('executed', 'w').name")],
    "a sign": [("{", ""), ("}", ""), ("[", ""), ("]", ""), (":", ""), (",", ""), ("mine", "'mine"), ("mine", "mi\0ne")],
    "a character": [("mine", "mi\x07ne"), ("mine", "\ufeffmine"), ("fno", "fnö"), ("mine", "mi\u202ene")],
    "a kind": [("[64]", "64"), ("{train: 16}", "[16]"), ("[fno]", "fno"), ("{epochs: 3", "{epochs: {3: 3}"), ("mine", "~")],
    "a name": [("burgers]}", "burgerz]}"), ("fno", "fnoo"), ("seeds", "seed"), ("samples", "sample")],
    "a size": [("{train: 16}", "{train: 9999}"), ("[64]\n", "[65]\n"), ("epochs: 3", "epochs: -3")],
}  # fmt: skip
LISTED = [(kind, old, new) for kind, slips in SLIPS.items() for old, new in slips]


def by_check(capsys) -> list[str]:
    """Return the lines that `resolvent check` prints; none where it accepts the overlay."""
    status = check(["mine.yaml"])
    lines = capsys.readouterr().out.splitlines()
    assert status in (0, 1)
    return lines if status else []


def by_command(monkeypatch) -> list[str] | None:
    """Return the lines that `resolvent run` ends with before it starts Snakemake; None where it starts it."""
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("Snakemake was started"))
        try:
            start_snakemake(["-n", "--configfile", "mine.yaml"])
        except ConfigurationError as error:
            return str(error).splitlines()
        except pytest.fail.Exception:
            return None


@pytest.mark.parametrize(("kind", "old", "new"), LISTED)
def test_all_who_read_an_overlay_agree(kind, old, new, tmp_path, monkeypatch, capsys, fault):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_bytes(PLAIN.replace(old, new, 1).encode())
    fault(f"overlay with {kind}")
    lines = by_check(capsys)
    assert all(re.match(r"(mine\.yaml|config\S*\.yaml|/\S+\.yaml)(, line \d+)?", line) for line in lines), (
        lines
    )
    assert all(line.isprintable() for line in lines)
    before = by_command(monkeypatch)
    assert before is None or set(before) <= set(lines)
    assert not (tmp_path / "executed").exists()


def test_the_overlay_without_a_slip_is_accepted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(PLAIN)
    assert by_check(capsys) == []
    assert by_command(monkeypatch) is None


INTERRUPTED = """
import os
from types import SimpleNamespace
from resolvent.planning.job import job
os.environ["RESOLVENT_STALL_SECONDS"] = "600"
with job(SimpleNamespace(log=["train.log"], input=[], output=[], rule="train", resources={})):
    print("importing", flush=True)
    import torch
    import resolvent.training.fit
    print("imported", flush=True)
    import time
    time.sleep(600)
"""


@pytest.mark.parametrize("seconds", [0.0, 0.3, 2.0])
def test_control_c_while_a_job_imports_is_one_line(seconds, tmp_path, fault):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    job = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], cwd=tmp_path, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert job.stdout.readline() == "importing\n"
    with pytest.raises(subprocess.TimeoutExpired):
        job.wait(seconds)
    fault("Ctrl-C in an import")
    job.send_signal(signal.SIGINT)
    said = job.communicate()[1]
    assert job.returncode == 1
    assert said == "train: interrupted\n" == (tmp_path / "train.log").read_text()


@pytest.mark.parametrize("name", ["a{x}b", "{config}", "a}b"])
def test_a_folder_with_braces_is_refused_in_one_line(name, tmp_path, fault):
    folder = tmp_path / name
    shutil.copytree(ROOT, folder, ignore=NOT_COPIED, symlinks=True)
    fault("a folder with braces")
    words = ("--cores", "1", "--configfile", folder / "config/test.yaml")
    environment = os.environ | {"PYTHONPATH": str(folder)}
    status, output = dry_run(folder, *words, environment=environment)
    assert status != 0
    assert f"the folder {folder} has braces in its path, wildcards to Snakemake; rename it" in output
    assert "NameError" not in output
    assert "Traceback" not in output
