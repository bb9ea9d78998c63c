"""MAT files and files of an equation: what cannot be imported is one line, other content is other data."""

import os
import re

import h5py
import numpy as np
import pytest
import scipy.sparse
from array_files import arrays, write_hdf5, write_zarr
from public_files import FORMATS, write_mat

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.sources import content_digest
from resolvent.datasets.tasks.registry import build_task, settings_of
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.plan import Plan

COUNT, POINTS = 12, 16
SETTINGS = {
    "equation": "burgers", "finest": POINTS, "resolutions": [8, POINTS],
    "samples": {"train": 8, "validation": 2, "test": 2},
}  # fmt: skip
ARRAYS = {
    "equation": "arrays", "input": "a", "target": "u", "axes": ["sample", "x"], "finest": POINTS,
    "grid": "periodic", "samples": {"train": 8, "validation": 2, "test": 2},
}  # fmt: skip


def variables(**changes) -> dict:
    values = np.random.default_rng(0).normal(size=(2, COUNT, POINTS))
    return {"a": values[0], "u": values[1]} | changes


def planned(settings=SETTINGS, **changes) -> Plan:
    content = {"name": "test", "datasets": {"public": settings | changes}, "models": {}, "experiments": {}}
    return Plan(load_configuration(content))


def refusal(**changes) -> str:
    with pytest.raises(ConfigurationError) as error:
        planned(**changes)
    assert "\n" not in str(error.value)
    return str(error.value)


# What is there in the place of the target, and what is said.
LAYOUTS = {
    "sparse": ({"u": scipy.sparse.eye(COUNT, POINTS)}, "'u' is sparse; expected: .*; choose another"),
    "cells": ({"u": np.array(["a", 1], dtype=object)}, "'u' is a cell array; expected: .*; in MATLAB save"),
    "struct": ({"u": {"inside": 1.0}}, r"'u' is a struct; expected: .*; in MATLAB save\('data.mat', '-str"),
    "text": ({"u": "text"}, "'u' is text; expected: an array of real numbers; choose another"),
}  # fmt: skip


@pytest.mark.parametrize("case", LAYOUTS)
def test_another_layout_is_one_line_when_it_is_planned(case, tmp_path):
    change, said = LAYOUTS[case]
    path = write_mat(tmp_path / "data.mat", variables(**change))
    line = refusal(source=str(path))
    assert line.startswith(f"datasets.public.source: {path}: ")
    assert re.search(said, line), line
    if case in ("cells", "struct"):
        path = write_mat(tmp_path / "waves.mat", {"a": arrays(count=COUNT)["a"]} | change)
        assert said.rpartition("; ")[2].replace("\\", "") in check_file(path).problem


@pytest.mark.parametrize("version", FORMATS)
def test_a_damaged_file_is_one_line(version, tmp_path):
    path = write_mat(tmp_path / "data.mat", variables(), version)
    whole = path.read_bytes()
    for length in (0, 3, 100, 130, 700, len(whole) // 2, len(whole) - 40):
        path.write_bytes(whole[:length])
        task = build_task(settings_of(SETTINGS | {"source": str(path)}))
        with pytest.raises(DatasetError) as error:
            task.compute([("train", index) for index in range(8)])
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)


def test_a_file_that_is_no_mat_file_is_one_line(tmp_path):
    (tmp_path / "data.mat").write_text("a,u\n1,2\n")
    assert "not a complete MAT file (version 5 or 7.3)" in refusal(source=str(tmp_path / "data.mat"))
    with h5py.File(tmp_path / "group.mat", "w") as file:
        file.create_group("a")
    assert "variable 'a' is a struct; expected" in refusal(source=str(tmp_path / "group.mat"))
    assert f"{tmp_path} has files of more than one kind" in refusal(source=str(tmp_path))


@pytest.mark.parametrize(
    ("given", "name", "write"),
    [(SETTINGS, "data.mat", write_mat), (ARRAYS, "data.h5", write_hdf5), (ARRAYS, "data.zarr", write_zarr)],
    ids=["equation", "arrays", "store"],
)
def test_other_content_is_another_dataset(given, name, write, tmp_path):
    path = write(tmp_path / name, arrays(count=COUNT))
    first = planned(given, source=str(path)).datasets["public"]
    assert planned(given, source=str(path)).datasets["public"].card == first.card
    assert first.settings.sha256 == [content_digest(path)]
    if path.is_dir():
        (path / "a/c/0/0").write_bytes(b"")
    else:
        write(path, variables(u=np.ones((COUNT, POINTS))))
    assert planned(given, source=str(path)).datasets["public"].card != first.card
    said = f"{re.escape(str(path))}: its SHA-256 is .*; expected: .*; it has changed since"
    with pytest.raises(DatasetError, match=said):
        build_task(first.settings).compute([("train", 0)])
    line = refusal(settings=given, source=str(path), sha256=first.settings.sha256)
    assert "correct sha256, or leave it out" in line


def test_a_digest_is_computed_again_only_for_a_file_that_was_touched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake").mkdir()
    path = tmp_path / "data.mat"
    path.write_bytes(b"one")
    first = content_digest(path)
    times = path.stat()
    assert (tmp_path / ".snakemake/source_digests.json").exists()
    monkeypatch.setattr("resolvent.datasets.imported.sources.file_digest", lambda path: "computed anew")
    assert content_digest(path) == first
    path.write_bytes(b"two")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # as a copying program sets them
    assert content_digest(path) == "computed anew"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"equation": "lorenz63"}, "'source' is not accepted for equation lorenz63, only for burgers, darcy"),
        ({"method": "etdrk4"}, "datasets.public.method: unknown key 'method'"),
        ({"resolutions": [7]}, "a periodic grid has an even number of points"),
        ({"resolutions": [6]}, "16 points cannot be restricted to 6 by stride"),
        ({"axes": ["sample", "z", "y", "x"]}, "axes of 'a', sample, z, y, x; accepted: sample, x"),
        ({"source": []}, "datasets.public.source"),
        ({"source": ["a", "b", "c"]}, "datasets.public.source"),
        ({"equation": "darcy", "finest": 9, "resolutions": [4], "grid": "nodes"},
         "4 nodes are not nested in 9"),
        ({"equation": "darcy", "finest": 9, "resolutions": [4]},
         "4 cell centres are not nested in 9"),
        ({"equation": "darcy_inverse", "finest": 9, "resolutions": [5], "coarse": [4]},
         "'source' is not accepted for equation darcy_inverse, only for burgers, darcy, arrays"),
    ],
)  # fmt: skip
def test_settings_that_no_file_can_have_are_refused(changes, said):
    content = SETTINGS | {"source": "data.mat"} | changes
    with pytest.raises(ConfigurationError) as error:
        load_configuration({"name": "test", "datasets": {"public": content}, "models": {}, "experiments": {}})
    assert said in str(error.value)


def test_what_a_reader_remarks_on_is_on_the_card(tmp_path, monkeypatch):
    content = variables()
    content["u"][2:4, 5] = -9999.0
    task = build_task(settings_of(SETTINGS | {"source": str(write_mat(tmp_path / "data.mat", content))}))
    task.compute([("train", index) for index in range(8)])
    monkeypatch.setattr(task, "warnings", lambda findings: [])
    facts = task.hold_to_accuracy({"labels_against_our_solver": {"not_available": "none"}}, "store")
    assert facts["imported"]["warnings"][-1].startswith("In data.mat 'u' has the value -9999, a common fill")
