"""`python -m resolvent.planning.check FILE`: what is wrong with a file that Snakemake would refuse without a
place."""

import copy
from itertools import pairwise

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from merged_configuration import DEFAULT, ROOT
from snakemake.utils import update_config

from resolvent.planning.check import main
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.read import read_configuration, read_file, with_defaults


@pytest.mark.parametrize("normalisation", ["none", "scalar"])
def test_data_far_from_mean_0_without_normalisation_are_warned_of(normalisation, tmp_path, capsys):
    values = 101325 + 10 * np.random.default_rng(0).normal(size=(60, 64))
    np.savez(tmp_path / "pascals.npz", a=values, u=values / 1e5)
    dataset = {"equation": "arrays", "source": str(tmp_path / "pascals.npz"), "input": "a", "target": "u",
               "axes": ["sample", "x"], "finest": 64, "grid": "nodes",
               "samples": {"train": 20, "validation": 5, "test": 35}}  # fmt: skip
    experiment = {"title": "mine", "dataset": "mine", "models": ["fno"], "resolutions": [64]}
    experiment["training"] = {"normalisation": normalisation}
    content = {"name": "mine", "build": {"experiments": ["mine"]}, "datasets": {"mine": dataset}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content | {"experiments": {"mine": experiment}}))
    assert main([str(tmp_path / "mine.yaml")]) == 0
    _, *warnings = capsys.readouterr().out.splitlines()
    assert len(warnings) == (2 if normalisation == "none" else 0)
    assert normalisation == "scalar" or warnings[0].startswith(
        "warning: experiments.mine: 'a' has the mean 1.013e+05 and the standard deviation"
    )
    assert all("train with normalisation: scalar" in words for words in warnings)


def test_few_test_samples_are_accepted_and_warned_of(tmp_path, capsys):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\nbuild: {experiments: [burgers, darcy]}\nexperiments: {burgers: {samples: {test: 1}}}\n"
    )
    assert main([str(file)]) == 0
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
        ("name: *other\n", ", line 1, column 7: found undefined alias 'other'"),
        ("name: 'mine\n", ", line 2, column 1: found unexpected end of stream"),
        ("name: one\nname: two\n", ", line 2, column 1: 'name' again, after line 1, column 1"),
        (
            "models:\n  a: {label: A}\n  b: {label: B}\n  a: {}\n",
            ", line 4, column 3: 'a' again, after line 2, column 3",
        ),
        ("- name\n", ": keys with values are expected, such as `name: mine`; found a list"),
        ("name", ": keys with values are expected, such as `name: mine`; found a str"),
        ("", ": keys with values are expected, such as `name: mine`; found nothing"),
        (
            "name: !!python/object/apply:os.mkdir [executed]\n",
            ", line 1, column 7: could not determine a con",
        ),
        ("name: !!bool maybe\n", ": YAML that cannot be read (KeyError: 'maybe')"),
        ("name: !!int ''\n", ": YAML that cannot be read (IndexError: string index out of range)"),
        ("name: 2026-31-01\n", ": YAML that cannot be read (ValueError: month must be in 1..12)"),
        ("models: &a {a: *a}\n", ": models.a: contains itself"),
        (
            "a: &a [x, x, x, x]\n"
            + "".join(f"{b}: &{b} [{f'*{a}, ' * 9}]\n" for a, b in pairwise("abcdefgh")),
            " values, where aliases are written out; accepted: at most 1,000,000",
        ),
        (b"name: \xff\n", ": not text in UTF-8, from byte 7"),
        (None, ": no such file or directory"),
        ("nam: mine\n", "nam: unknown key 'nam'; did you mean 'name'? accepted: name, data_root"),
    ],
)
def test_a_file_that_cannot_be_used_is_reported_by_place(text, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.yaml"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert main([str(file)]) == 1
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
    assert main([str(overlay)]) == 0
    assert capsys.readouterr().out.endswith("'demo' is valid; experiments: burgers, burgers_tuned\n")


def test_help_says_what_is_checked(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "overlays of config.yaml" in capsys.readouterr().out


PIECES = (
    *(
        "a",
        "name",
        ": ",
        "\n",
        "  ",
        "- ",
        "{",
        "}",
        "[",
        "]",
        "&a ",
        "*a",
        "<<: ",
        "? ",
        "'",
        '"',
        "|\n",
        "---\n",
    ),
    *("!!int ", "!!set ", "!!binary ", "0x", "1e3", "2026-01-01", "%YAML", "\t", "#", "~", "é"),
)


@settings(max_examples=300, derandomize=True, deadline=None, database=None)
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
