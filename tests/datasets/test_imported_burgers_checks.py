"""The checks of imported Burgers data: numbers against known ones, and from where on they warn."""

import numpy as np
import pytest

from resolvent.datasets.imported import burgers
from resolvent.datasets.imported.labels import label_warnings
from resolvent.datasets.tasks.distributions import CircleDistribution
from resolvent.solvers.common.fourier import observe
from resolvent.solvers.random_fields.gaussian import PeriodicGaussianField

STATED = CircleDistribution(sigma=25, tau=5, gamma=2)
MODES = np.arange(1, 64)  # of 128 points
POWER = 25**2 * ((2 * np.pi * MODES) ** 2 + 25.0) ** -2


def facts_of(power, constant=0.0, stated=STATED):
    return burgers.spectrum_facts(np.array([constant, *power]), 3, stated)


def test_the_power_of_each_band_is_compared_with_that_stated():
    factors = np.repeat([1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 9.0], [1, 2, 4, 8, 16, 1, 31])
    bands = facts_of(factors * POWER)["power_over_that_stated_by_modes"]
    assert list(bands) == ["1", "2 to 3", "4 to 7", "8 to 15", "16 to 31", "32"]  # a quarter of the points
    assert [band["ratio"] for band in bands.values()] == pytest.approx([1.1, 1.2, 1.3, 1.4, 1.5, 1.6])
    errors = [band["standard_error"] for band in bands.values()]
    assert errors == pytest.approx(1 / np.sqrt(3 * np.array([1, 2, 4, 8, 16, 1])), rel=0.05)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize(
    ("cut", "stated", "said"),
    [(20, 20, ""), (None, None, ""), (40, 20, "power above the stated modes"), (10, 20, "in modes 16 to 20")],
)
def test_modes_beyond_the_stated_ones_and_missing_ones_are_remarked_on(cut, stated, said, kind):
    field = PeriodicGaussianField(25.0, 5.0, 2.0, num_modes=cut or 63)
    drawn = observe(np.stack([field.coefficients(0, 0, index) for index in range(64)]), 128).astype(kind)
    power = burgers.powers(drawn.astype("float64")).mean(axis=0)
    facts = burgers.spectrum_facts(power, 64, STATED.model_copy(update={"num_modes": stated}))
    words = "".join(burgers.distribution_warnings(facts))
    assert bool(words) == bool(said), words
    assert said in words


@pytest.mark.parametrize(("share", "mean"), [(0.9, "absent"), (1.1, "present")])
def test_a_constant_counts_by_its_share_of_the_variance(share, mean):
    facts = facts_of(POWER, share * 1e-6 * 2 * POWER.sum())
    assert facts["mean"] == mean
    assert ("a mean that is present" in "".join(burgers.distribution_warnings(facts))) == (mean == "present")


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
