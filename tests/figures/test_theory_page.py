"""The figures and the page of the theory show the numbers of their tables, and load nothing."""

import re

import pandas as pd
import pytest
from pages import links

from resolvent.common.errors import FileError
from resolvent.common.runs import save_table
from resolvent.figures.common import style
from resolvent.figures.common.exhibit import Sources
from resolvent.figures.common.results import read_table
from resolvent.figures.theory.page import EXHIBITS, write_theory_page
from resolvent.figures.theory.page import TABLES as COLUMNS

NODES = {"even": 0.0, "two_rates": 0.25, "random": 0.0, "random_denser": 0.37, "random_without_ends": 0.0}
OPERATORS = [  # architecture, variant, dimension, claim, fitted order, theory
    ("tno1d", None, 1, True, 1.98, 2.0),
    ("neuraloperator2d", "FNO", 2, True, 1.01, 1.0),
    ("neuraloperator2d", "CODANO", 2, False, 0.61, None),
]

TABLES = {
    "projection": [
        {"basis": basis, "points": n, "distance": distance, "distance_rescaled": distance / 2}
        for basis, distance in (
            ("orthonormal", 1.5e-15), ("dual_keys", 2e-15), ("unit_columns", 2.0), ("layer_norm", 4.5),
            ("as_drawn", 6.0),
        )
        for n in (32, 64)
    ],
    "quasi_optimality": [
        {"spaces": spaces, "points": n, "inf_sup": c, "error": 0.1, "bound": 0.1 / ratio,
         "ratio": ratio, "reproduction": 3e-15, "misfit": 0.2, "least_misfit": 0.25}
        for spaces, c, ratio in (
            ("fourier", 1.0, 1.0), ("legendre_fourier", 0.5, 0.625), ("random", 0.4, 0.7),
            ("noise", 0.1, 0.2),
        )
        for n in (32, 64)
    ],
    "cost": [
        {"attention": attention, "points": n, "flops": 100 * n**power, "seconds": 1e-6 * n**power,
         "repetitions": 3, "device": "A <fast> processor"}
        for attention, power in (
            ("galerkin", 1), ("linear", 1), ("fourier_linear", 1), ("fourier_quadratic", 2), ("softmax", 2),
        )
        for n in (32, 64)
    ],
    "cost_orders": [
        {"attention": attention, "quantity": quantity, "fitted": power + shift, "theory": power,
         "fitted_from": 32}
        for attention, power in (
            ("galerkin", 1), ("linear", 1), ("fourier_linear", 1), ("fourier_quadratic", 2), ("softmax", 2),
        )
        for quantity, shift in (("flops", 0.0), ("seconds", 0.07))
    ],
    "convergence": [
        {"attention": attention, "rule": rule, "points": n, "error": error(n)}
        for attention in ("galerkin", "fourier", "softmax", "linear")
        for rule, error in (
            ("periodic", lambda n: 0.5**n),
            ("left_rectangle", lambda n: 1 / n),
            ("trapezoid", lambda n: n**-2),
        )
        for n in (16, 32)
    ],
    "convergence_orders": [
        {"attention": attention, "rule": rule, "quantity": quantity, "fitted": fitted, "theory": theory}
        for attention in ("galerkin", "fourier", "softmax", "linear")
        for rule, quantity, fitted, theory in (
            ("periodic", "rate", None if attention == "linear" else 0.523, 0.5),
            ("left_rectangle", "order", 1.003, 1.0),
            ("trapezoid", "order", 1.994, 2.0),
        )
    ],
    "monte_carlo": [
        {"attention": attention, "function": function, "points": n, "error": function * n**-0.5,
         "low": 0.5 * function * n**-0.5, "high": 2 * function * n**-0.5, "deviation": 1.07 * n**-0.5,
         "predicted": n**-0.5}
        for attention in ("self", "cross") for function in (0.5, 1.5) for n in (16, 64)
    ],
    "quadratures": [
        {"nodes": nodes, "weights": weights, "points": n, "error": gap + 1 / n,
         "gap": gap if weights == "equal" else 0.0}
        for nodes, gap in NODES.items() for weights in ("trapezoid", "equal") for n in (16, 32)
    ],
    "averages": [
        {"dimension": dimension, "nodes": nodes, "points": n, "error": 1 / n, "rounding": 4e-16}
        for dimension in (1, 2) for nodes in ("trapezoid", "monte_carlo") for n in (16, 36)
    ],
    "invariance": [
        {"architecture": architecture, "variant": variant, "dimension": dimension, "claims": claims,
         "points": n, "error": 0.7 / n}
        for architecture, variant, dimension, claims, _, _ in OPERATORS for n in (16, 32)
    ] + [{"architecture": "afno", "variant": None, "dimension": 2, "claims": False}],
    "continuum_orders": [
        {"measurement": measurement, "case": case, "fitted": fitted, "theory": theory}
        for measurement, case, fitted, theory in (
            ("monte_carlo", "self", 0.487, 0.5), ("monte_carlo", "cross", 0.513, 0.5),
            *(("trapezoid", nodes, 1.96, 2.0) for nodes in NODES),
            *(("equal", nodes, 0.58, 0.5) for nodes in NODES),
            *(("average", f"{nodes}_{dimension}d", 0.93, 1.0)
              for nodes in ("trapezoid", "monte_carlo") for dimension in (1, 2)),
            *(("invariance", f"{architecture} {variant or ''}".strip(), fitted, theory)
              for architecture, variant, _, _, fitted, theory in OPERATORS),
        )
    ],
}  # fmt: skip


@pytest.fixture
def tables(tmp_path):
    """The path of each table."""
    return write_tables(tmp_path)


def write_tables(folder):
    paths = {name: folder / f"{name}.csv" for name in TABLES}
    for name, path in paths.items():
        save_table(pd.DataFrame(TABLES[name]), path)
    return paths


def read_all(paths) -> Sources:
    return Sources({}, **{name: read_table(path, COLUMNS[name]) for name, path in paths.items()})


def shown(tables, name):
    """The figure of an exhibit."""
    return read_all(tables).call(EXHIBITS[f"theory_{name}"].draw)


@pytest.fixture(scope="module")
def page_folder(tmp_path_factory):
    """A folder with the page, its tables and its figures, for all tests that do not look at how."""
    folder = tmp_path_factory.mktemp("theory")
    (folder / "theory").mkdir()
    write_tables(folder / "theory")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(style, "FORMATS", {".svg": style.FORMATS[".svg"]})
        write_page(folder)
    return folder


SETTINGS = {
    name: [16, 32]
    for name in (
        "projection_points", "cost_features", "cost_points", "cost_repetitions", "convergence_points",
        "continuum_points", "continuum_draws", "average_sides", "quadrature_intervals",
        "invariance_points_1d", "invariance_points_2d",
    )
}  # fmt: skip


def write_page(folder):
    write_theory_page(
        folder / "theory.html", folder=folder / "theory", settings=SETTINGS, command="snakemake theory.html",
        provenance={"git revision": "abc1234"}, root=folder,
    )  # fmt: skip


def words_of(figure) -> str:
    return " | ".join(text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")))


def test_each_figure_is_a_file_that_is_always_alike(tables, page_folder, tmp_path):
    for name, exhibit in EXHIBITS.items():
        exhibit.write(read_all(tables), tmp_path / f"{name}.svg")
        again = page_folder / f"theory/{name}.svg"
        assert again.read_bytes() == (tmp_path / f"{name}.svg").read_bytes()


def test_every_distance_and_every_bound_is_drawn(tables):
    figure = shown(tables, "projection")
    left, middle, right = figure.axes
    drawn = {x for line in left.get_lines() for x in line.get_xdata()}
    assert drawn >= {row["distance"] for row in TABLES["projection"]}
    bounds = {x for line in middle.get_lines() for x in line.get_xdata()}
    assert bounds >= {row["bound"] for row in TABLES["quasi_optimality"]}
    constants = {y for line in right.get_lines() for y in line.get_ydata()}
    assert constants == {1.0, 0.5, 0.4, 0.1}


def test_fitted_orders_are_printed_beside_the_theory(tables):
    figure = shown(tables, "convergence")
    for words in ("ρ fitted (theory 0.50)", "order fitted (theory 2.00)", "Galerkin  1.99", "linear  —"):
        assert words in words_of(figure)
    figure = shown(tables, "cost")
    for words in ("softmax  $n^{2.00}$", "softmax  $n^{2.07}$", "Fourier as Q(KᵀV)  $n^{1.07}$"):
        assert words in words_of(figure)


def test_the_worst_function_is_drawn_with_its_prediction(tables):
    figure = shown(tables, "monte_carlo")
    drawn = {round(y, 12) for line in figure.axes[0].get_lines() for y in line.get_ydata()}
    assert drawn == {round(c * n**-0.5, 12) for c in (1.0, 1.07, 1.5) for n in (16, 64)}
    for words in ("order 0.49 (theory 0.5)", "order 0.51 (theory 0.5)", "trapezoid, [0, 1]²  0.93 (1)"):
        assert words in words_of(figure)


def test_gaps_are_drawn_where_equal_weights_leave_one(tables):
    figure = shown(tables, "quadratures")
    left, right = figure.axes
    flat = [
        {line.get_ydata()[0] for line in panel.get_lines() if len(set(line.get_ydata())) == 1}
        for panel in (left, right)
    ]
    assert flat == [set(), {0.25, 0.37}]
    assert "two rates  0.58 (0.5), gap 0.25" in words_of(figure)


def test_operators_that_claim_no_invariance_are_not_drawn(tables):
    figure = shown(tables, "invariance")
    assert "tno1d  1.98 (2)" in words_of(figure)
    assert "neuraloperator2d FNO  1.01 (1)" in words_of(figure)
    assert "CODANO" not in words_of(figure)


def test_every_operator_is_in_the_table_measured_or_not(page_folder):
    page = (page_folder / "theory.html").read_text()
    rows = [re.findall(r">([^<>]+)</t[hd]>", row) for row in page.split("<tr>")]
    assert ["tno1d", "yes", "4.4e-02", "2.2e-02", "1.98", "2"] in rows
    assert ["neuraloperator2d CODANO", "no", "4.4e-02", "2.2e-02", "0.61", "—"] in rows
    assert ["afno", "no", "—", "—", "—", "—"] in rows


def test_the_page_shows_the_tables_and_loads_nothing_from_elsewhere(page_folder):
    page = (page_folder / "theory.html").read_text()
    assert {link for link in links(page) if not link.endswith(".csv")} == {
        f"theory/{name}.svg" for name in EXHIBITS
    }
    assert "n = 16, 32; grids lie on each other" in page
    assert page.count("data:image/svg+xml;base64,") == 6
    for words in (
        "<td class=\"number\">1.5e-15</td>", "0.500 to 0.500", "0.625", "3.0e-15", "2.0e-01", "All 8 cases",
        "<td class=\"number\">0.523</td>", "<td class=\"number\">—</td>", "<td class=\"number\">4.1</td>",
        "1.07 to 1.07", "4e-16", "0.370", "0.401",
        "Median of 3 timings, one thread of A &lt;fast&gt; processor", "snakemake theory.html", "abc1234",
    ):  # fmt: skip
        assert words in page, words


def test_a_missing_table_is_reported_by_name(tables, tmp_path):
    tables["cost"].unlink()
    with pytest.raises(FileError, match=r"cost\.csv is missing"):
        write_theory_page(
            tmp_path / "theory.html",
            folder=tmp_path,
            settings=SETTINGS,
            command="",
            provenance={},
            root=tmp_path,
        )
