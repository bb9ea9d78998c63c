"""Files that cannot be imported are one line: the file, the variable, what is expected and what was found."""

import os
import re

import h5py
import numpy as np
import pytest
import scipy.sparse
from merged_configuration import DEFAULT, merged
from public_files import FORMATS, write_mat

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.contents import content_digest
from resolvent.datasets.imported.readers.mat import open_mat
from resolvent.datasets.tasks.registry import build_task, settings_of
from resolvent.planning.check import main as check
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.plan import Plan
from resolvent.planning.prediction.costs import finalising, solving

COUNT, POINTS = 12, 16
SETTINGS = {
    "equation": "burgers", "finest": POINTS, "resolutions": [8, POINTS],
    "samples": {"train": 8, "validation": 2, "test": 2},
}  # fmt: skip


def variables(**changes) -> dict:
    values = np.random.default_rng(0).normal(size=(2, COUNT, POINTS))
    return {"a": values[0], "u": values[1]} | changes


def planned(**changes) -> Plan:
    content = merged(DEFAULT, {"datasets": {"public": SETTINGS | changes}, "build": {"datasets": ["public"]}})
    return Plan(load_configuration(content))


def first_samples(path) -> dict[str, np.ndarray]:
    """Plan the import of the file at `path`, and read from it."""
    settings = planned(source=str(path)).datasets["public"].settings
    return build_task(settings).compute([("train", index) for index in range(8)])


def refusal(**changes) -> str:
    with pytest.raises(ConfigurationError) as error:
        planned(**changes)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize("kind", ["float64", "float32", "uint8"])
def test_rows_are_read_in_matlabs_order_whatever_the_type(version, kind, tmp_path):
    values = np.random.default_rng(1).integers(0, 200, size=(6, 4, 5)).astype(kind)
    file = open_mat(write_mat(tmp_path / "x.mat", {"x": values}, version))
    assert (file.version, file.shape("x")) == (version, (6, 4, 5))
    rows = file.rows("x", range(2, 5))
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows, values[2:5])


@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"u": None}, r"there is no variable 'u'; found: a$"),
        (
            {"u": np.zeros((COUNT, 8))},
            r"'u' has shape \(12, 8\); expected: \(samples, 16\); .* set finest: 8",
        ),
        ({"u": np.zeros((3, 4, 5))}, r"'u' has shape \(3, 4, 5\); expected: \(samples, 16\); or state axes"),
        ({"u": np.zeros((7, POINTS))}, r"'a' has 12 samples, 'u' 7; expected: as many"),
        ({"a": np.zeros((7, POINTS)), "u": np.zeros((7, POINTS))}, r"has 7 samples; samples asks for 12"),
    ],
    ids=["missing", "points", "dimensions", "unequal", "few"],
)
def test_another_layout_is_one_line_when_it_is_planned(version, change, said, tmp_path):
    content = {name: one for name, one in variables(**change).items() if one is not None}
    path = write_mat(tmp_path / "data.mat", content, version)
    line = refusal(source=str(path))
    assert line.startswith(f"datasets.public.source: {path}: ")
    assert re.search(said, line), line


@pytest.mark.parametrize(
    ("values", "said", "remedy"),
    [
        (scipy.sparse.eye(COUNT, POINTS), "is sparse", "save it in full"),
        (np.array(["a", 1], dtype=object), "is a cell array", "in MATLAB save cat"),
        ({"inside": 1.0}, "is a struct", "in MATLAB save('data.mat', '-struct'"),
        ("text", "is text", ""),
    ],
    ids=["sparse", "cell", "struct", "text"],
)
def test_what_is_no_array_of_numbers_is_named(values, said, remedy, tmp_path):
    path = write_mat(tmp_path / "data.mat", variables(u=values))
    line = refusal(source=str(path))
    assert f"variable 'u' {said}; expected: an array of real numbers" in line
    assert remedy in line
    assert remedy in check_file(path).problem


@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize(
    ("values", "said"),
    [
        (1j, r"variable 'u' is complex; expected: an array of real numbers"),
        (np.nan, r"variable 'u' is not finite in row 4 of 12; expected: finite numbers"),
        (np.inf, r"variable 'u' is not finite in row 4 of 12"),
    ],
    ids=["complex", "nan", "inf"],
)
def test_values_that_are_no_finite_real_numbers_are_one_line(version, values, said, tmp_path):
    content = variables()
    content["u"] = content["u"].astype(type(values))
    content["u"][3, 5] = values
    path = write_mat(tmp_path / "data.mat", content, version)
    task = build_task(settings_of(SETTINGS | {"source": str(path)}))
    with pytest.raises(DatasetError, match=said) as error:
        task.compute([("train", index) for index in range(8)])
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("version", FORMATS)
def test_a_damaged_file_is_one_line(version, tmp_path):
    path = write_mat(tmp_path / "data.mat", variables(), version)
    whole = path.read_bytes()
    for length in (0, 3, 100, 130, 700, len(whole) // 2, len(whole) - 40):
        path.write_bytes(whole[:length])
        with pytest.raises((ConfigurationError, DatasetError)) as error:
            first_samples(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)


def test_a_file_that_is_no_mat_file_is_one_line(tmp_path):
    (tmp_path / "data.mat").write_text("a,u\n1,2\n")
    assert "not a MAT file of version 5 or 7.3, or damaged" in refusal(source=str(tmp_path / "data.mat"))
    with h5py.File(tmp_path / "group.mat", "w") as file:
        file.create_group("a")
    assert "variable 'a' is a struct; expected" in refusal(source=str(tmp_path / "group.mat"))
    assert f"the file {tmp_path} is a folder" in refusal(source=str(tmp_path))


def test_a_missing_file_is_one_line_of_the_check_and_of_planning(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said = "datasets.public.source: the file no/such.mat does not exist; paths are from the working folder"
    assert refusal(source="no/such.mat").startswith(said)
    (tmp_path / "mine.yaml").write_text(
        "build: {datasets: [public]}\ndatasets: {public: {equation: burgers, source: no/such.mat}}\n"
    )
    assert check(["mine.yaml"]) == 1
    assert capsys.readouterr().out.startswith(f"mine.yaml, line 2: {said}")


def test_other_content_is_another_dataset(tmp_path):
    path = write_mat(tmp_path / "data.mat", variables())
    first = planned(source=str(path)).datasets["public"]
    assert planned(source=str(path)).datasets["public"].card == first.card
    assert first.settings.sha256 == [content_digest(path)]
    write_mat(path, variables(u=np.ones((COUNT, POINTS))))
    assert planned(source=str(path)).datasets["public"].card != first.card
    with pytest.raises(
        DatasetError, match=r"data.mat: its SHA-256 is .*; expected: .*; it has changed since"
    ):
        build_task(first.settings).compute([("train", 0)])
    assert "correct sha256, or leave it out" in refusal(source=str(path), sha256=first.settings.sha256)


def test_a_digest_is_computed_again_only_for_a_file_that_was_touched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake").mkdir()
    path = tmp_path / "data.mat"
    path.write_bytes(b"one")
    first = content_digest(path)
    times = path.stat()
    assert (tmp_path / ".snakemake/source_digests.json").exists()
    monkeypatch.setattr("resolvent.datasets.imported.contents.file_digest", lambda path: "computed anew")
    assert content_digest(path) == first
    path.write_bytes(b"two")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # as a copying program sets them
    assert content_digest(path) == "computed anew"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"equation": "lorenz63"}, "'source' is not for equation lorenz63; accepted for burgers, darcy"),
        ({"method": "etdrk4"}, "datasets.public.method: unknown key 'method'"),
        ({"resolutions": [7]}, "a periodic grid has an even number of points"),
        ({"resolutions": [6]}, "16 points cannot be restricted to 6 by stride"),
        ({"source": []}, "datasets.public.source"),
        ({"source": ["a", "b", "c"]}, "datasets.public.source"),
    ],
    ids=["equation", "key", "odd", "stride", "none", "three"],
)
def test_settings_that_no_file_can_have_are_refused(changes, said):
    content = SETTINGS | {"source": "data.mat"} | changes
    with pytest.raises(ConfigurationError) as error:
        load_configuration(merged(DEFAULT, {"datasets": {"public": content}}))
    assert said in str(error.value)


def test_darcy_grids_are_nested_in_the_file():
    given = {"equation": "darcy", "source": "data.mat", "finest": 9, "samples": {"train": 1}}
    with pytest.raises(ValueError, match="4 nodes are not nested in the file's 9"):
        settings_of(given | {"resolutions": [4]})
    with pytest.raises(ValueError, match="none of a coarser grid; accepted: 9, or grid: nodes"):
        settings_of(given | {"resolutions": [5], "grid": "cell_centres"})


def test_a_variable_of_mat_5_is_predicted_to_be_in_memory_whole(tmp_path):
    needed = {}
    for version in FORMATS:
        path = write_mat(tmp_path / f"{version[-1]}.mat", variables(), version)
        settings = settings_of(SETTINGS | {"source": str(path)})
        needed[version] = solving(settings).bytes, finalising(settings).bytes
    both = 2 * 8 * COUNT * POINTS
    assert np.subtract(*needed.values()) == pytest.approx([both, both])


def test_what_a_reader_remarks_on_is_on_the_card(tmp_path, monkeypatch):
    content = variables()
    content["u"][2:4, 5] = -9999.0
    task = build_task(settings_of(SETTINGS | {"source": str(write_mat(tmp_path / "data.mat", content))}))
    task.compute([("train", index) for index in range(8)])
    monkeypatch.setattr(task, "warnings", lambda findings: [])
    facts = task.hold_to_accuracy({"labels_against_our_solver": {"not_available": "none"}}, "store")
    assert facts["imported"]["warnings"][-1].startswith("In data.mat 'u' has the value -9999 2 times in")
