"""Metadata of datasets are valid under the reference implementation of the Croissant format."""

import hashlib
import json
import os
import re

import pytest
from dataset_fixtures import made_once

from resolvent.figures.dataset.croissant import responsible, write_croissant


@pytest.fixture(scope="module", params=["burgers", "darcy_inverse", "lorenz63"])
def written(request, tmp_path_factory):
    """Return the card of a small dataset, and the file with its metadata in another folder."""
    folder = tmp_path_factory.mktemp("study")
    card = made_once(tmp_path_factory, request.param)
    (folder / "results/datasets").mkdir(parents=True)
    output = folder / f"results/datasets/{request.param}.croissant.json"
    store = str(card.with_suffix(".zarr"))
    write_croissant(output, card=card, store=store, page=f"{request.param}.html")
    return card, output


def test_the_reference_implementation_finds_nothing_to_remark(written, caplog):
    import mlcroissant

    card, output = written
    metadata = mlcroissant.Dataset(jsonld=output).metadata
    assert not metadata.ctx.issues.errors
    assert not metadata.ctx.issues.warnings
    assert "not standard" not in caplog.text
    assert {one.name for one in metadata.record_sets} == set(json.loads(card.read_text())["groups"])
    assert metadata.name == card.parent.name
    for known in ("data_biases", "data_use_cases", "personal_sensitive_information", "data_social_impact"):
        assert getattr(metadata, known)


def test_it_says_what_is_stored_where_and_how_wrong_it_is(written):
    import xarray

    card, output = written
    content = json.loads(output.read_text())
    first, store = content["distribution"]
    assert os.path.samefile(output.parent / first["contentUrl"], card)
    assert first["sha256"] == hashlib.sha256(card.read_bytes()).hexdigest()
    assert any(output.parent.glob(store["includes"].replace("/**", "/zarr.json")))
    tree = xarray.open_datatree(card.with_suffix(".zarr"), engine="zarr", consolidated=False)
    fields = [field for records in content["recordSet"] for field in records["field"]]
    fields = [field for field in fields if not field["name"].endswith("/split")]
    assert len(fields) >= 3
    for field in fields:
        stored = tree[field["name"]]
        assert field["dataType"] == {"float32": "cr:Float32", "float64": "cr:Float64"}[str(stored.dtype)]
        shape = field.get("arrayShape", "")
        assert tuple(map(int, filter(None, shape.split(",")))) == stored.shape[1:]
    words = content["rai:dataLimitations"]
    mantissa, exponent = re.search(r"error: (\S+) × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+);", words).groups()
    raised = int(exponent.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
    assert float(mantissa) * 10**raised == pytest.approx(json.loads(card.read_text())["stated_accuracy"])


def test_of_third_party_files_no_distribution_is_claimed():
    imported = {"summary": "imported", "warnings": []}
    facts = {"solver": {"method": "unknown"}, "precision": "stored as float32", "imported": imported}
    assert "one distribution" not in responsible(facts)["rai:dataBiases"]
