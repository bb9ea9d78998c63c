"""What is remarked on in imported data, and from where on."""

import numpy as np
import pytest

from resolvent.datasets.imported.arrays_checks import grid_warnings
from resolvent.datasets.imported.darcy_checks import _differ, _pattern

SMOOTH = {"seam": 0.9, "both_ends": 1.0, "at_ends": 1.0, "half_cell": 1.0}
REMARKS = {
    "a jump of four steps": ("periodic", {"seam": 4.0}, ""),
    "a larger one": ("periodic", {"seam": 4.1}, "jumps at the seam of the periodic grid, 4.1 times"),
    "both ends": ("periodic", {"both_ends": 1e-7}, "the last value repeats the first one"),
    "nearly both ends": ("periodic", {"both_ends": 2e-7}, ""),
    "both ends with a kink": ("periodic", {"both_ends": 0.0, "seam": 1.0}, ""),
    "zero half a cell beyond": ("nodes", {"half_cell": 0.09}, "looks like one on cell_centres"),
    "smaller there": ("nodes", {"half_cell": 0.1}, ""),
    "zero at the ends and beyond": ("nodes", {"at_ends": 1e-3, "half_cell": 0.0}, ""),
    "zero at the ends": ("cell_centres", {"at_ends": 1e-7}, "looks like one on nodes"),
    "nearly zero at the ends": ("cell_centres", {"at_ends": 2e-7}, ""),
    "zero everywhere near the ends": ("cell_centres", {"at_ends": 0.0, "half_cell": 0.0}, ""),
}


@pytest.mark.parametrize("case", REMARKS)
def test_ends_that_are_not_those_of_the_grid_are_remarked_on(case):
    kind, ends, words = REMARKS[case]
    found = grid_warnings("u", SMOOTH | ends, kind)
    assert len(found) == bool(words)
    assert words in "".join(found)


@pytest.mark.parametrize("errors", [(None, 0.1), (0.1, None), (None, None)])
def test_means_without_a_standard_error_do_not_differ(errors):
    one, other = ({"mean": mean, "standard_error": e} for mean, e in zip((0.0, 9.0), errors, strict=True))
    assert not _differ(one, other)
    assert _differ(one | {"standard_error": 0.1}, other | {"standard_error": 0.1})


def test_a_pattern_without_an_end_reaches_as_far_as_was_looked():
    found = _pattern(np.ones((2, 8, 8)))
    assert found["distance_at_which_the_correlation_is_half"] == pytest.approx(3 / 7, rel=2e-3)
