"""The paper's formulas give its numbers, and counting without computing gives those of computing."""

import pytest
import torch

from resolvent.measurements import architecture_costs as measuring
from resolvent.measurements.architecture_costs import architecture_costs, counted_costs
from resolvent.measurements.architecture_formulas import MEASURED, cases
from resolvent.measurements.settings import ArchitectureCostSettings
from resolvent.models.build import build, parameter_counts
from resolvent.training.operations import forward_operations

PAPER = ArchitectureCostSettings()
TINY = {
    "points": [16, 32], "widths": [8, 16], "modes": 4, "fano_modes": 3, "patches": 4, "smoother_modes": 4,
    "timed_flop": 1.5e7, "rounds": 1,
}  # fmt: skip
ENCODER = {"width": 128, "num_layers": 6, "num_heads": 8, "feedforward_width": 128}
PATCHED = ENCODER | {"patches": 13, "smoother": "learned", "smoother_modes": 64}
SETTINGS = {
    "fno": {"width": 128, "modes": 12, "num_layers": 4},
    "afno": {"points": 64, "width": 128, "num_layers": 4, "num_blocks": 8, "feedforward_width": 512},
    "tno": ENCODER | {"quadrature": "none"},
    "vit_no": PATCHED | {"modes": 12},
    "fano": PATCHED | {"modes": 9},
    "galerkin_encoder": ENCODER | {"num_heads": 4},
}
# Of an encoder: four maps of attention, two of the feed-forward and two norms a layer, less Table 4's 2d.
BIASES_AND_NORMS = 6 * (4 + 2 + 4 - 2) * 128
LEFT_OUT = {  # a spectral lifting has no bias, nor have spectral Q, K, V; two corner blocks of the smoother
    "tno": BIASES_AND_NORMS + 128 + 1,
    "vit_no": BIASES_AND_NORMS + 1 + 2 * 64**2,
    "fano": BIASES_AND_NORMS + 128 + 1 - 6 * 3 * 128 + 2 * 64**2,
}


@pytest.fixture(autouse=True)
def same_threads():
    """Timings are on one."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def test_what_is_counted_has_the_papers_settings():
    assert {name: one.case(PAPER, 128, 64).settings for name, one in MEASURED.items()} == SETTINGS


@pytest.mark.parametrize(("name", "printed"), [("tno", 5.98e5), ("fno", 5.70e6), ("afno", 1.10e6)])
def test_the_formulas_of_table_4_give_table_1_but_for_biases(name, printed):
    found = MEASURED[name].case(PAPER, 128, 64).parameters
    assert 0.98 * printed < found < printed


@pytest.mark.parametrize("name", LEFT_OUT)
def test_parameters_are_the_formulas_and_what_the_paper_leaves_out(name):
    case = MEASURED[name].case(PAPER, 128, 416)
    with torch.device("meta"):
        operator = build(MEASURED[name].architecture, case.settings, seed=0)
    assert parameter_counts(operator)[0] == case.parameters + LEFT_OUT[name]


def test_operations_by_hand_at_sizes_whose_logarithms_are_whole():
    """d = 2, N = 16², P = 4² patches of 4² points, k = 2·2² on patches and 2·2 without, k' = 32, b = 8."""
    settings = ArchitectureCostSettings(**TINY | {"modes": 2, "fano_modes": 2})
    layer = 6 * (12 * 4 * 256 + 2 * 2 * 256 * 16)
    per_layer = 3 * 8 * 16 * (2 * 4 - 2) + 2 * 256 * 4 + 2 * 2 * 256 * 16 + 4 * 256 * 4
    final, outside = 15 * 256 * 4, 2 * 256 * (3 + 1) * 2
    expected = {
        "vit_no": (16 * 8 * 2 * 5 + 2 * 256 * 2 + layer + 32, 5 * 15 * 256 * 2 / 2 + final),
        "fano": (outside + 6 * per_layer + 32, 6 * 45 * 2 * 256 * 2 + final),
        "fno": (2 * 256 * (3 + 4 + 1) * 128 + 4 * (4 * 6 + 2 * 256 * 4), 4 * 15 * 2 * 256 * 4),
        "afno": (outside + 4 * (2 * 256 * 4 / 8 + 16 * 256 * 4), 4 * 15 * 2 * 256 * 4),
    }
    for name, numbers in expected.items():
        case = MEASURED[name].case(settings, 2, 16)
        assert (case.products, case.transforms) == numbers, name


def test_the_transformer_at_the_papers_size_has_nearly_twice_its_formulas_operations():
    """QKᵀ and AV are two products of N² d multiplications, of which Table 5 has one."""
    formula = MEASURED["tno"].case(PAPER, 128, 64).products
    assert formula == pytest.approx(30.6e9, rel=1e-3)
    _, _, counted = counted_costs("tno2d", {"quadrature": "none"}, 64)
    assert counted - formula == 6 * 2 * 4096**2 * 128


@pytest.mark.parametrize("name", MEASURED)
def test_counting_without_computing_is_counting(name):
    architecture = MEASURED[name].architecture
    model = MEASURED[name].case(ArchitectureCostSettings(**TINY), 16, 16).settings
    once, twice, flop = counted_costs(architecture, model, 16)
    operator = build(architecture, model, seed=0)
    axis = torch.linspace(0, 1, 16)
    x = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=-1)
    assert flop == forward_operations(operator, torch.ones(1, 16, 16, 1), x)
    assert twice == sum(parameter.numel() for parameter in operator.parameters())
    assert (once < twice) == (name in ("fno", "vit_no", "fano"))


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
        ({"modes": 20}, "modes is 20, more than the 16 points"),
    ],
)
def test_sizes_that_show_no_growth_are_refused(change, words):
    with pytest.raises(ValueError, match=words):
        ArchitectureCostSettings(**TINY | change)
