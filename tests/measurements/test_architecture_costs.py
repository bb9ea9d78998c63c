"""The paper's formulas give its numbers, and counting without computing gives those of computing."""

import pytest
import torch

from resolvent.measurements import architecture_costs as measuring
from resolvent.measurements.architecture_costs import architecture_costs, counted_costs
from resolvent.measurements.architecture_formulas import (
    MEASURED,
    Size,
    afno_operations,
    afno_parameters,
    cases,
    fano_operations,
    fano_parameters,
    fno_operations,
    fno_parameters,
    tno_operations,
    tno_parameters,
    vit_operations,
    vit_parameters,
)
from resolvent.measurements.settings import ArchitectureCostSettings
from resolvent.models.build import build, parameter_counts
from resolvent.models.layers.spectral_convolution import truncated_fourier_matrices
from resolvent.training.operations import forward_operations

PAPER = ArchitectureCostSettings()
TINY = {
    "points": [16, 32], "widths": [8, 16], "modes": 4, "fano_modes": 3, "patches": 4, "smoother_modes": 4,
    "timed_flop": 1.5e7, "rounds": 1,
}  # fmt: skip


@pytest.fixture(autouse=True)
def same_threads():
    """Timings are on one."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize(
    ("formula", "size", "printed"),
    [
        (tno_parameters, Size(128, 64**2), 5.98e5),
        (fno_parameters, Size(128, 64**2, modes=12 * 7), 5.70e6),
        (afno_parameters, Size(128, 64**2, blocks=8), 1.10e6),
    ],
)
def test_the_formulas_of_table_4_give_table_1_but_for_biases(formula, size, printed):
    assert formula(size) == pytest.approx(printed, rel=0.02)
    assert formula(size) < printed


def biases_and_norms(width, layers):
    """Count four maps of attention, two of the feed-forward and two norms a layer, less Table 4's 2d."""
    return layers * (4 * width + 2 * width + 4 * width - 2 * width)


@pytest.mark.parametrize(
    ("name", "formula", "outside"),
    [
        ("tno", tno_parameters, 128 + 1),
        ("vit_no", vit_parameters, 1 + 2 * 64**2),  # a spectral lifting has no bias; the smoother
        ("fano", fano_parameters, 128 + 1 - 6 * 3 * 128 + 2 * 64**2),  # nor have spectral Q, K and V
    ],
)
def test_parameters_are_the_formulas_and_what_the_paper_leaves_out(name, formula, outside):
    one = MEASURED[name]
    with torch.device("meta"):
        operator = build(one.architecture, one.settings(PAPER, 128, 416), seed=0)
    once, _ = parameter_counts(operator)
    assert once == formula(one.size(PAPER, 128, 416)) + biases_and_norms(128, 6) + outside


def test_operations_by_hand_at_sizes_whose_logarithms_are_whole():
    """d = 2, N = 16², P = 4² patches of 4² points, k = 8, k' = 32; of AFNO b = 2."""
    size = Size(2, 256, modes=8, patches=16, smoother_modes=32)
    layer = 6 * (12 * 4 * 256 + 2 * 2 * 256 * 16)
    final = 15 * 256 * 4
    vit = vit_operations(size)
    assert vit.transforms == 5 * 15 * 256 * 2 / 2 + final
    assert vit.products == 16 * 8 * 2 * 5 + 2 * 256 * 2 + layer + 32
    fano = fano_operations(size)
    assert fano.transforms == 6 * 45 * 2 * 256 * 2 + final
    per_layer = 3 * 8 * 16 * (2 * 4 - 2) + 2 * 256 * 4 + 2 * 2 * 256 * 16 + 4 * 256 * 4
    assert fano.products == 2 * 256 * 4 * 2 + 6 * per_layer + 32
    fno = fno_operations(Size(2, 256, modes=8))
    assert fno.transforms == 4 * 15 * 2 * 256 * 4
    assert fno.products == 2 * 256 * (3 + 4) * 128 + 2 * 256 * 128 + 4 * (8 * 6 + 2 * 256 * 4)
    afno = afno_operations(Size(2, 256, blocks=2))
    assert afno.transforms == 4 * 15 * 2 * 256 * 4
    assert afno.products == 2 * 256 * (3 + 1) * 2 + 4 * (2 * 256 * 4 / 2 + 16 * 256 * 4)


def test_the_transformer_at_the_papers_size_has_nearly_twice_its_formulas_operations():
    """QKᵀ and AV are two products of N² d multiplications, of which Table 5 has one."""
    formula = tno_operations(Size(128, 4096)).total
    assert formula == pytest.approx(30.6e9, rel=1e-3)
    _, _, counted = counted_costs("tno2d", {"quadrature": "none"}, 64)
    assert counted - formula == 6 * 2 * 4096**2 * 128


@pytest.mark.parametrize("name", MEASURED)
def test_counting_without_computing_is_counting(name):
    one, settings = MEASURED[name], ArchitectureCostSettings(**TINY)
    model = one.settings(settings, 16, 16)
    once, twice, flop = counted_costs(one.architecture, model, 16)
    operator = build(one.architecture, model, seed=0)
    axis = torch.linspace(0, 1, 16)
    x = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=-1)
    assert flop == forward_operations(operator, torch.ones(1, 16, 16, 1), x)
    assert twice == sum(parameter.numel() for parameter in operator.parameters())
    assert (once < twice) == (name in ("fno", "vit_no", "fano"))
    matrices, _ = truncated_fourier_matrices(16, 4, torch.device("cpu"), torch.float32)
    assert float(matrices.abs().max()) > 0  # numbers again


ENCODER = {"width": 128, "num_layers": 6, "num_heads": 8, "feedforward_width": 128}
PATCHED = {"patches": 13, "smoother": "learned", "smoother_modes": 64}
SETTINGS = {  # and, of Table 4, the modes, patches, modes of the smoother and blocks
    "fno": ({"width": 128, "modes": 12, "num_layers": 4}, (12 * 7, 1, 0, 1)),
    "afno": (
        {"points": 64, "width": 128, "num_layers": 4, "num_blocks": 8, "feedforward_width": 512},
        (0, 1, 0, 8),
    ),
    "tno": (ENCODER | {"quadrature": "none"}, (0, 1, 0, 1)),
    "vit_no": (ENCODER | PATCHED | {"modes": 12}, (2 * 12**2, 13**2, 2 * 64**2, 1)),
    "fano": (ENCODER | PATCHED | {"modes": 9}, (2 * 9**2, 13**2, 2 * 64**2, 1)),
    "galerkin_encoder": (ENCODER | {"num_heads": 4}, None),
}


@pytest.mark.parametrize("name", MEASURED)
def test_what_is_counted_has_the_papers_settings(name):
    settings, size = SETTINGS[name]
    assert MEASURED[name].settings(PAPER, 128, 64) == settings
    if size is not None:
        modes, patches, smoother, blocks = size
        expected = Size(128, 64**2, modes=modes, patches=patches, smoother_modes=smoother, blocks=blocks)
        assert MEASURED[name].size(PAPER, 128, 64) == expected


def test_patched_operators_have_the_grids_that_patches_divide():
    found = list(cases(ArchitectureCostSettings(**TINY | {"points": [16, 18, 32]})))
    assert len(found) == len(set(found)) == 2 * (4 * 3 + 2 * 2)
    assert ("tno", 8, 18) in found
    assert ("fano", 8, 18) not in found


def test_every_case_has_a_row_and_small_ones_a_time(monkeypatch):
    chosen = [("tno", 8, 16), ("tno", 8, 32), ("galerkin_encoder", 8, 16)]
    monkeypatch.setattr(measuring, "cases", lambda settings: chosen)
    table = architecture_costs(gpus=0, **TINY)
    assert list(zip(table["model"], table["width"], table["points"], strict=True)) == chosen
    assert list(table["seconds"].notna()) == [True, False, True]
    assert list(table["forward_flop"] <= 1.5e7) == [True, False, True]
    assert list(table["formula_products"].notna()) == [True, True, False]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"points": [16, 26]}, "two grids for patched operators"),
        ({"widths": [8, 8]}, "two widths"),
        ({"modes": 20}, "20 modes need as many points"),
    ],
)
def test_sizes_that_show_no_growth_are_refused(change, words):
    with pytest.raises(ValueError, match=words):
        ArchitectureCostSettings(**TINY | change)
