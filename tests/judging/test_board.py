"""Entries on the board: ordered where the test samples decide, escaped, from their own files."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from browser import PHONE, Reader, chromium
from rich.console import Console
from typer.testing import CliRunner

from resolvent.__main__ import app
from resolvent.common.errors import FileError
from resolvent.common.files import write_json
from resolvent.figures.common.intervals import mean_interval
from resolvent.figures.common.numbers import scientific
from resolvent.judging.board import print_board, read_board, read_entry, write_site
from resolvent.judging.report import KINDS, LEAKED

OURS = Path(__file__).parents[2] / "board"
HARDNESS = np.exp(np.random.default_rng(0).normal(size=256))  # of the samples, for every model
SOLVER = "classical solver, closed form"
MADE = {
    "authors": "A. Nobody", "code": "https://example.org/code", "training": "Ten epochs.\nNo more.",
    "hardware": "1 h", "training_samples": 1024, "parameters": 12_345, "licence": "MIT",
}  # fmt: skip
FRESH = {
    "grid": "n512", "seed": 5, "made_from": "0a", "of": "files", "samples": 64, "public": 0.01, "new": 0.0123,
    "low": 0.011, "high": 0.014, "p_value": 0.3, "verdict": "no sign of a leak",
}  # fmt: skip


def row(who, grid, errors):
    interval = mean_interval(errors)
    numbers = {"mean": interval.value, "low": interval.low, "high": interval.high}
    place = {"who": who, "grid": grid, "metric": "relative_l2", "samples": len(errors)}
    return place | numbers | {"median": float(np.median(errors)), "largest": float(errors.max())}


def entry(folder, name, errors, *, made=None, table=True, **more):
    """Write an entry for burgers-v1 as `resolvent evaluate` does."""
    solver = {"grid": "n512", "solver": SOLVER, "seconds_per_sample": 1e-4}
    record = {
        "task": "burgers-v1", "source": "predictions", "files": {"n512.npy": "0a"}, "label": name,
        "kind": "predictions", "evaluated": KINDS["predictions"], "test_set": "0b", "stated_accuracy": 1e-7,
        "rows": [row(name, "n512", errors), row(SOLVER, "n512", errors / 1e3)],
        "recorded": [], "remarks": [], "not_evaluated_on": ["n2048"], "classical": [solver],
        "as_accurate": solver, "timed_on": "a machine",
        "without_labels": [], "seconds_per_sample": {}, "date": "2026-11-29", "machine": "a machine",
        "versions": {"resolvent": "1.0.0"},
    }  # fmt: skip
    write_json(folder / "evaluation.json", record | more)
    if table:
        samples = {"who": name, "grid": "n512", "sample": range(len(errors)), "relative_l2": errors}
        pd.DataFrame(samples).to_csv(folder / "errors.csv", index=False)
    if made is not None:
        (folder / "entry.yaml").write_text(yaml.safe_dump(made))
    return folder


def spread(seed, size):
    return np.exp(size * np.random.default_rng(seed).normal(size=256))


def test_entries_that_the_samples_do_not_separate_share_places(tmp_path):
    errors = {
        "worst": 0.05 * HARDNESS * spread(1, 0.1), "second": 0.0112 * HARDNESS * spread(2, 0.02),
        "also second": 0.01121 * HARDNESS * spread(3, 0.02), "best": 0.0105 * HARDNESS * spread(4, 0.02),
    }  # fmt: skip
    folders = [entry(tmp_path / name, name, values) for name, values in errors.items()]
    (test,) = read_board(folders)
    by_name = dict(zip((each.record["label"] for each in test.entries), test.places, strict=True))
    assert [each.first["mean"] for each in test.entries] == sorted(each.mean() for each in errors.values())
    assert by_name == {"best": (1, 1), "second": (2, 3), "also second": (2, 3), "worst": (4, 4)}

    for folder in folders:  # intervals of means know less than differences on the same samples
        (folder / "errors.csv").unlink()
    (test,) = read_board(folders)
    assert test.places == [(1, 3), (1, 3), (1, 3), (4, 4)]

    console = Console(record=True, width=150)
    print_board([test], console)
    said = console.export_text()
    assert "burgers-v1" in said
    assert said.count("undecided") == 3
    assert said.index("best") < said.index("worst")


def test_a_page_of_an_entry_says_what_was_measured_and_what_its_authors_state(tmp_path):
    first = entry(tmp_path / "a/entry", "A", 0.01 * HARDNESS, made=MADE, fresh=FRESH, identified=False)
    leaked = FRESH | {"verdict": LEAKED}
    second = entry(tmp_path / "b/entry", "B", 0.02 * HARDNESS, fresh=leaked)
    third = entry(tmp_path / "Ünïted & Co", "C", 0.03 * HARDNESS)
    out = write_site(read_board([third, second, first]), tmp_path / "out").parent
    assert {path.name for path in out.iterdir()} == {"index.html", "entry", "entry-2", "n-ted-co"}
    board = (out / "index.html").read_text()
    order = ["entry/index.html", "entry-2/index.html", "n-ted-co/index.html"]
    assert sorted(order, key=board.index) == order
    assert "predictions, not identified" in board
    assert f'<span class="warning">{LEAKED}</span>' in board
    assert "12,345" in board

    page = (out / "entry/index.html").read_text()
    for words in (scientific(0.0123), "no sign of a leak", "A. Nobody", "Ten epochs.", 'href="https://example.org/code"',
                  "not identified", SOLVER):  # fmt: skip
        assert words in page, words
    assert 'id="no-new-samples"' in (out / "n-ted-co/index.html").read_text()
    assert "the entry has no entry.yaml" in (out / "entry-2/index.html").read_text()
    assert np.allclose(pd.read_csv(out / "entry/errors.csv")["relative_l2"], 0.01 * HARDNESS)


HEAD = "who,grid,sample,relative_l2\n"
SCRIPT = "</title><script>alert(1)</script>"


def test_words_of_strangers_are_text(tmp_path):
    made = MADE | {"authors": SCRIPT, "training": SCRIPT, "hardware": "{{ 7 * 7 }}"}
    made["code"] = "javascript:alert(1)"
    fresh = FRESH | {"grid": SCRIPT}
    folder = entry(
        tmp_path / "..evil<script>", SCRIPT, 0.01 * HARDNESS, made=made, fresh=fresh, remarks=[SCRIPT],
        files={SCRIPT: SCRIPT}, machine=SCRIPT, timed_on=SCRIPT, versions={SCRIPT: SCRIPT},
        evaluated="all true",
    )  # fmt: skip
    out = write_site(read_board([folder]), tmp_path / "out").parent
    assert {path.name for path in out.iterdir()} == {"index.html", "evil-script"}
    for page in (out / "index.html", out / "evil-script/index.html"):
        assert "alert" in page.read_text()
        assert SCRIPT not in page.read_text()
        assert page.read_text().count("<script>") == 1
        assert "all true" not in page.read_text()
        assert 'href="javascript' not in page.read_text()
    assert "{{ 7 * 7 }}" in (out / "evil-script/index.html").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "other"}, "'kind'"),
        ({"rows": []}, "'rows' has no relative_l2"),
        ({"rows": 3}, "'rows'"),
        ({"versions": None}, "'versions'"),
        ({"label": "x"}, "'rows' has no relative_l2"),
        ({"task": "long " * 30}, "is not a name of at most 100 characters"),
        ({"task": "two\nlines"}, r"'two\\nlines' is not a name"),
        ({"seconds_per_sample": {"n512": "fast"}}, "'seconds_per_sample"),
        ({"fresh": {"new": 3}}, "'fresh"),
        ({"fresh": FRESH | {"verdict": "clean"}}, "'fresh"),
    ],
)
def test_a_damaged_record_is_refused_by_its_field(tmp_path, change, message):
    entry(tmp_path, "A", 0.01 * HARDNESS, **change)
    with pytest.raises(FileError, match=rf"evaluation\.json: .*{message}") as refused:
        read_entry(tmp_path)
    assert "\n" not in str(refused.value)


def test_a_model_is_not_named_like_a_solver_and_has_the_first_grid(tmp_path):
    with pytest.raises(FileError, match="is not a name"):
        read_entry(entry(tmp_path / "solver", SOLVER, 0.01 * HARDNESS))
    record = json.loads((entry(tmp_path / "fine", "A", HARDNESS) / "evaluation.json").read_text())
    rows = [each | {"grid": "n2048"} for each in record["rows"]]
    with pytest.raises(FileError, match="'rows' has no n512, the task's first grid"):
        read_entry(entry(tmp_path / "fine", "A", HARDNESS, rows=rows))


def test_parts_that_no_page_can_show_are_refused_in_one_line(tmp_path):
    for number, estimate in enumerate(({"kind": "theorem"}, {"kind": "other", "name": 3})):
        folder = entry(tmp_path / str(number), "A", 0.01 * HARDNESS, without_labels=[estimate])
        with pytest.raises(FileError, match=r"evaluation\.json") as refused:
            write_site(read_board([folder]), tmp_path / "out")
        assert "\n" not in str(refused.value)
        assert not (tmp_path / "out/index.html").exists()


def test_files_of_an_entry_are_its_own(tmp_path):
    folder = entry(tmp_path / "mine", "A", 0.01 * HARDNESS)
    for name in ("evaluation.json", "errors.csv", "entry.yaml"):
        other = tmp_path / name
        other.write_text("secret: 1")
        kept = (folder / name).read_bytes() if (folder / name).exists() else None
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(other)
        with pytest.raises(FileError, match=rf"{name} is not a file: copy it into the folder") as refused:
            read_entry(folder)
        assert "secret" not in str(refused.value)
        (folder / name).unlink()
        if kept is not None:
            (folder / name).write_bytes(kept)
    with open(folder / "errors.csv", "ab") as file:
        file.truncate(20_000_000)
    with pytest.raises(FileError, match=r"errors\.csv has more than 10,000,000 bytes"):
        read_entry(folder)


@pytest.mark.parametrize("text", ["", "who,grid\n", "\0", f"{HEAD}A,n512,0,=1+1\n", f"{HEAD}A,n512,0,1e99\n"])
def test_errors_are_those_of_the_record(tmp_path, text):
    folder = entry(tmp_path, "A", 0.01 * HARDNESS)
    (folder / "errors.csv").write_text(text)
    with pytest.raises(
        FileError, match=r"errors\.csv is damaged \(|has another mean than errors\.csv"
    ) as refused:
        read_entry(folder)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (yaml.safe_dump(MADE | {"code": "https://example.org/" + 300 * "x"}), "'code'"),
        (yaml.safe_dump(MADE | {"parameters": -1}), "'parameters'"),
        (yaml.safe_dump(MADE | {"rank": 1}), "'rank'"),
        (yaml.safe_dump({"authors": "A. Nobody"}), "'code'"),
        ("a: &a [x]\nb: [*a, *a]", "references, .name, are not accepted"),
        ("[" * 100_000, "has more than 10,000 bytes"),
        ("[" * 9_000, "is damaged"),
        ("- a list", "entry.yaml"),
        ("{a: b", "is damaged"),
        ("!!python/object/apply:os.system ['true']", "is damaged"),
    ],
)
def test_what_authors_state_has_a_form(tmp_path, text, message):
    folder = entry(tmp_path, "A", 0.01 * HARDNESS)
    (folder / "entry.yaml").write_text(text)
    with pytest.raises(FileError, match=message) as refused:
        read_entry(folder)
    assert "\n" not in str(refused.value)


def test_what_is_no_evaluation_is_named(tmp_path):
    with pytest.raises(FileError, match=r"has no evaluation\.json: make it with `resolvent evaluate"):
        read_board([tmp_path])
    (tmp_path / "judged.json").touch()
    with pytest.raises(FileError, match=r"the record of version 1\.0: evaluate again"):
        read_board([tmp_path])


def test_an_entry_is_held_to_its_record(tmp_path):
    recorded = entry(tmp_path / "recorded", "A", 0.01 * HARDNESS)
    same = entry(tmp_path / "same", "Another label", 0.010001 * HARDNESS, fresh=FRESH)
    other = entry(tmp_path / "other", "A", 0.0101 * HARDNESS)
    leaked = entry(tmp_path / "leaked", "A", 0.01 * HARDNESS, fresh=FRESH | {"verdict": LEAKED})
    elsewhere = entry(tmp_path / "elsewhere", "A", 0.01 * HARDNESS, task="of mine")
    for again, status, words in (
        (same, 0, ""),
        (other, 1, f"on n512; evaluated anew: {scientific(0.0101 * HARDNESS.mean())}"),
        (leaked, 1, LEAKED),
        (elsewhere, 1, "is of burgers-v1"),
    ):
        done = CliRunner().invoke(app, ["compare", str(recorded), str(again), "--check"])
        assert done.exit_code == status, done.output
        assert words in " ".join(done.output.split())
    assert CliRunner().invoke(app, ["compare", str(recorded), "--check"]).exit_code == 1


def test_the_board_is_read_on_a_telephone(tmp_path):
    long = "Averylongnameofamodelwithoutanyspace" * 2
    made = MADE | {"training": long * 5}
    folders = [
        entry(tmp_path / str(number), name, (1 + number) * 0.01 * HARDNESS, made=made, fresh=FRESH)
        for number, name in enumerate(("Galerkin transformer, seed 1127802", long))
    ]
    out = write_site(read_board(folders), tmp_path / "out").parent
    with chromium() as browser, Reader(browser, viewport=PHONE) as reader:
        page = reader.open(out / "index.html")
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
        head = page.locator("thead tr:last-child th", has_text="n512")
        head.locator("button").click()
        head.locator("button").click()
        page.wait_for_function("document.querySelector('tbody th').textContent.startsWith('Avery')")
        page.locator("tbody a", has_text="Galerkin").click()
        page.wait_for_selector("#stated")
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
        page.locator("a", has_text="Board").click()
        page.wait_for_selector("#columns")
        assert not reader.faults


def test_our_board_can_be_written(tmp_path):
    folders = sorted(path for path in OURS.iterdir() if path.is_dir())
    tests = read_board(folders)
    assert {test.name for test in tests} >= {"burgers-v1"}
    assert all(each.made is not None and each.errors is not None for test in tests for each in test.entries)
    write_site(tests, tmp_path)
