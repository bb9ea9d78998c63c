"""Clocks that disagree: dates of files a day ahead or behind."""

import os
import random
import time

import pytest
from small_pipeline import RUN

pytestmark = pytest.mark.faults
DAY = 24 * 3600


def date(folder, shift):
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


@pytest.mark.parametrize(
    ("dated", "gone", "target"), [("data", RUN, ()), (RUN, f"{RUN}/errors.csv", (f"{RUN}/errors.csv",))]
)
def test_what_is_made_from_files_of_tomorrow_is_not_taken_for_outdated(project, dated, gone, target, fault):
    date(project.folder / dated, lambda: 1)
    missing = project.folder / gone
    missing.unlink() if missing.is_file() else project.forget(gone)
    fault("a dataset or a checkpoint made by a clock a day ahead")
    project.build(*target)
    project.assert_undisturbed()
    assert project.planned() == {}
