"""Labels of third-party data against our solver: by convention, and from where on they are warned of."""

import numpy as np
import pytest

from resolvent.datasets.imported.labels import label_warnings
from resolvent.datasets.tasks.registry import settings_of
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.darcy.direct import solve_direct

DARCY = {"equation": "darcy", "source": "x.mat", "finest": 9, "resolutions": [9], "tolerance": 1e-12}
DARCY_CONVENTIONS = {
    "nodes, arithmetic mean": {},
    "nodes, harmonic mean": {"face_mean": "harmonic"},
    "cell centres, arithmetic mean": {"grid": "cell_centres"},
}


@pytest.mark.parametrize("words", DARCY_CONVENTIONS)
def test_the_convention_of_pressures_is_found(words):
    coefficient = np.where(np.random.default_rng(0).random((5, 9, 9)) < 0.5, 12.0, 3.0)
    drawn = np.stack([coefficient, solve_direct(coefficient, **DARCY_CONVENTIONS[words])], axis=1)
    task = settings_of(DARCY).task()
    assert set(task.conventions) == {*DARCY_CONVENTIONS}
    errors = {name: task.label_errors(drawn, how).max() for name, how in task.conventions.items()}
    assert min(errors, key=errors.get) == words
    assert errors[words] < 1e-10
    with pytest.raises(SolverError, match="the coefficient is not positive"):
        task.label_errors(-drawn, task.stated[1])


def test_the_stated_convention_of_burgers_is_not_among_the_others():
    settings = settings_of({"equation": "burgers", "source": "x.mat", "viscosity": 0.1, "final_time": 1.0})
    assert list(settings.task().conventions) == ["the public file's", "Cao's text"]
    longer = settings.model_copy(update={"length": 2.0, "viscosity": 0.4})  # the same on the unit circle
    assert list(longer.task().conventions) == ["the public file's", "Cao's text"]


def test_errors_where_our_solution_is_zero_are_1_or_0():
    task = settings_of({"equation": "burgers", "source": "x.mat", "finest": 16, "resolutions": [16]}).task()
    drawn = np.zeros((2, 2, 16))
    drawn[1, 1] = 3.0
    np.testing.assert_array_equal(task.label_errors(drawn, task.stated[1]), [0.0, 1.0])


CONVENTIONS = {"ours": {"median_relative_l2": 1e-4}, "another": {"median_relative_l2": 0.4e-4}}
# Median and largest error of labels, errors with other conventions, and what is said.
LABELS = {
    "at the tolerance": (1e-3, 1e-2, {}, ""),
    "above it": (1.1e-3, 1e-2, {}, "by 1.1e-03 in the median and 1.0e-02 at most"),
    "some above it": (1e-3, 1.1e-2, {}, "1.1e-02 at most"),
    "another convention is better": (1e-4, 1e-4, CONVENTIONS, "With other conventions: another: 4.0e-05."),
    "not solved": (None, None, {}, "The labels could not be checked: why"),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_are_remarked_on_in_one_line(case):
    median, largest, conventions, said = LABELS[case]
    labels = {"median_relative_l2": median, "largest_relative_l2": largest}
    labels = {"not_available": "why"} if median is None else labels
    words = label_warnings("labels", labels, "ours", conventions, 1e-3)
    assert len(words) == bool(said)
    assert said in "".join(words)
