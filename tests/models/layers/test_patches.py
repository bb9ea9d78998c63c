"""Patches against slices."""

import pytest
import torch
from model_variants import grid

from resolvent.models.calvello2024.patched_neural_operators import join, split


def test_patches_are_the_restrictions_row_by_row():
    u = torch.randn(2, 6, 12, 3)
    patches = split(u, 3)
    assert patches.shape == (2, 9, 2, 4, 3)
    for row in range(3):
        for column in range(3):
            expected = u[:, 2 * row : 2 * row + 2, 4 * column : 4 * column + 4]
            assert torch.equal(patches[:, 3 * row + column], expected)


@pytest.mark.parametrize(("n1", "n2", "patches"), [(6, 12, 3), (5, 5, 5), (7, 4, 1), (26, 39, 13)])
def test_join_is_the_inverse(n1, n2, patches):
    u = torch.randn(2, n1, n2, 3)
    assert torch.equal(join(split(u, patches), patches), u)


def test_patches_of_a_finer_grid_cover_the_same_squares():
    coarse, fine = (split(grid(n, dim=2)[None], 4) for n in (8, 24))
    torch.testing.assert_close(fine[:, :, ::3, ::3], coarse)


@pytest.mark.parametrize(
    ("n1", "n2", "near"), [(100, 100, "104 x 104"), (416, 421, "416 x 416"), (5, 13, "13 x 13")]
)
def test_a_grid_that_cannot_be_split_is_refused_with_sizes_that_can(n1, n2, near):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        split(torch.zeros(1, n1, n2, 1), 13)
    assert str(caught.value) == (
        f"13 x 13 patches need sides that 13 divides, such as {near}; got {n1} x {n2}"
    )
    split(torch.zeros(1, *map(int, near.split(" x ")), 1), 13)
