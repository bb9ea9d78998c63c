"""Golden numbers hold versions honest: numbers that move need a new version, or a mend."""

import copy
import importlib
import json
import os
import re
import subprocess
import sys

import pytest
from merged_configuration import ROOT

from resolvent.datasets.tasks.registry import EQUATIONS, IMPORTED
from resolvent.models.registry import ARCHITECTURES, missing_packages, settings_class
from resolvent.planning import edits
from resolvent.planning.golden import __main__ as command
from resolvent.planning.golden import files
from resolvent.planning.golden.files import FOLDER, content_of, digest_of_numbers, shift_of, version_of
from resolvent.planning.versions import BASELINES, METRICS, PARTS, USES

MAKE = f"run `{files.COMMAND}`"


@pytest.mark.parametrize("part", PARTS)
def test_the_numbers_are_those_of_the_version(part):
    if part in ARCHITECTURES and (missing := missing_packages(part)):
        pytest.skip(missing)
    version = version_of(part)
    assert files.file_of_version(part, version).exists(), f"{part} has no golden numbers: {MAKE}"
    shift = shift_of(part, version, content_of(part))
    assert not shift, f"the numbers of {part}: {shift}: raise its version and {MAKE}, or mend"


@pytest.mark.slow
def test_two_threads_have_the_same_numbers():
    environment = os.environ | {f"{name}_NUM_THREADS": "2" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    words = [sys.executable, "-m", "resolvent.planning.golden", *PARTS]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("agrees") == len(PARTS)


def test_there_are_files_of_the_present_versions_alone():
    assert {path.name for path in FOLDER.iterdir()} == {f"{part}-v{version_of(part)}.json" for part in PARTS}


def test_the_table_of_the_release_is_of_these_files():
    assert not edits.changed_modules(), MAKE
    assert edits.table()["versions"] == {part: version_of(part) for part in PARTS}, MAKE


def test_everything_that_computes_has_a_version_where_it_is_defined():
    for name, location in (EQUATIONS | {f"imported {name}": one for name, one in IMPORTED.items()}).items():
        module, _, definition = location.partition(":")
        assert {"version", "checks_version"} <= vars(
            getattr(importlib.import_module(module), definition)
        ).keys(), name
    for name in ARCHITECTURES:
        assert "version" in vars(settings_class(name)), name
    assert importlib.import_module("resolvent.evaluation.metrics").VERSIONS.keys() == set(METRICS)
    assert importlib.import_module("resolvent.evaluation.baselines").VERSIONS.keys() == set(BASELINES)
    jobs = re.findall(r"^def (\w+)\(\):", (ROOT / "workflow/scripts/jobs.py").read_text(), re.MULTILINE)
    assert set(jobs) - {"resolution", "measured_runs", "origin"} == set(USES)


@pytest.fixture
def content():
    return json.loads(files.file_of_version("tuning", 1).read_text())


def test_a_number_counts_as_moved_beyond_the_tolerance_alone(content):
    for distance, moved in ((1e-10, False), (1e-8, True)):
        other = copy.deepcopy(content)
        other["numbers"]["errors"]["values"][0] *= 1 + distance
        assert bool(shift_of("tuning", 1, other)) == moved
    assert "its numbers moved by 1.0e-08 (errors)" in shift_of("tuning", 1, other)
    assert digest_of_numbers("tuning", other) == digest_of_numbers("tuning", content)
    other["numbers"]["errors"]["values"][0] *= 1.001
    assert digest_of_numbers("tuning", other) != digest_of_numbers("tuning", content)


def test_a_default_that_changes_counts_as_moved_and_a_new_setting_does_not():
    known = json.loads(files.file_of_version("training", 1).read_text())
    known["defaults"]["another"] = 1
    assert shift_of("training", 1, known) == ""
    known["defaults"]["epochs"] = 7
    assert shift_of("training", 1, known) == "the default of epochs is 7, not 100"
    known = json.loads(files.file_of_version("imported_burgers", 1).read_text())
    known["defaults"]["initial_distribution"]["another"] = 1
    assert shift_of("imported_burgers", 1, known) == ""
    del known["defaults"]["initial_distribution"]["name"]
    assert shift_of("imported_burgers", 1, known).startswith("the default of initial_distribution is")


def test_numbers_are_made_where_there_are_none_and_never_replaced_unasked(
    content, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    (tmp_path / "tuning-v0.json").write_text("{}")
    assert command.made("tuning") == ""
    assert [path.name for path in tmp_path.iterdir()] == ["tuning-v1.json"]
    assert "tuning-v1.json: written" in capsys.readouterr().out
    content["numbers"]["errors"]["values"][0] = 9.0
    (tmp_path / "tuning-v1.json").write_text(json.dumps(content))
    line = command.made("tuning")
    words = (
        r"the numbers of tuning: its numbers moved by \S+ \(errors\): raise its version and run `.*`, or mend"
    )
    assert re.fullmatch(words, line)
    assert json.loads((tmp_path / "tuning-v1.json").read_text()) == content
