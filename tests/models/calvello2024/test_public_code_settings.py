"""What the public code of Calvello et al. 2024 has and the text has not, where it is a setting of a model."""

import pytest
import torch
from model_variants import SMALL, grid

from resolvent.models.build import build


@pytest.mark.parametrize("architecture", ["tno1d", "tno2d", "vit_no", "fano"])
def test_equal_layers_start_as_copies_of_one_and_part_in_training(architecture):
    settings = SMALL[architecture] | {"num_layers": 3}
    plain, equal = (build(architecture, settings | {"equal_layers": copies}, 0) for copies in (False, True))
    first, *others = (dict(layer.named_parameters()) for layer in equal.layers)
    assert len(others) == 2
    for other in others:
        assert all(torch.equal(other[name], first[name]) for name in first)
        assert all(other[name] is not first[name] for name in first)
    for name, value in plain.layers[0].named_parameters():
        assert torch.equal(value, first[name])  # drawn as without copies
    weights = [layer.output.weight if "tno" not in architecture else layer.attention.output.weight
               for layer in plain.layers]  # fmt: skip
    assert not torch.equal(weights[0], weights[1])


def test_scores_without_the_root_are_those_of_a_query_multiplied_by_it():
    settings = SMALL["tno1d"] | {"num_layers": 1, "num_heads": 4, "width": 16}  # d_K = 4
    scaled, printed = (
        build("tno1d", settings | {"scaled_scores": scaled}, 0).double().eval() for scaled in (True, False)
    )
    u, x = torch.randn(2, 12, 1, dtype=torch.float64), grid(12, torch.float64)
    assert not torch.allclose(scaled(u, x), printed(u, x), rtol=1e-6)
    projection = scaled.layers[0].attention.projection
    with torch.no_grad():
        projection.weight[:16] *= 2
        projection.bias[:16] *= 2
    torch.testing.assert_close(scaled(u, x), printed(u, x), rtol=1e-12, atol=1e-12)
