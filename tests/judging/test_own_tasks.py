"""Tasks of one's own: made from a study, evaluated by others, and read as hostile."""

import numpy as np
import pytest
import yaml
from judged_tasks import write_task

from resolvent.common.errors import FileError, ResolventError
from resolvent.judging import tasks
from resolvent.judging.give import give
from resolvent.judging.judge import judge
from resolvent.judging.task_page import make_task

STUDY = {
    "datasets": {
        "mine": {
            "equation": "burgers", "viscosity": 0.01, "resolutions": [64], "finest": 256,
            "samples": {"train": 3, "validation": 1, "test": 5},
        }
    }
}  # fmt: skip


ZEROS = {f"n64/{name}_velocity": [0.0] * 5 for name in ("initial", "final")}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make a task; return its file, its page, and the folder of its labels."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "study.yaml").write_text(yaml.safe_dump(STUDY))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("resolvent.evaluation.inference.SHORTEST", 1e-3)
        file, page = make_task("mine-v1", folder / "study.yaml", "mine", folder, place=folder / "data")
    return file, page, folder / "data"


def test_a_task_of_a_study_is_given_and_evaluated_by_its_file(made, tmp_path):
    file, page, data = made
    given = give(str(file), tmp_path / "given")
    assert {path.name for path in given} >= {"train_n64.npz", "test_n64.npz", "mine-v1.yaml", "README.md"}
    assert (tmp_path / "given/mine-v1.yaml").read_text() == file.read_text()
    inputs = np.load(tmp_path / "given/test_n64.npz")["inputs"]
    np.savez(tmp_path / "mine.npz", n64=inputs)
    record = judge(str(tmp_path / "mine.npz"), str(file), tmp_path / "out", data=data)
    assert record["task"] == "mine-v1"
    assert 0 < record["rows"][0]["mean"] < 1
    assert "mine-v1: evaluate predictions" in page.read_text()


def test_a_task_never_changes_and_has_a_name_of_its_own(made, tmp_path):
    study = made[0].parent / "study.yaml"
    for name, dataset, message in (
        ("mine-v1", "mine", "exists, and a task never changes"),
        ("burgers-v1", "mine", "is a task of the package"),
        ("../mine-v1", "mine", r"'\.\./mine-v1' is no name of a task; expected: like mine-v1"),
        ("other-v1", "theirs", "has no dataset 'theirs'; accepted: .*mine"),
    ):
        with pytest.raises(ResolventError, match=message):
            make_task(name, study, dataset, study.parent, place=tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset": {"equation": "os:path"}}, "accepted: one without 'source', of the equations burgers, "),
        ({"dataset": {"equation": "arrays", "source": "/etc/passwd"}}, "accepted: one without 'source'"),
        ({"dataset": 3}, "accepted: one without 'source'"),
        ({"dataset": {"equation": ["burgers"]}}, "accepted: one without 'source'"),
        ({"metric": "mine"}, "is no task: get it again from its authors"),
        ({"tested": [63]}, "the dataset has no resolution 63"),
        ({"tested": []}, "is no task"),
        ({"test": {}}, "has no check values of the labels"),
        ({"test": {"n64/final_velocity": [1.0]}}, "is no task"),
        ({"test": ZEROS}, r"is not the task's: its check values differ by nan"),
        ({"title": "\x1b[31m"}, ""),
        ("a: &a [1, 1]\nb: [*a, *a]", "references, .name, are not accepted"),
        ("!!python/object/apply:os.system ['touch executed']", "is no task"),
        ("- " * 100_000, "is no task"),
        ("[" * 100_000, "is no task"),
        ("\x00", "is no task"),
        (b"\xff\xfe\xff", "is no task"),
        ("", "accepted: one without 'source'"),
    ],
)
def test_a_task_file_of_others_is_read_as_hostile(made, change, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "theirs-v1.yaml"
    if isinstance(change, dict):
        path.write_text(yaml.safe_dump(yaml.safe_load(made[0].read_text()) | change))
    else:
        path.write_bytes(change if isinstance(change, bytes) else change.encode())
    np.savez(tmp_path / "mine.npz", n64=np.ones((5, 64)))
    if message == "":  # it is shown, and must not steer a terminal
        judge("mine.npz", str(path), tmp_path / "out", data=made[2])
        assert "\x1b" not in (tmp_path / "out/index.html").read_text()
        return
    with pytest.raises(ResolventError, match=message) as refused:
        judge("mine.npz", str(path), tmp_path / "out", data=tmp_path / "data")
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "executed").exists()


def test_a_file_that_is_missing_or_has_another_name_is_refused(made, tmp_path):
    for name in (str(tmp_path / "no-v1.yaml"), str(tmp_path / "Mine.yaml"), str(tmp_path)):
        with pytest.raises(FileError):
            tasks.read_task(name)
    write_task(tmp_path, "burgers-v1", "burgers", 64)
    with pytest.raises(FileError, match="burgers-v1 is a task of the package"):
        tasks.read_task(str(tmp_path / "burgers-v1.yaml"))
