"""Labels that are kept: packed and unpacked, checked, and on a page that evaluates in a browser."""

import shutil

import numpy as np
import pytest
from browser import PHONE, Reader, chromium
from dataset_fixtures import computed_arrays, small
from test_judging import data, given, place  # noqa: F401  (fixtures)

from resolvent.common.errors import FileError
from resolvent.common.files import read_json, write_json
from resolvent.datasets.errors import DatasetError
from resolvent.judging import tasks
from resolvent.judging.answers import BASELINE, SHARE, answers_of, pack, packed_answers, unpack
from resolvent.judging.judge import judge
from resolvent.judging.task_page import LARGEST, write_task_pages
from resolvent.planning.places import HOME

TRAVELLING = ("burgers-v1", "controlled-ode-v1", "lorenz63-v1")
SIX_DIGITS = 1e-6
PUBLISHED = HOME / "config/tasks"


@pytest.fixture
def published(monkeypatch):
    """Look for tasks where they are published; `place` has small ones."""
    monkeypatch.setattr(tasks, "FOLDER", PUBLISHED)


@pytest.mark.parametrize("accuracy", [1e-3, 1e-7, 1e-12])
@pytest.mark.parametrize("shape", [(3, 64), (2, 2, 33), (2, 9, 17)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_labels_are_unpacked_within_a_share_of_the_accuracy(shape, accuracy, dtype):
    stored = np.cumsum(np.random.default_rng(0).standard_normal(shape), axis=-1) - 5
    stored = stored.astype(dtype)
    values, packed = stored.astype(np.float64), pack(stored, accuracy)
    size = np.sqrt((values**2).mean())
    step = max(SHARE * accuracy * size, abs(values).max() / 2**30)
    assert packed["step"] == pytest.approx(step)
    np.testing.assert_allclose(unpack(packed), values, rtol=0, atol=0.51 * step)


@pytest.mark.parametrize("name", TRAVELLING)
def test_labels_in_the_package_are_those_of_the_task(published, name):
    answers = answers_of(name, inputs=False)
    count = tasks.read_task(name).dataset.samples.test
    for source in answers.sources.values():
        assert len(source) == len(source.read(range(count)).targets) == count
    assert {each["grid"] for each in answers.classical["solvers"]} == answers.sources.keys()


def test_labels_that_are_not_those_of_the_task_are_refused(tmp_path, monkeypatch):
    shutil.copy(PUBLISHED / "burgers-v1.yaml", tmp_path)
    stored = read_json(PUBLISHED / "burgers-v1.answers.json", "answers")
    monkeypatch.setattr(tasks, "FOLDER", tmp_path)
    stored["labels"]["n2048"]["step"] *= 1 + 1e-5
    write_json(tmp_path / "burgers-v1.answers.json", stored)
    with pytest.raises(DatasetError, match="its check values differ by"):
        answers_of("burgers-v1", inputs=False).sources["n512"].read(range(256))
    del stored["classical"]
    write_json(tmp_path / "burgers-v1.answers.json", stored)
    with pytest.raises(FileError, match=r"'classical': Field required: reinstall"):
        answers_of("burgers-v1", inputs=False)


def test_solvers_run_once_unless_they_are_to_be_timed(given, data, tmp_path, monkeypatch):  # noqa: F811
    inputs = np.load(given / "test_n64.npz")["inputs"]
    np.save(tmp_path / "n64.npy", inputs)
    first = judge(str(tmp_path / "n64.npy"), "burgers-v0", tmp_path / "first", data=data)
    assert first["classical"]

    def never(*_):
        raise AssertionError("solvers run again")

    monkeypatch.setattr("resolvent.evaluation.inference.solvers_timed", never)
    again = judge(str(tmp_path / "n64.npy"), "burgers-v0", tmp_path / "again", data=data)
    assert again == first
    with pytest.raises(AssertionError, match="run again"):
        judge(str(tmp_path / "n64.npy"), "burgers-v0", tmp_path / "timed", data=data, timed=True)


def test_baselines_are_measured_once_from_training_samples_alone(place, data, monkeypatch):  # noqa: F811
    classical = answers_of("burgers-v0", data, baselines=True).classical
    targets = computed_arrays(small("burgers"), [("train", index) for index in range(6)])[
        "n64/final_velocity"
    ]
    labels = computed_arrays(small("burgers"), [("test", index) for index in range(5)])["n64/final_velocity"]
    errors = np.linalg.norm(labels - targets.mean(axis=0), axis=1) / np.linalg.norm(labels, axis=1)
    mean = next(each for each in classical["baselines"] if each["baseline"].startswith("mean"))
    np.testing.assert_allclose(mean["errors"]["relative_l2"], errors, rtol=1e-12)
    assert {each["baseline"].partition(" ")[0] for each in classical["baselines"]} == {
        "mean", "identity:", "linear"
    }  # fmt: skip
    monkeypatch.setattr("resolvent.judging.answers.baseline_errors", None)
    assert answers_of("burgers-v0", data, baselines=True).classical == classical
    assert not (data / "burgers-v0/training").exists()


@pytest.fixture(scope="module")
def pages(place, data, tmp_path_factory):  # noqa: F811
    """Return a folder of pages: the labels of one are inside, those of the other in a file beside it."""
    folder = tmp_path_factory.mktemp("pages")
    assert {path.name for path in write_task_pages(folder, ["burgers-v0"], data)} == {"burgers-v0.html"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("resolvent.judging.task_page.LARGEST", 1000)
        written = write_task_pages(folder, ["darcy-v0"], data)
    assert {path.name for path in written} == {"darcy-v0.html", "darcy-v0.labels.js"}
    return folder


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


def on_the_page(browser, page_file, files, tmp_path):
    """Drop files on a page; return the record that it saves, and the page."""
    reader = Reader(browser, viewport=PHONE)
    page = reader.open(page_file)
    page.fill("#label", "mine")
    page.set_input_files("#files", files)
    page.wait_for_selector("#result:not([hidden])")
    with page.expect_download() as download:
        page.click("#record")
    download.value.save_as(tmp_path / "evaluation.json")
    assert not reader.faults
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    return read_json(tmp_path / "evaluation.json", "the record"), page


def same_rows(found, expected):
    """Compare the errors of a page with those of the command."""
    rows, others = (
        {tuple(row[key] for key in ("who", "grid", "metric")): row for row in record["rows"]}
        for record in (found, expected)
    )
    assert rows.keys() == others.keys()
    assert {metric for *_, metric in others} == {"relative_l2", "relative_h1"}
    for key, row in others.items():
        for number in ("samples", "mean", "low", "high", "median", "largest"):
            assert rows[key][number] == pytest.approx(row[number], rel=SIX_DIGITS), (key, number)


@pytest.mark.parametrize("name", TRAVELLING)
def test_errors_on_the_page_of_a_published_task_are_those_of_the_command(published, browser, tmp_path, name):
    """The tasks are on periodic grids and at times; one has two functions."""
    (page_file,) = write_task_pages(tmp_path, [name])
    random, folder = np.random.default_rng(1), tmp_path / "predictions"
    folder.mkdir()
    for group, source in answers_of(name, inputs=False).sources.items():
        labels = source.read(range(len(source))).targets
        noise = np.cumsum(random.standard_normal(labels.shape), axis=-1)
        np.save(folder / f"{group}.npy", labels + 1e-3 * noise)
    expected = judge(str(folder), name, tmp_path / "evaluation", label="mine")
    found, page = on_the_page(browser, page_file, sorted(folder.iterdir()), tmp_path)
    same_rows(found, expected)
    assert page.locator("#remarks").is_hidden()


def test_exchanged_axes_are_remarked_on_in_the_same_words(pages, data, browser, tmp_path):  # noqa: F811
    (source,) = answers_of("darcy-v0", data).sources.values()
    swapped = 1.01 * source.read(range(len(source))).targets.swapaxes(-1, -2)
    path = saved(swapped, "n33", "npy", tmp_path)
    expected = judge(str(path), "darcy-v0", tmp_path / "evaluation", data=data)
    found, page = on_the_page(browser, pages / "darcy-v0.html", [path], tmp_path)
    assert found["remarks"] == expected["remarks"] != []
    assert page.locator("#remarks").text_content() == f"Remark: {expected['remarks'][0]}."


def saved(predictions, group, kind, folder):
    path = folder / f"{group}.{kind.partition(' ')[0]}"
    if kind == "csv":
        np.savetxt(path, predictions, delimiter=",")
    elif kind.startswith("npz"):
        save = np.savez_compressed if kind.endswith("compressed") else np.savez
        save(path, **{group: predictions, "x": np.arange(3.0)})
    else:
        order = "F" if kind.endswith("fortran") else "C"
        np.save(path, np.asarray(predictions, ">f4" if kind.endswith("f4") else "<f8", order=order))
    return path


@pytest.mark.parametrize(
    ("task", "kind"),
    [("burgers-v0", "npy"), ("burgers-v0", "npy f4"), ("burgers-v0", "csv"), ("burgers-v0", "npz compressed"),
     ("darcy-v0", "npy fortran"), ("darcy-v0", "npz")],
)  # fmt: skip
def test_the_page_finds_what_the_command_finds(pages, data, browser, tmp_path, task, kind):  # noqa: F811
    (group, source), *_ = answers_of(task, data).sources.items()
    targets = source.read(range(len(source))).targets
    random = np.random.default_rng(1)
    predictions = targets * (1 + 0.1 * random.standard_normal(targets.shape))
    path = saved(predictions, group, kind, tmp_path)
    expected = judge(str(path), task, tmp_path / "evaluation", data=data, label="mine")
    found, page = on_the_page(browser, pages / f"{task}.html", [path], tmp_path)
    assert found["files"] == expected["files"]
    assert found["test_set"] == expected["test_set"]
    assert found["as_accurate"] == expected["as_accurate"]
    assert found["classical"] == expected["classical"]
    same_rows(found, expected)
    baselines = {row["who"] for row in found["rows"] if row["who"].startswith(BASELINE)}
    assert {"baseline, mean of the training targets", "baseline, linear ridge regression"} <= baselines
    assert page.locator("#pictures canvas").count() == 3
    assert "mine & " in page.locator("#latex").text_content()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.zeros((5, 60)), "n64.npy has the shape (5, 60); expected: (5, 64) on n64"),
        (np.full((5, 64), np.nan), "n64.npy: sample 0 is not finite"),
        (
            np.zeros((5, 64), complex),
            "n64.npy has numbers of a type that is not accepted; save it as float64",
        ),
    ],
)
def test_what_does_not_fit_is_one_line_on_the_page(pages, browser, tmp_path, content, message):
    np.save(tmp_path / "n64.npy", content)
    page = Reader(browser).open(pages / "burgers-v0.html")
    page.set_input_files("#files", [tmp_path / "n64.npy"])
    page.wait_for_selector("#message:not([hidden])")
    assert page.locator("#message").text_content() == message
    assert page.locator("#result").is_hidden()


@pytest.mark.parametrize("name", TRAVELLING)
def test_pages_of_small_tasks_are_small(published, name, tmp_path):
    (page,) = write_task_pages(tmp_path, [name])
    assert page.stat().st_size < LARGEST
    assert sum(path.stat().st_size for path in tasks.FOLDER.glob("*.answers.json")) < 3_000_000


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAVELLING)
def test_labels_in_the_package_are_those_that_are_solved_for(published, name, tmp_path):
    solved = packed_answers(name, tmp_path / "data")
    packaged = read_json(PUBLISHED / f"{name}.answers.json", "answers")
    for group, labels in solved["labels"].items():
        if "packed" in labels:
            difference = unpack(labels) - unpack(packaged["labels"][group])
            assert abs(difference).max() <= 2 * labels["step"]
