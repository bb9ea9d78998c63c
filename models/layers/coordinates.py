"""Where an operator thinks its grid points are."""

from typing import Literal

from jaxtyping import Float
from torch import Tensor


def place(x: Float[Tensor, "n 1"], coordinates: Literal["grid", "linspace"]) -> Float[Tensor, "n 1"]:
    """Place the coordinates as an operator uses them.

    "grid" leaves x_i = iL/n, i = 0..n-1, as it is. "linspace" makes it iL/(n-1), which ends at L: that is
    what `linspace(0, 1, n)` in the public codes of Cao (2021) and Li et al. (2021) does to periodic data.
    """
    if coordinates == "grid":
        return x
    return x * (len(x) / (len(x) - 1))
