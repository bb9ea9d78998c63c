"""The page of a dataset shows what is stored, for functions of one variable, of two, and for trajectories."""

import json

import numpy as np
import pytest
from pages import links

from resolvent.figures.common.errors import ResultError
from resolvent.figures.dataset.error_budget import draw_error_budget
from resolvent.figures.dataset.gallery import draw_dataset_gallery
from resolvent.figures.dataset.histograms import draw_dataset_histograms
from resolvent.figures.dataset.page import write_dataset_page
from resolvent.figures.dataset.preview import DatasetPreview
from resolvent.figures.dataset.spectra import draw_dataset_spectra

TIMES = [0.0, 0.1, 0.3]
KINDS = {
    "curve": ({"kind": "periodic", "points": 16, "length": 1.0, "dimension": 1}, ["x"]),
    "field": ({"kind": "nodes", "points": 16, "length": 1.0, "dimension": 2}, ["y", "x"]),
    "trajectory": ({"kind": "explicit", "positions": TIMES}, ["time"]),
}


def error_facts(samples, median, largest):
    return {"samples": samples, "median_relative_l2": median, "largest_relative_l2": largest}


@pytest.fixture(params=KINDS)
def dataset(request, tmp_path):
    """Card and preview of a small dataset of each kind."""
    grid, dims = KINDS[request.param]
    size = len(TIMES) if dims == ["time"] else 16
    shape = (3,) + (size,) * len(dims)
    generator = np.random.default_rng(0)
    variable = {"units": "1", "dimensions": ["sample", *dims]}
    card = {
        "dataset": f"a_{request.param}",
        "equation": {
            "in_words": "flow <through> a medium",
            "in_symbols": "-∇·(a∇p) = 1",
            "operator": "a ↦ p",
            "source": "Cao 2021",
        },
        "inputs": ["a"],
        "targets": ["p"],
        "samples": {"train": 1000, "test": 3},
        "groups": {
            "first": {
                "grid": grid,
                "variables": {
                    "a": {**variable, "long_name": "coefficient"},
                    "p": {**variable, "long_name": "pressure"},
                },
            }
        },
        "stated_accuracy": 1e-9,
        "error_budget": {
            "solved_on": "n16",
            "against_direct_solve": error_facts(3, 2e-11, 3.3e-11),
            "discretisation_error": error_facts(2, 1e-3, 4.4e-3),
            "rounding_to_float32": 6e-8,
        },
    }  # fmt: skip
    content = {"samples": np.array(["test 0", "test 1", "test 2"])}
    for role, name in (("input", "a"), ("target", "p")):
        values = generator.normal(size=shape)
        content[f"{role}/{name}"] = values
        content[f"dims/{name}"] = np.array(dims)
        content |= {
            f"axis/{name}/{dim}": np.array(TIMES) if dim == "time" else np.arange(16) / 16 for dim in dims
        }
        content[f"histogram/{name}/counts"], content[f"histogram/{name}/edges"] = np.histogram(values, 10)
        if dims != ["time"]:
            content[f"spectrum/{name}/axis"] = np.array("wavenumber")
            content[f"spectrum/{name}/wavenumber"] = np.arange(8)
            for word, factor in (("low", 0.5), ("median", 1.0), ("high", 2.0)):
                content[f"spectrum/{name}/{word}"] = factor * np.exp(-np.arange(8.0))
    (tmp_path / "card.json").write_text(json.dumps(card))
    np.savez(tmp_path / "preview.npz", **content)
    return tmp_path / "card.json", tmp_path / "preview.npz"


def words_of(axes_or_figure) -> str:
    texts = axes_or_figure.findobj(lambda artist: hasattr(artist, "get_text"))
    return " | ".join(text.get_text() for text in texts)


def drawn(monkeypatch, draw, *arguments):
    """The figure that `draw` would save."""
    kept = []
    monkeypatch.setattr(f"{draw.__module__}.save", lambda figure, output: kept.append(figure))
    draw(*arguments)
    return kept[0]


def test_the_gallery_shows_every_sample_of_every_variable(dataset, tmp_path, monkeypatch):
    figure = drawn(monkeypatch, draw_dataset_gallery, *dataset, tmp_path / "gallery.svg")
    shown = DatasetPreview(*dataset)
    for label in ("test 0", "test 1", "test 2", "input: coefficient", "target: pressure"):
        assert label in words_of(figure)
    if shown.variables[0].dims == ("y", "x"):
        images = [image for axes in figure.axes for image in axes.get_images() if axes.get_xlabel() == ""]
        arrays = [np.asarray(image.get_array()) for image in images]
        for field in np.concatenate([shown.variables[0].samples, shown.variables[1].samples]):
            assert any(array.shape == field.shape and np.array_equal(array, field) for array in arrays)
    else:
        lines = [line.get_ydata() for axes in figure.axes for line in axes.get_lines()]
        assert len(lines) == 6


def test_the_error_budget_shows_each_check_and_the_promise(dataset, tmp_path, monkeypatch):
    words = words_of(drawn(monkeypatch, draw_error_budget, dataset[0], tmp_path / "budget.svg"))
    for expected in (
        "against direct solve (3 samples)", "3.3e-11", "discretisation error (2 samples)", "4.4e-03",
        "stated accuracy 1e-09", "rounding to float32 6e-08",
    ):  # fmt: skip
        assert expected in words


def test_the_error_budget_says_of_how_many_of_all_samples_a_check_is(dataset, tmp_path, monkeypatch):
    card = json.loads(dataset[0].read_text())
    card["error_budget"]["against_direct_solve"] |= {"of": 1003}
    card["error_budget"]["against_refined_run"] = error_facts(1003, 1e-11, 2e-11) | {"of": 1003}
    dataset[0].write_text(json.dumps(card))
    words = words_of(drawn(monkeypatch, draw_error_budget, dataset[0], tmp_path / "budget.svg"))
    assert "against direct solve (3 of 1,003 samples)" in words
    assert "against refined run (all 1,003 samples)" in words


def test_spectra_are_drawn_or_their_absence_is_reported(dataset, tmp_path, monkeypatch):
    figure = drawn(monkeypatch, draw_dataset_spectra, *dataset, tmp_path / "spectra.svg")
    if DatasetPreview(*dataset).variables[0].dims == ("time",):
        assert "not equally spaced" in words_of(figure)
    else:
        (panel,) = figure.axes
        assert panel.get_xlabel() == "wavenumber"
        np.testing.assert_allclose(panel.get_lines()[0].get_ydata(), np.exp(-np.arange(1.0, 8)))


def test_histograms_share_out_all_values(dataset, tmp_path, monkeypatch):
    figure = drawn(monkeypatch, draw_dataset_histograms, *dataset, tmp_path / "histograms.svg")
    for panel in figure.axes:
        assert panel.patches[0].get_data().values.sum() == pytest.approx(1)


def test_the_page_loads_nothing_and_says_how_to_make_and_open_the_dataset(dataset, tmp_path):
    files = [
        draw_dataset_gallery(*dataset, tmp_path / "dataset_gallery.svg")[0],
        draw_error_budget(dataset[0], tmp_path / "error_budget.svg")[0],
    ]
    write_dataset_page(
        tmp_path / "page.html",
        card=dataset[0],
        store="s3://bucket/card.zarr",
        preview=dataset[1],
        figures=[(file, file.stem, "A caption.") for file in files],
        command="snakemake --cores 2",
        provenance={"git revision": "abc1234"},
        root=tmp_path.parent,
    )
    page = (tmp_path / "page.html").read_text()
    assert links(page) == {
        file.with_suffix(suffix).name for file in files for suffix in (".svg", ".png", ".pdf")
    }
    assert 'href="../index.html#datasets"' in page
    assert page.count("data:image/svg+xml") == 2
    name = json.loads(dataset[0].read_text())["dataset"]
    for expected in (
        "Flow &lt;through&gt; a medium", "1,000 train", "1e-09", f"-R solve_{name}", "s3://bucket/card.zarr",
        "card.json --cores", "abc1234",
        "a (sample,", "0.0044",
    ):  # fmt: skip
        assert expected in page


def test_a_card_without_measured_errors_is_refused(tmp_path):
    (tmp_path / "card.json").write_text(json.dumps({"error_budget": {"solved_on": "n16"}}))
    with pytest.raises(ResultError, match="no measured error"):
        draw_error_budget(tmp_path / "card.json", tmp_path / "budget.svg")
