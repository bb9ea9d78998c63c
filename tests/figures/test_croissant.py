"""Metadata of datasets are valid under the reference implementation of the Croissant format."""

import hashlib
import json
import os
import re

import pytest
from dataset_fixtures import make_dataset, small

from resolvent.figures.dataset.croissant import write_croissant


@pytest.fixture(scope="module", params=["burgers", "darcy_inverse", "lorenz63"])
def written(request, tmp_path_factory):
    """Return the card of a small dataset, and the file with its metadata in another folder."""
    folder = tmp_path_factory.mktemp("study")
    card = make_dataset(folder / "data", small(request.param))
    (folder / "results/datasets").mkdir(parents=True)
    output = folder / f"results/datasets/{request.param}.croissant.json"
    write_croissant(
        output,
        card=card,
        store=str(card.with_suffix(".zarr")),
        page=f"{request.param}.html",
        date="2026-11-23",
    )
    return card, output


def test_the_reference_implementation_finds_nothing_to_remark(written, caplog):
    import mlcroissant

    card, output = written
    dataset = mlcroissant.Dataset(jsonld=output)
    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    assert not issues.warnings
    assert "not standard" not in caplog.text
    facts = json.loads(card.read_text())
    assert {one.name for one in dataset.metadata.record_sets} == set(facts["groups"])
    assert dataset.metadata.name == card.parent.name


def test_fields_have_the_shapes_of_what_is_stored(written):
    import xarray

    card, output = written
    content = json.loads(output.read_text())
    tree = xarray.open_datatree(card.with_suffix(".zarr"), engine="zarr", consolidated=False)
    compared = 0
    for records in content["recordSet"]:
        for field in records["field"]:
            group, _, name = field["name"].partition("/")
            if name == "split":
                continue
            stored = tree[group][name]
            assert field["dataType"] == {"float32": "cr:Float32", "float64": "cr:Float64"}[str(stored.dtype)]
            shape = field.get("arrayShape", "")
            assert tuple(map(int, filter(None, shape.split(",")))) == stored.shape[1:]
            compared += 1
    assert compared >= 3


def test_files_are_found_from_where_the_metadata_lie(written):
    card, output = written
    first, store = json.loads(output.read_text())["distribution"]
    assert os.path.samefile(output.parent / first["contentUrl"], card)
    assert first["sha256"] == hashlib.sha256(card.read_bytes()).hexdigest()
    assert any(output.parent.glob(store["includes"].replace("/**", "/zarr.json")))


def test_the_description_says_how_wrong_the_data_are(written):
    card, output = written
    accuracy = json.loads(card.read_text())["stated_accuracy"]
    words = json.loads(output.read_text())["rai:dataLimitations"]
    mantissa, exponent = re.search(r"error: (\S+) × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+);", words).groups()
    raised = int(exponent.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
    assert float(mantissa) * 10**raised == pytest.approx(accuracy)
