"""What `source`, `input`, `target` and `axes` of own arrays stand for, and which are refused."""

import re

import pytest

from resolvent.datasets.imported.channels import parsed, variable_of
from resolvent.datasets.imported.sources import FORMS, Pool, paths_of, pools_of
from resolvent.datasets.tasks.registry import settings_of

ALL = ("train", "validation", "test")


def both(*paths):
    return tuple({"input": path, "target": path} for path in paths)


PAIR = {"input": "a", "target": "u"}
SOURCES = {
    "one": ("a", [Pool(ALL, both("a"))], ["a"]),
    "a list of one": (["a"], [Pool(ALL, both("a"))], ["a"]),
    "a list of two": (["a", "b"], [Pool(("train",), both("a")), Pool(ALL[1:], both("b"))], ["a", "b"]),
    "a pair": (PAIR, [Pool(ALL, (PAIR,))], ["a", "u"]),
    "two splits": (
        {"test": "b", "train": ["a", "c"]},
        [Pool(("train", "validation"), both("a", "c")), Pool(("test",), both("b"))],
        ["a", "c", "b"],
    ),
    "three splits": (
        {"train": PAIR, "validation": "v", "test": "a"},
        [Pool(("train",), (PAIR,)), Pool(("validation",), both("v")), Pool(("test",), both("a"))],
        ["a", "u", "v"],
    ),
    "test alone": ({"test": "b"}, [Pool(("test",), both("b"))], ["b"]),
    "validation and test": (
        {"validation": "v", "test": "b"},
        [Pool(("validation",), both("v")), Pool(("test",), both("b"))],
        ["v", "b"],
    ),
}


@pytest.mark.parametrize("case", SOURCES)
def test_a_source_names_the_files_of_every_split(case):
    source, pools, paths = SOURCES[case]
    assert pools_of(source) == pools
    assert paths_of(source) == paths


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ([], "source: []; accepted: "),
        (["a", ["b"], "c"], "source: ['a', ['b'], 'c']; accepted: "),
        ({}, "source has the keys none; accepted: "),
        ({"train": "a", "input": "b"}, "source has the keys train, input; accepted: "),
        ({"train": []}, "source: []; accepted: "),
        ({"train": ["a", 3]}, "source: ['a', 3]; accepted: "),
        ({"train": {"input": "a"}}, "source: {'input': 'a'}; accepted: "),
        ({"train": {"input": "a", "target": []}}, "source: {'input': 'a', 'target': []}; accepted: "),
    ],
)
def test_other_sources_are_refused(source, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words + FORMS)}$"):
        pools_of(source)


@pytest.mark.parametrize(
    ("entry", "axes", "expected"),
    [
        ("a", ["sample", "x"], ("a", None, ("x",))),
        ("g/a[12]", ["sample", "channel", "x", "y"], ("g/a", 12, ("y", "x"))),
        ("a[0][1]", ["channel", "x", "z", "y"], ("a[0]", 1, ("z", "y", "x"))),
        ("kappa", {"kappa": ["sample"], "a": ["x"]}, ("kappa", None, ())),
    ],
)
def test_an_entry_names_a_variable_and_a_channel(entry, axes, expected):
    found = parsed(entry, axes)
    assert (found.variable, found.channel, found.space) == expected
    assert found.entry == entry
    assert variable_of(entry) == expected[0]


REFUSED_ENTRIES = [
    ("", ["x"], "the name of a variable is empty; accepted: name, group/name, name[0]"),
    ("u", {"a": ["x"], "b": ["x"]}, "axes has no entry for 'u'; it has a, b; accepted: such as u: [samp"),
    ("u", {}, "axes has no entry for 'u'; it has none; accepted"),
    ("u", ["sample", "w"], "axes of 'u', sample, w: unknown axis 'w'; accepted: sample, time, channel, z"),
    ("u", ["x", "x"], "axes of 'u', x, x: one is named twice"),
    ("u", ["sample", "y"], "axes of 'u', sample, y: accepted of space: x; y and x; z, y and x; in any"),
    ("u", ["z", "x"], "axes of 'u', z, x: accepted of space"),
    ("u", ["sample", "channel", "x"], "'u' and its axes sample, channel, x do not fit; name a channel, such"),
    ("u[0]", ["sample", "x"], "'u[0]' and its axes sample, x do not fit; leave the brackets out"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "axes", "words"), REFUSED_ENTRIES)
def test_an_entry_that_does_not_fit_its_axes_is_refused(entry, axes, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        parsed(entry, axes)


GIVEN = {
    "equation": "arrays", "source": "data.npz", "input": "a", "target": "u", "axes": ["sample", "x"],
    "finest": 16, "grid": "periodic", "samples": {"train": 8, "validation": 2, "test": 3},
}  # fmt: skip
SERIES = {"input": "u", "target": "u", "axes": ["sample", "time", "x"]}
STORED = {
    "plain": ({}, "a u"),
    "letters": ({"input": "g/a b", "target": "2u[3]", "axes": {"g/a b": ["sample", "x"], "2u": ["channel",
        "sample", "x"]}}, "g_a_b target_2u_3"),
    "reserved": ({"input": "x", "target": "split"}, "input_x target_split"),
    "signs alone": ({"input": "+", "target": "-"}, "input target"),
    "two files": ({"source": PAIR, "input": "f", "target": "f"}, "input_f target_f"),
    "first to last": (SERIES, "u_at_0 u_at_last"),
    "times": (SERIES | {"input_times": [0, 1], "target_times": [3, -1, -3]},
        "u_at_0 u_at_1 u_at_3 u_at_last u_at_last_but_2"),
    "a number": ({"input": ["a", "nu"], "axes": {"a": ["sample", "x"], "u": ["sample", "x"],
        "nu": ["sample"]}}, "a nu u"),
}  # fmt: skip


@pytest.mark.parametrize("case", STORED)
def test_functions_have_their_names_in_the_store(case):
    changes, names = STORED[case]
    settings = settings_of(GIVEN | changes)
    assert " ".join(one.stored for one in settings.channels) == names
    numbers = sum(not one.space for one in settings.channels)
    inputs = sum(one.role == "input" for one in settings.channels)
    assert (settings.in_channels, settings.initial_channels) == (inputs, numbers)
    assert settings.out_channels == len(settings.channels) - inputs


WORDS = ["u at time 0", "u at time 3", "u at time -1 from the end", "u at time -3 from the end"]


def test_functions_of_a_series_are_called_by_their_times():
    settings = settings_of(GIVEN | SERIES | {"target_times": [3, -1, -3], "units": {"u": "m/s"}})
    assert [one.words for one in settings.channels] == WORDS
    assert settings.names() == ("u at time 0", ", ".join(WORDS[1:]))
    assert settings.quantities == ("u at time 0 [m/s]", ", ".join(f"{one} [m/s]" for one in WORDS[1:]))


NUMBER = {"a": ["sample", "x"], "u": ["sample", "x"], "nu": ["sample"]}
REFUSED = {
    "no input is a function of space": {"input": "nu", "axes": NUMBER},
    "inputs that are numbers of a sample come last": {"input": ["nu", "a"], "axes": NUMBER},
    "the target 'nu' is no function of space": {"target": "nu", "axes": NUMBER},
    "functions of different axes of space": {"axes": {"a": ["sample", "x"], "u": ["sample", "y", "x"]}},
    "a, a: the same function twice; name others, or other times": {"target": "a"},
    "some variables have an axis of samples, and others have none": {"axes": {"a": ["sample", "x"],
        "u": ["x"]}},
    "no variable has an axis of samples; give window_every": {"axes": ["x"]},
    "window_every is for variables that all have an axis of time": {"axes": {"a": ["sample", "x"],
        "u": ["sample", "time", "x"]}, "window_every": 1},
    "input_times are given, and no input has an axis of time": {"input_times": [0]},
    "target_times are given, and no target has an axis of time": {"target_times": [0]},
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_names_axes_and_times_that_do_not_fit_each_other_are_refused(words):
    with pytest.raises(ValueError, match=words):
        settings_of(GIVEN | REFUSED[words])
