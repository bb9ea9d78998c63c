"""A file with a digest beside it is read as it was written, or refused in one line."""

import json
import shutil
import subprocess

import pandas as pd
import pytest

from resolvent.common.digests import Unverified, check_digest, digest_path, write_digest
from resolvent.common.errors import FileError
from resolvent.common.files import json_text, read_json, write_json
from resolvent.common.runs import parse_table, read_table, save_table

TABLE = pd.DataFrame({"model": ["fno", "gt"], "error": [0.1 + 0.2, 1e-300]})


@pytest.fixture
def table(tmp_path):
    save_table(TABLE, tmp_path / "table.csv")
    return tmp_path / "table.csv"


def refused(words, path, read=check_digest):
    with pytest.raises(FileError, match=words) as raised:
        read(path)
    (line,) = str(raised.value).splitlines()
    assert path.name in line
    assert "snakemake" in line


def test_a_table_is_read_in_full_digits(table):
    pd.testing.assert_frame_equal(read_table(table, ["model", "error"]), TABLE)


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="coreutils' sha256sum is not installed")
def test_sha256sum_verifies_it(table):
    words = ["sha256sum", "--check", digest_path(table).name]
    assert subprocess.run(words, cwd=table.parent, capture_output=True).returncode == 0


def test_an_altered_table_is_refused(table):
    table.write_text(table.read_text().replace("fno,0.3", "fno,0.2"))
    refused("table.csv was altered: delete it and run", table, lambda path: read_table(path, []))
    assert len(parse_table(table, ["error"])) == 2  # what has its digest in a record


def test_a_file_without_a_digest_is_read_with_a_warning(table):
    digest_path(table).unlink()
    with pytest.warns(Unverified, match=r"table\.csv cannot be verified, .* of an earlier version"):
        assert len(read_table(table, ["error"])) == 2


@pytest.mark.parametrize("content", [b"", b"\xff", b"0" * 64 + b"  table.csv\n"])
def test_a_digest_that_is_none_is_refused(table, content):
    digest_path(table).write_bytes(content)
    refused("table.csv", table)


def test_an_empty_or_missing_file_is_refused(table):
    table.write_bytes(b"")
    write_digest(table)
    refused("is empty", table)
    table.unlink()
    refused("is missing: make it with", table)


def test_a_json_file_has_its_digest_inside(tmp_path):
    path = tmp_path / "card.json"
    content = {"samples": 3, "error": 1.0, "none": None, "of": {"ü": [0.1, 1e-300]}, 4: "a number as key"}
    write_json(path, content)
    found = read_json(path, "the card")
    assert found == json.loads(json.dumps(content))
    path.write_text(path.read_text().replace('"samples": 3', '"samples": 4'))
    refused("the card .* was altered: delete it", path, lambda path: read_json(path, "the card"))
    path.write_text(json_text(found))
    assert read_json(path, "the card") == found  # of an earlier version
    path.write_text("[" * 100_000)
    refused("is damaged", path, lambda path: read_json(path, "the card"))
    path.unlink()
    path.mkdir()
    with pytest.raises(FileError, match=r"the card .* cannot be read: Is a directory"):
        read_json(path, "the card")
