"""The page of a dataset shows what is stored, for functions of one variable, of two, and for trajectories."""

import base64
import json
import re
import tomllib
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from pages import links
from run_files import save_arrays, whole_card

from resolvent.figures.common.charts import plotly_chart
from resolvent.figures.common.exhibit import Sources
from resolvent.figures.dataset.card import bibtex
from resolvent.figures.dataset.gallery import GALLERY, colours_of
from resolvent.figures.dataset.page import READERS, write_dataset_page
from resolvent.figures.dataset.preview import DatasetPreview
from resolvent.figures.dataset.statistics import HISTOGRAMS, SPECTRA
from resolvent.planning.places import HOME

TIMES = [0.0, 0.1, 0.3]
KINDS = {
    "curve": ({"kind": "periodic", "points": 16, "length": 1.0, "dimension": 1}, ["x"]),
    "field": ({"kind": "nodes", "points": 16, "length": 1.0, "dimension": 2}, ["y", "x"]),
    "trajectory": ({"kind": "explicit", "positions": TIMES}, ["time"]),
}


ONE_KIND = pytest.mark.parametrize("dataset", ["curve"], indirect=True)  # for what is alike for all


def error_facts(samples, median, largest, **more):
    errors = {"median_relative_l2": median, "largest_relative_l2": largest}
    return {"samples": samples, "of": 1003, **errors, **more}


@pytest.fixture(params=KINDS)
def dataset(request, tmp_path):
    """Card and preview of a small dataset of each kind."""
    grid, dims = KINDS[request.param]
    shape = (3,) + (len(TIMES) if dims == ["time"] else 16,) * len(dims)
    generator = np.random.default_rng(0)
    variable = {"units": "1", "dimensions": ["sample", *dims]}
    variables = {"a": {**variable, "long_name": "coefficient"}, "p": {**variable, "long_name": "pressure"}}
    card = whole_card({
        "dataset": f"a_{request.param}", "settings": {"equation": "darcy"}, "solver": {"method": "ours"},
        "equation": {
            "in_words": "flow <through> a medium", "in_symbols": "-∇·(a∇p) = 1", "operator": "a ↦ p",
            "source": "Cao 2021 (arXiv:2105.14995)",
        },
        "distribution_of_the_input": {"in_symbols": "N(0, C)", "source": "public code"},
        "inputs": ["a"], "targets": ["p"], "samples": {"train": 1000, "test": 3},
        "groups": {"first": {"grid": grid, "variables": variables}},
        "stated_accuracy": 1e-9,
        "error_budget": {
            "solved_on": "n16",
            "against_direct_solve": error_facts(3, 2e-11, 3.3e-11),
            "discretisation_error": error_facts(2, 1e-3, 4.4e-3),
            "rounding_to_float32": 6e-8,
        },
    })  # fmt: skip
    content = {"samples": np.array(["test 0", "test 1", "test 2"])}
    for role, name in (("input", "a"), ("target", "p")):
        values = generator.normal(size=shape)
        content[f"{role}/{name}"] = values
        content[f"dims/{name}"] = np.array(dims)
        for dim in dims:
            content[f"axis/{name}/{dim}"] = np.array(TIMES) if dim == "time" else np.arange(16) / 16
        content[f"histogram/{name}/counts"], content[f"histogram/{name}/edges"] = np.histogram(values, 10)
        if dims != ["time"]:
            content[f"spectrum/{name}/axis"] = np.array("wavenumber")
            content[f"spectrum/{name}/wavenumber"] = np.arange(8)
            for word, factor in (("low", 0.5), ("median", 1.0), ("high", 2.0)):
                content[f"spectrum/{name}/{word}"] = factor * np.exp(-np.arange(8.0))
    (tmp_path / "card.json").write_text(json.dumps(card))
    save_arrays(tmp_path / "preview.npz", **content)
    return tmp_path / "card.json", tmp_path / "preview.npz"


def words_of(axes_or_figure) -> str:
    texts = axes_or_figure.findobj(lambda artist: hasattr(artist, "get_text"))
    return " | ".join(text.get_text() for text in texts)


def edited(dataset, key, **more) -> None:
    """Write more into a part of the card."""
    card = json.loads(dataset[0].read_text())
    card[key] = card.get(key, {}) | more
    dataset[0].write_text(json.dumps(card))


def drawn(exhibit, dataset):
    """The figure of an exhibit."""
    return Sources(READERS, card_file=dataset[0], preview_file=dataset[1]).call(exhibit.draw)


def test_the_gallery_and_its_chart_show_every_sample_of_every_variable(dataset):
    figure, shown = drawn(GALLERY, dataset), DatasetPreview(*dataset)
    for label in ("test 0", "test 1", "test 2", "input: coefficient", "target: pressure"):
        assert label in words_of(figure)
    if on_plane := shown.variables[0].dims == ("y", "x"):
        found = [image.get_array() for axes in figure.axes for image in axes.get_images()]
    else:
        found = [line.get_ydata() for axes in figure.axes for line in axes.get_lines()]
    for one in np.concatenate([variable.samples for variable in shown.variables]):
        assert any(np.array_equal(one, other) for other in found)
    chart = plotly_chart(GALLERY.chart(shown))
    assert [trace["visible"] for trace in chart["data"]] == [True] * 2 + [False] * 4
    steps = chart["layout"]["sliders"][0]["steps"]
    assert [step["label"] for step in steps] == shown.samples
    assert steps[2]["args"][0]["visible"] == [False] * 4 + [True] * 2
    trace = chart["data"][3]["z" if on_plane else "y"]  # the target of the second sample
    values = np.frombuffer(base64.b64decode(trace["bdata"]), trace["dtype"])
    np.testing.assert_allclose(values, shown.functions[1].samples[1].ravel(), rtol=1e-6)


def test_spectra_or_their_absence_and_shares_of_all_values_are_drawn(dataset):
    figure, shown = drawn(SPECTRA, dataset), DatasetPreview(*dataset)
    if shown.variables[0].dims == ("time",):
        assert "not equally spaced" in words_of(figure)
    else:
        (panel,) = figure.axes
        assert panel.get_xlabel() == "wavenumber"
        np.testing.assert_allclose(panel.get_lines()[0].get_ydata(), np.exp(-np.arange(1.0, 8)))
    histograms = [panel for panel in drawn(HISTOGRAMS, dataset).axes if panel.patches]
    assert [panel.patches[0].get_data().values.sum() for panel in histograms] == pytest.approx([1, 1])


def write_page(dataset, folder, **changes) -> str:
    content = {
        "card": dataset[0], "preview": dataset[1], "store": "s3://bucket/card.zarr", "size": 2_345_678,
        "sources": {"motion_file": None, "film_caption": "A <film>.", "shows_flux": False},
        "used_by": [
            {"name": "heat", "title": "Heat", "models": 1, "tested_only": False},
            {"name": "other", "title": "Another", "models": 2, "tested_only": True},
        ],
        "croissant": folder / "page.croissant.json", "root": folder.parent,
        "command": "snakemake --cores 2 --configfile my.yaml own.yaml --rerun-triggers mtime",
        "provenance": {"git revision": "abc1234"},
    }  # fmt: skip
    write_dataset_page(folder / "page.html", **content | changes)
    return (folder / "page.html").read_text()


@ONE_KIND
@pytest.mark.every_format
def test_the_page_links_to_what_belongs_to_it_and_says_how_to_make_and_open_the_dataset(dataset, tmp_path):
    edited(dataset, "error_budget", against_refined_run=error_facts(1003, 1e-11, 2e-11, of=1003))
    edited(dataset, "error_budget", against_cole_hopf=error_facts(8, 1e-11, 2e-11, of=1003))
    page = write_page(dataset, tmp_path)
    drawn = [f"dataset_{name}" for name in ("gallery", "spectra", "histograms")]
    figures = {f"a_curve/{name}.{suffix}" for name in drawn for suffix in ("svg", "pdf", "png")}
    experiments = {"../heat/report.html", "../other/report.html"}
    assert links(page) == figures | experiments | {"page.croissant.json"}
    assert 'href="../index.html#datasets"' in page
    assert page.count("data:image/svg+xml") == 3
    assert page.count('<script type="application/json">') == 1  # the chart of the gallery
    for expected in (
        "Flow &lt;through&gt; a medium", "1,000 train", "2.35 MB on disk", "s3://bucket/card.zarr", "abc1234",
        "--configfile my.yaml own.yaml -R solve_a_curve</pre>", "a (sample,",
        "1 model trained on this dataset",
        "its models are tested on this dataset", "<dd>public code</dd>",
        "@inproceedings{cao2021choose", "@software{resolvent",
    ):  # fmt: skip
        assert expected in page
    assert "calvello2024" not in page
    assert "<video" not in page
    head = page.partition('<section id="equation">')[0]  # says how wrong the labels are
    for expected in ("Stated accuracy 1 × 10⁻⁹", "3.3 × 10⁻¹¹", "1.0 × 10⁻³", "4.4 × 10⁻³"):
        assert expected in head
    table = re.search(r"<table>.*?</table>", page, re.DOTALL)[0]
    rows = re.findall(r'<th scope="rowgroup">(.*?)</th>\n(.*?)</tbody>', table, re.DOTALL)
    assert {check: re.findall(r'class="number">(.*?)<', row) for check, row in rows} == {
        "Against direct solve": ["3.3 × 10⁻¹¹", "2.0 × 10⁻¹¹", "3 of 1,003"],
        "Discretisation error": ["4.4 × 10⁻³", "1.0 × 10⁻³", "2 of 1,003"],
        "Against refined run": ["2.0 × 10⁻¹¹", "1.0 × 10⁻¹¹", "all 1,003"],
        "Against Cole-Hopf": ["2.0 × 10⁻¹¹", "1.0 × 10⁻¹¹", "8 of 1,003"],
    }
    assert all(len(re.search(r'class="muted">(.*?)<', row)[1]) > 40 for _, row in rows)  # a sentence


@ONE_KIND
def test_a_page_of_imported_data_says_what_was_found_first_and_has_mathematics_and_a_film(dataset, tmp_path):
    summary = "imported; labels off by 3.1e-16 in the median, 0.0e+00 at best"
    source = "Li et al. (2021, arXiv:2010.08895)"
    words = ["Another time fits."]
    edited(dataset, "imported", summary=summary, tolerance=1e-3, warnings=words, files=[], source=source)
    tried = {"median_relative_l2": 2e-7, "samples": 8}
    edited(dataset, "error_budget", by_convention={"on_nodes": tried, "in_cells": tried | {"samples": 3}})
    latex = r"\frac{du}{dt} = \nu < 1, \quad u(0) = 1"
    edited(dataset, "equation", in_latex=latex, operator_in_latex=r"a \mapsto p")
    motion = {"kind": "curve", "times": np.arange(3.0), "values": np.eye(3, 8), "coordinates": np.arange(8.0)}
    save_arrays(tmp_path / "motion.npz", names=np.array(["u"]), **motion)
    sources = {"motion_file": tmp_path / "motion.npz", "film_caption": "It <moves>.", "shows_flux": False}
    page = write_page(dataset, tmp_path, sources=sources)
    said = (
        "<h1>",
        "Imported; labels off by 3.1 × 10⁻¹⁶ in the median, 0 at",
        "Another time fits.",
        "Flow &lt;",
    )
    order = [page.index(words) for words in said]
    assert order == sorted(order)
    assert "Stated accuracy" not in page
    heads = re.findall(r"<th scope=.col.[^>]*>(.*?)</th>", page)
    assert heads[heads.index("median relative L²") + 1] == "samples"
    assert '<th scope="row">in cells</th><td class="number">2 × 10⁻⁷</td><td class="number">3</td>' in page
    assert "@inproceedings{li2021fourier" in page
    found = re.findall(r"<math .*?</math>", page, re.DOTALL)
    assert len(found) == 3  # two equations of the system, and the operator
    assert "<mfrac><mrow><mi>d</mi><mi>u</mi></mrow>" in found[0]
    assert "&amp;#" not in page
    for one in found:
        ElementTree.fromstring(one)
    video = re.search(r"<video ([^>]*)>", page)[1]
    assert "autoplay" not in video
    assert {"controls", "muted", "loop", "playsinline", 'poster="a_curve/film.png"'} <= set(video.split())
    assert 'aria-describedby="film-explanation"' in video
    assert '<p class="explanation" id="film-explanation">It &lt;moves&gt;. Four seconds; ' in page
    assert '<source src="a_curve/film.mp4" type="video/mp4">' in page


def test_the_citation_of_resolvent_is_that_of_its_citation_file():
    stated = yaml.safe_load((HOME / "CITATION.cff").read_text())
    assert stated["version"] == tomllib.loads((HOME / "pyproject.toml").read_text())["project"]["version"]
    release = f"## {stated['version']} ({stated['date-released']})"
    assert release in re.findall("^## .*", (HOME / "CHANGELOG.md").read_text(), re.MULTILINE)[:2]
    entry = bibtex({"equation": {"source": "ours"}})
    assert entry.startswith("@software{resolvent")
    for value in (stated["title"], stated["version"], stated["license"], stated["authors"][0]["name"]):
        assert value in entry


def test_a_source_at_one_point_is_visible():
    """Fewer than 0.2 % of the values differ from zero: the quantile that bounds the colours is zero too."""
    field = np.zeros((4, 64, 64))
    field[:, 30, 30] = 2.0
    assert colours_of(field) == {"cmap": "viridis", "vmin": 0.0, "vmax": 2.0}
    field[:, 3, 3] = -3.0
    assert colours_of(field) == {"cmap": "RdBu_r", "vmin": -3.0, "vmax": 3.0}
