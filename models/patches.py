"""A function on the square as functions on its patches (Calvello et al. 2024, arXiv:2406.06486, eqs. 5-6)."""

from jaxtyping import Float
from torch import Tensor


def split(
    u: Float[Tensor, "batch n1 n2 channels"], patches: int
) -> Float[Tensor, "batch all_patches p1 p2 channels"]:
    """The restrictions of u to `patches` × `patches` congruent patches, row by row.

    Raises `ValueError` if `patches` does not divide the sides of the grid.
    """
    sides = tuple(u.shape[1:3])
    if any(n % patches for n in sides):
        near = " x ".join(str(max(1, round(n / patches)) * patches) for n in sides)
        raise ValueError(
            f"{patches} x {patches} patches need sides that {patches} divides, such as {near}; "
            f"got {sides[0]} x {sides[1]}"
        )
    return u.unflatten(2, (patches, -1)).unflatten(1, (patches, -1)).transpose(2, 3).flatten(1, 2)


def join(
    v: Float[Tensor, "batch all_patches p1 p2 channels"], patches: int
) -> Float[Tensor, "batch n1 n2 channels"]:
    """The function with these restrictions: the inverse of `split`."""
    return v.unflatten(1, (patches, patches)).transpose(2, 3).flatten(1, 2).flatten(2, 3)
