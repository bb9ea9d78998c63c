"""A function on the square as functions on its patches (Calvello et al. 2024, arXiv:2406.06486, eqs. 5-6)."""

from einops import rearrange
from jaxtyping import Float
from torch import Tensor


def split(
    u: Float[Tensor, "batch n1 n2 channels"], patches: int
) -> Float[Tensor, "batch all_patches p1 p2 channels"]:
    """Cut u into its restrictions to `patches` × `patches` congruent patches, row by row.

    Raises `ValueError` if `patches` does not divide the sides of the grid.
    """
    sides = tuple(u.shape[1:3])
    if any(n % patches for n in sides):
        near = " x ".join(str(max(1, round(n / patches)) * patches) for n in sides)
        raise ValueError(
            f"{patches} x {patches} patches need sides that {patches} divides, such as {near}; "
            f"got {sides[0]} x {sides[1]}"
        )
    return rearrange(u, "batch (i p1) (j p2) channels -> batch (i j) p1 p2 channels", i=patches, j=patches)


def join(
    v: Float[Tensor, "batch all_patches p1 p2 channels"], patches: int
) -> Float[Tensor, "batch n1 n2 channels"]:
    """Put the restrictions together to one function: the inverse of `split`."""
    return rearrange(v, "batch (i j) p1 p2 channels -> batch (i p1) (j p2) channels", i=patches, j=patches)
