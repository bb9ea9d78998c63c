"""Numbers on the front page: an interval has its middle's exponent, and a store elsewhere has no size."""

from resolvent.figures.common.comparison import Error
from resolvent.figures.front.cards import size_in_words
from resolvent.figures.front.leaderboard import interval
from resolvent.figures.front.terminal import with_interval


def test_an_interval_has_the_exponent_of_its_middle():
    assert interval(Error(2.02e-2, 1.561e-2, 2.91e-2, 0)) == "(1.56 to 2.91) × 10⁻²"
    assert interval(Error(9.7e-3, 9.1e-3, 1.02e-2, 0)) == "(9.10 to 10.20) × 10⁻³"
    assert interval(Error(0.5, 0.4, 0.61, 0)) == "(0.400 to 0.610)"
    assert (
        interval(Error(0.5, 4e-3, 0.61, 0)) == "(4.00 × 10⁻³ to 0.610)"
    )  # or nothing would be left of the lower
    assert interval(Error(3e-2, 2e-4, 40.0, 0)) == "(2.00 × 10⁻⁴ to 40.0)"
    assert (
        interval(Error(9.999e-4, 9.9e-4, 1.1e-3, 0)) == "(0.99 to 1.10) × 10⁻³"
    )  # the middle is 1.00 × 10⁻³
    assert interval(Error(1e-3, float("nan"), float("nan"), 0)) == ""


def test_in_the_terminal_an_error_and_its_interval_share_the_exponent():
    assert with_interval(Error(2.02e-2, 1.561e-2, 2.91e-2, 0)) == "2.02 (1.56 to 2.91) × 10⁻²"
    assert with_interval(Error(0.5, 0.4, 0.61, 0)) == "0.500 (0.400 to 0.610)"
    assert with_interval(Error(1e-3, float("nan"), float("nan"), 0)) == "1.00 × 10⁻³"


def test_a_store_elsewhere_has_no_size(tmp_path):
    assert size_in_words(tmp_path / "none.zarr") == "not on this disk"
    (tmp_path / "link.zarr").write_text("s3://bucket/x.zarr")
    assert size_in_words(tmp_path / "link.zarr") == "in an object store"
