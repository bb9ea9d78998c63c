"""What a plan keeps."""

from resolvent.planning.kept_answers import kept


class Asked:
    """Counts how often it computes."""

    def __init__(self, factor: int):
        self.factor, self.times = factor, 0

    @kept
    def product(self, number: int) -> int:
        """Return the product."""
        self.times += 1
        return self.factor * number


def test_an_answer_is_computed_once_for_each_argument_and_object():
    double, triple = Asked(2), Asked(3)
    assert [double.product(one) for one in (1, 2, 1, 2)] == [2, 4, 2, 4]
    assert triple.product(1) == 3
    assert (double.times, triple.times) == (2, 1)
