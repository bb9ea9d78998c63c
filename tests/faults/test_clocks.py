"""Clocks that disagree: dates of files a day ahead or behind."""

import os
import random
import time

import pytest
from small_pipeline import RUN

pytestmark = pytest.mark.faults
DAY = 24 * 3600


def date(folder, shift):
    """Shift the dates of all files by `shift()` days from now."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            when = time.time() + shift() * DAY
            os.utime(path, (when, when))


@pytest.mark.parametrize(
    ("data", "results"), [(1, -1), (-1, 1), (0, -1), (None, None)], ids=["ahead", "behind", "old", "mixed"]
)
def test_dates_of_files_make_nothing_run_again_or_the_same_again(project, data, results, fault):
    days = random.Random(0)
    for folder, shift in (("data", data), ("results", results)):
        date(project.folder / folder, lambda: days.uniform(-1, 1) if shift is None else shift)  # noqa: B023
    fault("dates of files a day off")
    if "Nothing to be done" not in project.build():
        assert project.planned() == {}
    project.assert_undisturbed()


def test_what_is_made_from_files_of_tomorrow_is_not_taken_for_outdated(project, fault):
    date(project.folder / "data", lambda: 1)
    project.forget(RUN)
    fault("a dataset made by a clock a day ahead")
    project.build()
    project.assert_undisturbed()
    assert project.planned() == {}


def test_a_checkpoint_of_tomorrow_is_evaluated_once(project, fault):
    date(project.folder / RUN, lambda: 1)
    (project.folder / RUN / "errors.csv").unlink()
    fault("a checkpoint made by a clock a day ahead")
    project.build(f"{RUN}/errors.csv")
    project.assert_undisturbed()
    assert project.planned() == {}
