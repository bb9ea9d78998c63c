"""Slips of the keyboard, of YAML and of units: each is refused in one line that names the key."""

import datetime
import re

import pytest
from merged_configuration import DEFAULT, ROOT, merged

from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration

ITSELF = []
ITSELF.append(ITSELF)
FOLDER = "cannot name a folder on every machine; accepted: lower-case letters, digits and '_', at most 64"
ANY_DATASET = {"equation": "burgers"}
ANY_MODEL = {"label": "Any", "architecture": "fno1d"}
ANY_EXPERIMENT = {"title": "Any", "dataset": "burgers", "models": ["fno"], "resolutions": [128]}

NAMES = [
    ({"datasets": {"darcy 421": ANY_DATASET}}, f"datasets.darcy 421: 'darcy 421' {FOLDER}"),
    ({"datasets": {"Burgers": ANY_DATASET}}, f"datasets.Burgers: 'Burgers' {FOLDER}"),
    ({"datasets": {"burgers-fine": ANY_DATASET}}, f"datasets.burgers-fine: 'burgers-fine' {FOLDER}"),
    ({"datasets": {"../burgers": ANY_DATASET}}, f"datasets.../burgers: '../burgers' {FOLDER}"),
    ({"datasets": {"": ANY_DATASET}}, f"datasets.: '' {FOLDER}"),
    ({"datasets": {2021: ANY_DATASET}}, "datasets.2021: input should be a valid string, got 2021"),
    ({"models": {"cao/fno": ANY_MODEL}}, f"models.cao/fno: 'cao/fno' {FOLDER}"),
    ({"models": {"σ_model": ANY_MODEL}}, f"models.σ_model: 'σ_model' {FOLDER}"),
    ({"models": {"{model}": ANY_MODEL}}, f"models.{{model}}: '{{model}}' {FOLDER}"),
    ({"models": {"m" * 65: ANY_MODEL}}, f"'{'m' * 65}' {FOLDER}"),
    (
        {"models": {"figures": ANY_MODEL}},
        "models.figures: 'figures' is a folder of the results; choose another",
    ),
    ({"experiments": {"Darcy": ANY_EXPERIMENT}}, f"experiments.Darcy: 'Darcy' {FOLDER}"),
    (
        {"experiments": {"theory": ANY_EXPERIMENT}},
        "experiments.theory: 'theory' is a folder of the results; choose another name",
    ),
    (
        {"experiments": {"cao2021": ANY_EXPERIMENT}},
        "experiments.cao2021: 'cao2021' is a folder of the results; choose another name",
    ),
    *(
        (
            {"models": {name: ANY_MODEL}},
            f"models.{name}: '{name}' is a device on Windows, not a folder; choose",
        )
        for name in ("con", "nul", "aux", "prn", "com1", "lpt9")
    ),
    ({"name": "nul"}, "name: 'nul' is a device on Windows"),
    *(
        (
            {"models": {"fno": {"label": f"{sign}1+1"}}},
            f"models.fno.label: '{sign}1+1': spreadsheets compute what begins with '{sign}'; choose",
        )
        for sign in "=+-@"
    ),
    (
        {"experiments": {"burgers": {"title": "=HYPERLINK(1)"}}},
        "experiments.burgers.title: '=HYPERLINK(1)': spreadsheets compute",
    ),
    ({"name": "my/results"}, f"name: 'my/results' {FOLDER}"),
    (
        {"datasets": {"lorenz63_y": {"observations": {"fine times": {"step": 0.1}}}}},
        "datasets.lorenz63_y: observations.fine times: a name starts with a letter, and has letters, digits,",
    ),
    (
        {"datasets": {"lorenz63_y": {"observations": {"é": {"step": 0.1}}}}},
        "datasets.lorenz63_y: observations.é: a name starts with a letter",
    ),
]
FOLDERS = [
    (
        {"data_root": "../data"},
        "data_root: '../data' leaves the working folder; if that is meant, write the abs",
    ),
    ({"data_root": "data/../../elsewhere"}, "data_root: 'data/../../elsewhere' leaves the working folder"),
    *(
        (
            {"results_root": folder},
            f"results_root: {found!r} is in {source!r}, a folder of the source; choose another",
        )
        for folder, found, source in (
            ("workflow", "workflow", "workflow"),
            ("resolvent/figures", "resolvent/figures", "resolvent"),
            ("results/../docs", "results/../docs", "docs"),
            (str(ROOT / "profiles"), str(ROOT / "profiles"), "workflow"),
        )
    ),
    (
        {"results_root": ".", "name": "config"},
        "results_root: 'config' is in 'config', a folder of the source",
    ),
    ({"data_root": "tests/data"}, "data_root: 'tests/data' is in 'tests', a folder of the source"),
    ({"results_root": ".."}, "results_root: '..' leaves the working folder"),
    (
        {"data_root": "/dev/null"},
        "data_root: '/dev/null' is a file, or a link to nothing; accepted: a folder",
    ),
    ({"results_root": "/dev/null/results"}, "results_root: '/dev/null' is a file, or a link to nothing"),
    (
        {"results_root": "~/results"},
        "results_root: '~/results': '~' and '$' stand for nothing here; write the who",
    ),
    ({"data_root": "$SCRATCH/data"}, "data_root: '$SCRATCH/data': '~' and '$' stand for nothing here"),
    (
        {"data_root": "gs://bucket/data"},
        "data_root: 'gs://bucket/data': unknown protocol 'gs'; accepted: s3://bucket/folder, or a folder",
    ),
    (
        {"data_root": "S3://bucket"},
        "data_root: 'S3://bucket': unknown protocol 'S3'; accepted: s3://bucket/f",
    ),
    ({"data_root": "file:///data"}, "data_root: 'file:///data': write the folder itself, '/data'"),
    ({"data_root": "s3://"}, "data_root: 's3://': no bucket is called ''; accepted: s3://bucket/folder"),
    ({"data_root": "s3:///data"}, "data_root: 's3:///data': no bucket is called ''; accepted: s3://buck"),
    ({"data_root": "s3://My_Bucket/a"}, "data_root: 's3://My_Bucket/a': no bucket is called 'My_Bucket'"),
    ({"data_root": "s3://bucket/../b"}, "data_root: 's3://bucket/../b': no folder of a bucket can be '..'"),
    ({"data_root": "s3://bucket//a"}, "data_root: 's3://bucket//a': no folder of a bucket can be ''; accep"),
    ({"data_root": "s3://bucket/{a}"}, "data_root: 's3://bucket/{a}': no folder of a bucket can be '{a}'"),
    ({"data_root": "s3://bucket/é"}, "data_root: 's3://bucket/é': no folder of a bucket can be 'é'"),
    (
        {"data_root": "s3://name:secret@bucket/data"},
        "data_root: an address has no '@', ':' or '?'; credentials and the server are environment variables",
    ),
    ({"results_root": "s3://bucket/results"}, "results_root: an address; accepted: a folder"),
    (
        {"data_root": "data/{dataset}"},
        "data_root: 'data/{dataset}': '{', '}', '*' and '?' are patterns to Sna",
    ),
    ({"results_root": ""}, "results_root: empty; '.' is the working folder"),
    ({"results_root": "x" * 300}, "results_root: a folder's name has at most 255 bytes"),
    ({"results_root": None}, "results_root: input should be a valid string, got None"),
    ({"data_root": ["data"]}, "data_root: input should be a valid string, got ['data']"),
]
VALUES = [
    (
        {"datasets": {"burgers": {"viscosity": float("nan")}}},
        "datasets.burgers.viscosity: nan is no finite number",
    ),
    (
        {"datasets": {"burgers": {"final_time": float("inf")}}},
        "datasets.burgers.final_time: inf is no finite nu",
    ),
    (
        {"datasets": {"burgers": {"viscosity": "inf"}}},
        "datasets.burgers.viscosity: input should be a valid number, got 'inf'",
    ),
    (
        {"datasets": {"burgers": {"viscosity": "0.1/(2*pi)"}}},
        "datasets.burgers.viscosity: input should be a valid number, got '0.1/(2*pi)'",
    ),
    ({"datasets": {"burgers": {"seed": 10**400}}}, "datasets.burgers.seed: an integer of more than 64 bits"),
    ({"datasets": {"burgers": {"seed": 16**5000}}}, "datasets.burgers.seed: an integer of more than 64 bits"),
    (
        {"name": datetime.date(2026, 1, 31)},
        "name: a date; accepted: text, numbers, lists and mappings (put it in quotes)",
    ),
    ({"models": {"fno": {"label": b"FNO"}}}, "models.fno.label: a bytes; accepted: text, numbers, lists and"),
    (
        {"models": {"fno": {"label": "F\nNO"}}},
        "models.fno.label: a line break or another character that cannot",
    ),
    ({"models": {"fno": {"label": "F\ud800"}}}, "models.fno.label: a line break or another character that"),
    ({"models": {"fno": {"label": " "}}}, "models.fno.label: empty, and it is what figures and tables say"),
    (
        {"models": {"fno": {"label": "$\\nu$"}}},
        "models.fno.label: '$\\\\nu$': '$' starts mathematics in figures",
    ),
    (
        {"models": {"fno": {"label": "F" * 10_000}}},
        "models.fno.label: text of 10000 characters, 'FFFFFFFFFFFFFFFFFFFF'...; accepted: at most 500",
    ),
    ({"experiments": {"burgers": {"seeds": ITSELF}}}, "experiments.burgers.seeds.0: contains itself"),
    (
        {"experiments": {"burgers": {"training": {"loader_seed": False}}}},
        "experiments.burgers.training.loader_seed: input should be a valid integer, got False",
    ),
    (
        {"training_threads": True},
        "training_threads: input should be a valid integer, got True",
    ),
    (
        {"models": {"fno": {"training": {False: 1}}}},
        "models.fno.training: a key is text, got False; put it in quotes",
    ),
    ({None: {"burgers": {}}}, "top level: a key is text, got None"),
    ({12: {}}, "12: keys should be strings, got 12"),
    ({"[key]": {}}, "[key]: unknown key '[key]'; accepted: name, data_root"),
    ({"datasets": ["burgers"]}, "datasets: a mapping of keys belongs here, got ['burgers']"),
    (
        {"experiments": {"burgers": "galerkin"}},
        "experiments.burgers: a mapping of keys belongs here, got 'galerkin'",
    ),
    (
        {"experiments": {"burgers": {"training": 100}}},
        "experiments.burgers.training: a mapping of keys belongs here",
    ),
    (
        {"datasets": {"burgers": {"equation": None}}},
        "datasets.burgers.equation: unknown equation 'None'; accepted",
    ),
    (
        {"datasets": {"burgers": {"initial_distribution": "cao_burgers"}}},
        "datasets.burgers.initial_distribution: a mapping of keys belongs here, got 'cao_burgers'",
    ),
    (
        {"experiments": {"burgers": {"resolutions": 128}}},
        "experiments.burgers.resolutions: input should be a valid list, got 128",
    ),
    (
        {"experiments": {"burgers": {"resolutions": [128.5]}}},
        "experiments.burgers.resolutions.0: points along each axis, or the name of a set of times, got 128.5",
    ),
    (
        {"experiments": {"burgers": {"training": {"epochs": "1e2"}}}},
        "experiments.burgers.training.epochs: input should be a valid integer, got '1e2'",
    ),
    (
        {"experiments": {"burgers": {"training": {"gradient_clip": "none"}}}},
        "experiments.burgers.training.gradient_clip: input should be a valid number",
    ),
    (
        {"experiments": {"burgers": {"training": {"peak_fraction": 30}}}},
        "experiments.burgers.training.peak_fraction: input should be less than 1, got 30",
    ),
    (
        {"experiments": {"burgers": {"training": {"schedule": "one_cycle"}}}},
        "experiments.burgers.training.schedule: input should be '1cycle' or 'plateau', got 'one_cycle'",
    ),
    (
        {"models": {"galerkin": {"settings": {"feedforward_dropout": 5}}}},
        "models.galerkin: transformer1d: feedforward_dropout: Input should be less than 1, got 5",
    ),
]
SIZES = [
    (
        {"datasets": {"burgers": {"resolutions": [2, 64]}}},
        "datasets.burgers.resolutions.0: input should be greater than or equal to 4, got 2",
    ),
    (
        {"datasets": {"burgers": {"finest": 2**40}}},
        "datasets.burgers.finest: input should be less than or equal to 1048576, got 1099511627776",
    ),
    (
        {"datasets": {"darcy_cao": {"resolutions": [42100]}}},
        "datasets.darcy_cao.resolutions.0: input should be less than or equal to 16384, got 42100",
    ),
    (
        {"datasets": {"burgers": {"samples": {"train": 10**9}}}},
        "datasets.burgers: samples_per_shard 256 cuts 1000000200 samples into 3906251 jobs; accepted: at mos",
    ),
    (
        {"datasets": {"lorenz63_y": {"observations": {"mine": {"step": 1.0e-9}}}}},
        "datasets.lorenz63_y: observations.mine: 2e+09 steps of 1e-09; accepted: at most 100000",
    ),
    (
        {"datasets": {"lorenz63_y": {"observations": {"mine": {"kind": "random", "count": 10**12}}}}},
        "datasets.lorenz63_y.observations.mine.count: input should be less than or equal to 100000",
    ),
    (
        {"experiments": {"burgers": {"processes": 2, "processes_of": {"fno": 9}}}},
        "experiments.burgers: 9 processes cannot share a batch_size of 8",
    ),
    (
        {"experiments": {"burgers": {"processes": 3, "nodes": 2}}},
        "experiments.burgers: 3 processes cannot be divided evenly among 2 nodes; choose processes: 2",
    ),
    (
        {"experiments": {"burgers": {"processes_of": {"fn": 2}}}},
        "experiments.burgers.processes_of: unknown model 'fn'",
    ),
    (
        {"models": {"fno": {"settings": {"modes": 66}}}},
        "models.fno: for experiments with dataset 'burgers': 66 modes need at least 130 points; got 128",
    ),
    (
        {"models": {"fno2d": {"settings": {"modes": 22}}}},
        "models.fno2d: for experiments with dataset 'darcy_cao': 22 modes need at least 44 points; got 43",
    ),
    (
        {"models": {"fno2d_coarse": {"settings_at": {43: {"modes": 8}}}}},
        "models.fno2d_coarse: for experiments with dataset 'darcy_cao_inverse': 8 modes need at least 16 "
        "points; got 15",
    ),
    (
        {
            "models": {"vit_no": {"settings": {"patches": 7}}},
            "build": {"experiments": ["darcy_lognormal"]},
        },
        "models.vit_no: for experiments with dataset 'darcy_lognormal': patches 7 do not divide 64 points; 6",
    ),
    (
        {
            "models": {"fano_smoothed": {"settings": {"smoother": "learned", "smoother_modes": 64}}},
            "build": {"experiments": ["kolmogorov"]},
        },
        "models.fano_smoothed: for experiments with dataset 'kolmogorov': 64 modes need at least 128 points;",
    ),
    (
        {
            "datasets": {"burgers": {"resolutions": [128, 512, 16]}},
            "build": {"experiments": ["burgers"]},
            "experiments": {"burgers": {"models": ["fno"], "shown": None}},
        },
        "models.fno: for experiments with dataset 'burgers': 16 modes need at least 30 points; got 16",
    ),
    (
        {"models": {"galerkin2d": {"settings_at": {43: {"downsampling_factor": 0.1}}}}},
        "models.galerkin2d: for experiments with dataset 'darcy_cao': downsampling_factor 0.1 leaves 0 of 43",
    ),
    (
        {"models": {"galerkin2d": {"settings_at": {43: {"in_channels": 3}}}}},
        "models.galerkin2d.settings.in_channels: 3 given; dataset 'darcy_cao' has 1; leave it out",
    ),
    (
        {"models": {"galerkin": {"settings": {"num_heads": 5}}}},
        "models.galerkin: transformer1d: width 96 is not divisible by num_heads 5",
    ),
    (
        {"experiments": {"burgers": {"models": ["fno", "fno"], "shown": None}}},
        "experiments.burgers.models: 'fno' is named twice",
    ),
    ({"experiments": {"burgers": {"seeds": [1, 2, 1]}}}, "experiments.burgers.seeds: 1 is named twice"),
    (
        {"experiments": {"burgers": {"seeds": [-1]}}},
        "experiments.burgers.seeds.0: input should be greater than or",
    ),
    (
        {"experiments": {"burgers": {"seeds": [0.5]}}},
        "experiments.burgers.seeds.0: input should be a valid integer, got 0.5",
    ),
    (
        {"experiments": {"burgers": {"seeds": []}}},
        "experiments.burgers.seeds: list should have at least 1 item",
    ),
    (
        {"experiments": {"burgers": {"resolutions": [128, "128"]}}},
        "experiments.burgers.resolutions: 128 is named twice",
    ),
    (
        {"experiments": {"burgers": {"shows": {"cao2021": ["table2a", "table2a", "table2a"]}}}},
        "experiments.burgers.shows.cao2021: 'table2a' is named 3 times",
    ),
    (
        {"datasets": {"controlled_ode": {"samples": {"validation": 0}}}},
        "experiments.controlled_ode.samples.validation: dataset 'controlled_ode' has none",
    ),
]
# Numbers with which no job could do what it is for.
BOUNDS = [
    ({"stall_minutes": 1e-300}, "stall_minutes: input should be greater than or equal to 1, got 1e-300"),
    (
        {"datasets": {"burgers": {"viscosity": 1e300}}},
        "datasets.burgers.viscosity: input should be less than or equal to 1000, got 1e+300",
    ),
    (
        {"datasets": {"kolmogorov": {"accuracy": 2.0}}},
        "datasets.kolmogorov.accuracy: input should be less than or equal to 1, got 2.0",
    ),
    (
        {"datasets": {"burgers": {"num_steps": 10**15}}},
        "datasets.burgers.num_steps: input should be less than or equal to 10000000",
    ),
    *(
        (
            {"experiments": {"burgers": {"training": {key: value}}}},
            f"experiments.burgers.training.{key}: input should be ",
        )
        for key, value in (
            ("epochs", 10**11),
            ("learning_rate", 1e-300),
            ("learning_rate", 1e30),
            ("weight_decay", 1e300),
            ("gradient_clip", 1e-300),
            ("final_division", 1e300),
        )
    ),
]


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize(("change", "message"), NAMES + FOLDERS + VALUES + SIZES + BOUNDS)
def test_a_slip_is_one_line_that_names_the_key(change, message):
    with pytest.raises(ConfigurationError, match=re.escape(message)) as caught:
        load_configuration(merged(DEFAULT, change))
    assert len(str(caught.value).splitlines()) == 1
