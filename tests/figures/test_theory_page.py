"""The figures and the page of the theory show the numbers of their tables, and load nothing."""

import re

import pandas as pd
import pytest
from pages import links

from resolvent.common.errors import FileError
from resolvent.common.runs import save_table
from resolvent.figures.common.exhibit import SUFFIXES, Sources
from resolvent.figures.theory.page import EXHIBITS, write_theory_page
from resolvent.measurements.settings import TheorySettings

NODES = {"even": 0.0, "two_rates": 0.25, "random": 0.0, "random_denser": 0.37, "random_without_ends": 0.0}
OPERATORS = [  # architecture, variant, dimension, claim, fitted order, theory
    ("tno1d", None, 1, True, 1.98, 2.0),
    ("neuraloperator2d", "FNO", 2, True, 1.01, 1.0),
    ("neuraloperator2d", "CODANO", 2, False, 0.61, None),
]

ATTENTIONS = {"galerkin": 1, "linear": 1, "fourier_linear": 1, "fourier_quadratic": 2, "softmax": 2}
RULES = {  # quantity, fitted, theory, error
    "periodic": ("rate", 0.523, 0.5, lambda n: 0.5**n),
    "left_rectangle": ("order", 1.003, 1.0, lambda n: 1 / n),
    "trapezoid": ("order", 1.994, 2.0, lambda n: n**-2),
}
COMPARED = ("galerkin", "fourier", "softmax", "linear")
SPACES = {"fourier": (1.0, 1.0), "legendre_fourier": (0.5, 0.625), "random": (0.4, 0.7), "noise": (0.1, 0.2)}
DISTANCES = {
    "orthonormal": 1.5e-15, "dual_keys": 2e-15, "unit_columns": 2.0, "layer_norm": 4.5, "as_drawn": 6.0
}  # fmt: skip


def table(columns, rows):
    return pd.DataFrame(list(rows), columns=columns.split())


TABLES = {
    "projection": table(
        "basis points distance distance_rescaled",
        ((basis, n, one, one / 2) for basis, one in DISTANCES.items() for n in (32, 64)),
    ),
    "quasi_optimality": table(
        "spaces points inf_sup error bound ratio reproduction misfit least_misfit",
        ((spaces, n, c, 0.1, 0.1 / ratio, ratio, 3e-15, 0.2, 0.25)
         for spaces, (c, ratio) in SPACES.items() for n in (32, 64)),
    ),
    "cost": table(
        "attention points flops seconds repetitions device",
        ((attention, n, 100 * n**power, 1e-6 * n**power, 3, "A <fast> processor")
         for attention, power in ATTENTIONS.items() for n in (32, 64)),
    ),
    "cost_orders": table(
        "attention quantity fitted theory fitted_from",
        ((attention, quantity, power + shift, power, 32)
         for attention, power in ATTENTIONS.items()
         for quantity, shift in (("flops", 0.0), ("seconds", 0.07))),
    ),
    "convergence": table(
        "attention rule points error",
        ((attention, rule, n, error(n))
         for attention in COMPARED for rule, (*_, error) in RULES.items() for n in (16, 32)),
    ),
    "convergence_orders": table(
        "attention rule quantity fitted theory",
        ((attention, rule, quantity, None if (attention, rule) == ("linear", "periodic") else fitted, theory)
         for attention in COMPARED for rule, (quantity, fitted, theory, _) in RULES.items()),
    ),
    "monte_carlo": table(
        "attention function points error low high deviation predicted",
        ((attention, c, n, c * n**-0.5, 0.5 * c * n**-0.5, 2 * c * n**-0.5, 1.07 * n**-0.5, n**-0.5)
         for attention in ("self", "cross") for c in (0.5, 1.5) for n in (16, 64)),
    ),
    "quadratures": table(
        "nodes weights points error gap",
        ((nodes, weights, n, gap + 1 / n, gap if weights == "equal" else 0.0)
         for nodes, gap in NODES.items() for weights in ("trapezoid", "equal") for n in (16, 32)),
    ),
    "averages": table(
        "dimension nodes points error rounding",
        ((dimension, nodes, n, 1 / n, 4e-16)
         for dimension in (1, 2) for nodes in ("trapezoid", "monte_carlo") for n in (16, 36)),
    ),
    "invariance": table(
        "architecture variant dimension claims points error",
        [*((*operator, n, 0.7 / n) for *operator, _, _ in OPERATORS for n in (16, 32)),
         ("afno", None, 2, False, None, None)],
    ),
    "continuum_orders": table(
        "measurement case fitted theory",
        [("monte_carlo", "self", 0.487, 0.5), ("monte_carlo", "cross", 0.513, 0.5),
         *(("trapezoid", nodes, 1.96, 2.0) for nodes in NODES),
         *(("equal", nodes, 0.58, 0.5) for nodes in NODES),
         *(("average", f"{nodes}_{dimension}d", 0.93, 1.0)
           for nodes in ("trapezoid", "monte_carlo") for dimension in (1, 2)),
         *(("invariance", f"{architecture} {variant or ''}".strip(), *fit)
           for architecture, variant, _, _, *fit in OPERATORS)],
    ),
}  # fmt: skip
SETTINGS = {key: [16, 32] for key in TheorySettings.model_fields}


def write_page(folder):
    write_theory_page(
        folder / "theory.html", folder=folder / "theory", settings=SETTINGS, command="snakemake theory.html",
        provenance={"git revision": "abc1234"}, root=folder,
    )  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the text of the page, whose figures are written in every format."""
    folder = tmp_path_factory.mktemp("theory")
    (folder / "theory").mkdir()
    for name, one in TABLES.items():
        save_table(one, folder / f"theory/{name}.csv")
    write_page(folder)
    for ending in SUFFIXES["figure"]:
        assert {file.stem for file in (folder / "theory").glob(f"*{ending}")} == set(EXHIBITS)
    return (folder / "theory.html").read_text()


def shown(name):
    """The figure of an exhibit."""
    return Sources({}, **TABLES).call(EXHIBITS[f"theory_{name}"].draw)


def words_of(figure) -> str:
    return " | ".join(text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")))


def drawn(panel, axis):
    return {round(float(value), 12) for line in panel.get_lines() for value in line.get_data()[axis]}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("convergence", ("ρ fitted (theory 0.50)", "order fitted (theory 2.00)", "Galerkin  1.99",
                         "linear  —")),
        ("cost", ("softmax  $n^{2.00}$", "softmax  $n^{2.07}$", "Fourier as Q(KᵀV)  $n^{1.07}$")),
        ("monte_carlo", ("order 0.49 (theory 0.5)", "order 0.51 (theory 0.5)",
                         "trapezoid, [0, 1]²  0.93 (1)")),
        ("quadratures", ("two rates  0.58 (0.5), gap 0.25",)),
        ("invariance", ("tno1d  1.98 (2)", "neuraloperator2d FNO  1.01 (1)")),
    ],
)  # fmt: skip
def test_fitted_orders_are_printed_beside_the_theory(name, words):
    found = words_of(shown(name))
    assert all(one in found for one in words)
    assert "CODANO" not in found  # which claims no invariance


def test_distances_bounds_predictions_and_gaps_are_drawn():
    left, middle, right = shown("projection").axes
    assert drawn(left, 0) >= {round(one, 12) for one in TABLES["projection"]["distance"]}
    assert drawn(middle, 0) >= {round(one, 12) for one in TABLES["quasi_optimality"]["bound"]}
    assert drawn(right, 1) == {1.0, 0.5, 0.4, 0.1}
    of_worst_function = {round(c * n**-0.5, 12) for c in (1.0, 1.07, 1.5) for n in (16, 64)}
    assert drawn(shown("monte_carlo").axes[0], 1) == of_worst_function
    flat = [
        {line.get_ydata()[0] for line in panel.get_lines() if len(set(line.get_ydata())) == 1}
        for panel in shown("quadratures").axes
    ]
    assert flat == [set(), {0.25, 0.37}]


def test_every_operator_is_in_the_table_measured_or_not(page):
    rows = [re.findall(r">([^<>]+)</t[hd]>", row) for row in page.split("<tr>")]
    assert ["tno1d", "yes", "4.4 × 10⁻²", "2.2 × 10⁻²", "1.98", "2"] in rows
    assert ["neuraloperator2d CODANO", "no", "4.4 × 10⁻²", "2.2 × 10⁻²", "0.61", "—"] in rows
    assert ["afno", "no", "—", "—", "—", "—"] in rows


def test_the_page_shows_the_tables_and_loads_nothing_from_elsewhere(page):
    assert {link for link in links(page) if not link.endswith(".csv")} == {
        f"theory/{name}{ending}" for name in EXHIBITS for ending in SUFFIXES["figure"]
    }
    assert "n = 16, 32; marks of all grids coincide" in page
    assert page.count("data:image/svg+xml;base64,") == 6
    for words in (
        "<td class=\"number\">1.5 × 10⁻¹⁵</td>", "0.500 to 0.500", "0.625", "3.0 × 10⁻¹⁵", "All 8 cases",
        "<td class=\"number\">—</td>", "is 1.07 to 1.07\ntimes", "4 × 10⁻¹⁶ at most",
        "Median of 3 timings, one thread of A &lt;fast&gt; processor", "snakemake theory.html", "abc1234",
    ):  # fmt: skip
        assert words in page, words


def test_a_missing_table_is_reported_by_name(tmp_path):
    with pytest.raises(FileError, match=r"projection\.csv is missing"):
        write_page(tmp_path)
