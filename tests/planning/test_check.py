"""`resolvent check FILE`: what is wrong with a file that Snakemake would refuse without a place."""

import copy
from itertools import pairwise

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from merged_configuration import DEFAULT, ROOT
from snakemake.utils import update_config

from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import check
from resolvent.planning.configuration.read import read_configuration, read_file, with_defaults


def test_few_test_samples_are_accepted_and_warned_of(tmp_path, capsys):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\nbuild: {experiments: [burgers, darcy]}\nexperiments: {burgers: {samples: {test: 1}}}\n"
    )
    assert check([str(file)]) == 0
    _, *warnings = capsys.readouterr().out.splitlines()
    (words,) = warnings  # darcy has 32
    assert words.startswith(
        "warning: experiments.burgers: 1 test sample: of fewer than 30 the 95 % intervals"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: x\nmodels: {a: [1, 2}\n", ", line 2, column 18: expected ',' or ']', but got '}'"),
        (
            "datasets:\n\tburgers: {}\n",
            ", line 2, column 1: found character '\\t' that cannot start any token",
        ),
        ("name: mine\n  title: x\n", ", line 2, column 8: mapping values are not allowed here"),
        ("models:\n    a: 1\n  b: 2\n", "this line's indentation matches no line above it"),
        ("name: *other\n", ", line 1, column 7: found undefined alias 'other'"),
        ("name: one\nname: two\n", ", line 2: name: duplicate of the key in line 1; keep one"),
        (
            "models:\n  a: {like: fno, label: A}\n  b: {like: fno, label: B}\n  a: {}\n",
            ", line 4: models.a: duplicate of the key in line 2; keep one",
        ),
        ("- name\n", ": expected keys with values, such as `name: mine`; found a list"),
        ("", ": expected keys with values, such as `name: mine`; found nothing"),
        (
            "name: !!python/object/apply:os.mkdir [executed]\n",
            ", line 1: name: YAML tag !!python/object/apply:os.mkdir; write the value without the tag",
        ),
        ("name: !!bool maybe\n", ", line 1: name: YAML tag !!bool; write the value without the tag"),
        ("models: &a {a: *a}\n", ", line 1: models.a: contains itself"),
        ("name: \x07\n", ": cannot be read: unacceptable character #x0007"),
        (f"name: {'[' * 5000}{']' * 5000}\n", ": cannot be read: maximum recursion depth"),
        ("? [a]\n: 1\n", ", line 1: ?: keys must be text, not a list or a mapping"),
        ("models: {fno: {1.5: 2}}\n", ", line 1: models.fno.1.5: keys must be text, got 1.5;"),
        (
            "name: mine\n__use_yte__: true\n",
            ", line 2: __use_yte__: Snakemake would execute the expressions of this file; write the values",
        ),
        (
            "a: &a [x, x, x, x]\n"
            + "".join(f"{b}: &{b} [{f'*{a}, ' * 9}]\n" for a, b in pairwise("abcdefgh")),
            " values with aliases expanded; accepted: at most 1,000,000",
        ),
        (b"name: \xff\n", ": cannot be read: 'utf-8' codec can't decode byte 0xff in position 6"),
        (None, ": cannot be read: [Errno 2] No such file or directory"),
        ("nam: mine\n", ", line 1: nam: unknown key 'nam'; did you mean 'name'? accepted: name, data_root"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_reported_by_place(text, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.yaml"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert check([str(file)]) == 1
    output = capsys.readouterr().out
    assert words in output
    assert output.count("\n") == 1
    assert not (tmp_path / "executed").exists()


def test_files_are_merged_as_snakemake_merges_them(tmp_path, capsys):
    overlay = ROOT / "config/demo.yaml"
    assert read_configuration([]) == DEFAULT
    content = DEFAULT
    for file in (ROOT / "config/cao2021.yaml", overlay):
        content = copy.deepcopy(content)
        update_config(content, yaml.safe_load(file.read_text()))  # Snakemake's
    assert read_configuration([ROOT / "config/cao2021.yaml", overlay]) == content
    assert with_defaults(yaml.safe_load(overlay.read_text())) == read_configuration([overlay])
    assert check([str(overlay)]) == 0
    assert capsys.readouterr().out.endswith("'demo' is valid; experiments: burgers\n")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "datasets:\n  burgers: {viscosity: thick, seed: 3.5}\n  darcy_cao:\n    num_modes: 3\n"
            "models:\n  fno:\n    training: {epochs: 1.5}\n  wide: {like: fno, label: W}\n",
            {2: "datasets.burgers.viscosity datasets.burgers.seed", 4: "datasets.darcy_cao.num_modes"},
        ),
        (
            "models:\n  fno:\n    training: {epochs: 1.5}\n  wide: {like: fno, label: W}\nexperiments:\n"
            "  controlled_ode:\n    resolutions: [dt0.02]\n    shows: {cao2020: []}\n"
            "  lorenz63_yz: {seeds: [1, 1]}\n",
            {3: "models.fno.training.epochs", 8: "experiments.controlled_ode.shows",
             9: "experiments.lorenz63_yz.seeds"},
        ),
    ],
)  # fmt: skip
def test_all_problems_of_a_kind_are_reported_at_once_each_with_its_line(text, found, tmp_path, capsys):
    lines = problems_of(text, tmp_path, capsys)
    places = [line.partition("line ")[2].split(": ")[:2] for line in lines]
    expected = [[str(number), key] for number, keys in found.items() for key in keys.split()]
    assert sorted(places) == sorted(expected)


def problems_of(text, folder, capsys) -> list[str]:
    file = folder / "overlay.yaml"
    file.write_text(text)
    assert check([str(file)]) == 1
    return capsys.readouterr().out.splitlines()


def test_a_problem_has_the_line_of_the_overlay_that_set_the_key_last(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.yaml").write_text("name: mine\ndatasets:\n  burgers:\n    viscosity: -1\n    seed: -1\n")
    (tmp_path / "two.yaml").write_text("datasets:\n  burgers: {viscosity: -2}\n")
    assert check(["one.yaml", "two.yaml"]) == 1
    seed, viscosity = sorted(capsys.readouterr().out.splitlines())
    assert seed.startswith("one.yaml, line 5: datasets.burgers.seed: ")
    assert viscosity.startswith("two.yaml, line 2: datasets.burgers.viscosity: ")


def test_what_an_entry_has_from_another_has_the_line_where_it_is_said(tmp_path, capsys):
    text = (
        "models:\n  mine: {like: base, label: M}\n  base:\n    like: fno\n    label: B\n    recipe: printed\n"
    )
    (line,) = problems_of(text, tmp_path, capsys)
    assert line.startswith(f"{tmp_path}/overlay.yaml, line 6: models.base.recipe: input should be 'paper'")


def test_a_resolution_that_is_not_stored_names_the_line_of_the_dataset(tmp_path, capsys):
    text = "datasets:\n  base: {like: burgers, resolutions: [64]}\n  mine: {like: base}\n"
    text += "experiments:\n  mine: {like: burgers, dataset: mine, resolutions: [128], title: Mine}\n"
    (line,) = (one for one in problems_of(text, tmp_path, capsys) if "experiments.mine.resolutions" in one)
    place = f"{tmp_path}/overlay.yaml, line"
    assert line.startswith(
        f"{place} 5: experiments.mine.resolutions: 128 is not stored; dataset 'mine' has 64"
    )
    assert line.endswith(f"(datasets.mine.resolutions, {place} 2)")


def test_the_names_that_are_accepted_are_listed_whatever_is_built(tmp_path, capsys):
    text = "build: {experiments: [burgers]}\nexperiments: {burgers: {dataset: burgerz}}\n"
    (line,) = problems_of(text, tmp_path, capsys)
    assert (
        "unknown dataset 'burgerz'; did you mean 'burgers'? accepted: burgers, burgers_printed, darcy_cao, "
        in line
    )


# Text without quotes, and what it is; and what is refused, with a part of the message.
SCALARS = {
    "8": 8, "-3": -3, "+4": 4, "0": 0, "1.0": 1.0, ".5": 0.5, "5.": 5.0, "1e-3": 1e-3, "1E3": 1e3,
    "-2.5e+4": -2.5e4, "1.e2": 100.0,
    "true": True, "False": False, "null": None, "~": None, "": None, "text": "text",
    "1e": "1e", "0x": "0x", "1 000": "1 000", "y": "y", "n64": "n64", "'010'": "010", "'no'": "no",
    "'1:30'": "1:30", "1.2.3": "1.2.3", "s3://a/b": "s3://a/b", "module:name": "module:name", "٣": "٣",
}  # fmt: skip
REFUSED = (
    "010", "-010", "08", "0x1F", "0b11", "1_000", "1_0.5", "1:30", "12:30:45", "1:30.5", "yes", "No", "on",
    "OFF", "2026-01-31", "=",
)  # fmt: skip


def test_a_number_or_a_word_means_what_it_looks_like(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("".join(f"a{number}: {text}\n" for number, text in enumerate(SCALARS)))
    content = read_file(file)
    for found, expected in zip(content.values(), SCALARS.values(), strict=True):
        assert (found, type(found)) == (expected, type(expected))
    assert not content.problems


def test_what_yaml_1_1_takes_for_something_else_is_refused_with_the_remedy(tmp_path, capsys):
    text = "".join(f"key{number}: {scalar}\n" for number, scalar in enumerate(REFUSED)) + "010: key\n"
    *lines, key = problems_of(text, tmp_path, capsys)
    for number, (line, scalar) in enumerate(zip(lines, REFUSED, strict=True)):
        assert line.startswith(f"{tmp_path}/overlay.yaml, line {number + 1}: key{number}: ")
        assert f"{scalar!r} is ambiguous (YAML 1.1 reads it as" in line
    assert key.startswith(f"{tmp_path}/overlay.yaml, line {len(lines) + 1}: 010: ")


PIECES = (
    "a", "name", ": ", "\n", "  ", "- ", "{", "}", "[", "]", "&a ", "*a", "<<: ", "? ", "'", '"', "|\n",
    "---\n", "!!int ", "!!set ", "!!binary ", "0x", "1e3", "2026-01-01", "%YAML", "\t", "#", "~", "é",
)  # fmt: skip


@settings(max_examples=100, derandomize=True, deadline=None, database=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join))
def test_any_text_is_read_or_refused_in_one_line(tmp_path_factory, text):
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_text(text, encoding="utf-8", errors="replace")
    lines = []
    try:
        assert isinstance(read_file(file), dict)
    except ConfigurationError as error:
        lines = str(error).split("\n")
    assert all(line.startswith(str(file)) and line.isprintable() for line in lines)
