"""Counts in words."""

from resolvent.common.counts import counted


def test_a_noun_is_plural_unless_there_is_one():
    assert [counted(number, "run") for number in (0, 1, 1024)] == ["0 runs", "1 run", "1,024 runs"]
    assert [counted(n, "input is", "inputs are") for n in (1, 2)] == ["1 input is", "2 inputs are"]
