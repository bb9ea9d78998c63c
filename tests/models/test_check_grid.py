"""What settings refuse before training is what the architecture refuses when it meets the grid."""

import pytest
import torch
from model_variants import SMALL, VARIANTS, dimension, grid

from resolvent.models.build import build
from resolvent.models.registry import ARCHITECTURES, resolve, settings_class

SIDES = (4, 5, 6, 7, 8, 9, 12, 13, 14, 16)  # on both sides of what the small architectures can take
# Attention and norms take any grid.
ONE_OF_EACH = [
    next((architecture, variant) for architecture, variant in VARIANTS if architecture == name)
    for name in ARCHITECTURES
] + [("neuraloperator2d", {"model": "UNO"}), ("vit_no", {"smoother": "none"})]


def refused(call, *arguments) -> bool:
    try:
        call(*arguments)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize(("architecture", "variant"), ONE_OF_EACH)
def test_grids_are_refused_early_and_late_alike(architecture, variant):
    settings = {**SMALL[architecture], **variant}
    operator = build(architecture, settings, seed=0).eval()
    early = [n for n in SIDES if refused(resolve(architecture, settings).check_grid, n)]
    late = []
    with torch.no_grad():
        for n in SIDES:
            x = grid(n, dim=dimension(architecture))
            if refused(operator, torch.zeros(1, *x.shape[:-1], 1), x):
                late.append(n)
    if settings_class(architecture).one_grid:
        assert late == [n for n in SIDES if n != settings["points"]]  # which the data give
    else:
        assert early == late
