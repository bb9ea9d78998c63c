"""Slips of the keyboard, of YAML and of units: each is refused in one line that names the key."""

import datetime

import pytest
from merged_configuration import DEFAULT, ROOT, change_of, merged

from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration

ITSELF = []
ITSELF.append(ITSELF)

# What is changed in the default configuration, the value, words of the answer (names, numbers, what is
# accepted), and the key that the answer names where that is another one.
DATASETS = [
    ("datasets.burgers.viscocity", 0.1, "did you mean 'viscosity'"),
    ("datasets.burgers.viscosity", "thick", "'thick'"),
    ("datasets.burgers.viscosity", -0.1, ("0.000000001", "-0.1")),
    ("datasets.burgers.equation", "burger", "did you mean 'burgers'"),
    ("datasets.burgers.resolutions", [512, 16384], ("8192", "16384"), "datasets.burgers"),
    ("datasets.burgers", {"resolutions": [3000], "restriction": "stride"}, ("8192", "3000", "4096")),
    (
        "datasets.burgers.initial_distribution",
        {"name": "cao_burgers", "gama": 2},
        "did you mean 'gamma'",
        "datasets.burgers.initial_distribution.gama",
    ),
    ("datasets.burgers.samples.test", -1, ("0", "-1")),
    (
        "datasets.controlled_ode.samples",
        {"train": 0, "validation": 0, "test": 0},
        "a dataset has at least one sample",
    ),
    ("datasets.burgers.num_modes", 4096, ("4096", "8192"), "datasets.burgers"),
    ("datasets.darcy_cao.distribution.name", "cao_darci", "'cao_darci'", "datasets.darcy_cao.distribution"),
    ("datasets.darcy_cao.distribution.gamma", 1.0, ("1", "1.0"), "datasets.darcy_cao.distribution"),
    ("datasets.darcy_cao.below", 0, "0"),
    ("datasets.darcy_cao.resolutions", [512], ("512", "421"), "datasets.darcy_cao"),
    ("datasets.darcy_cao.grid", "cell_centres", "solved_on_each_grid", "datasets.darcy_cao"),
    ("datasets.darcy_cao_inverse.coarse", [15, 37, 71], ("37", "141", "140"), "datasets.darcy_cao_inverse"),
    (
        "datasets.lorenz63_y.observations.mine",
        {"kind": "explicit", "times": [0, 1, 1]},
        "1",
        "datasets.lorenz63_y",
    ),
    ("datasets.lorenz63_y.observations.mine.step", 3, "observations.mine: ", "datasets.lorenz63_y"),
    (
        "datasets.lorenz63_y.observations.mine.kind",
        "random",
        "times of kind random take count, and no other key",
        "datasets.lorenz63_y.observations.mine",
    ),
    ("datasets.kolmogorov", {"num_modes": 4, "forcing_wavenumber": 5}, ("4", "5")),
    ("datasets.kolmogorov.resolutions", [64, 65], ("2", "65"), "datasets.kolmogorov"),
    (
        "datasets.lorenz63_y.observations.n12.step",
        0.1,
        "observations.n12: names like n512 are those of grids of space",
        "datasets.lorenz63_y",
    ),
    (
        "datasets.kolmogorov.like",
        "kolmogorov",
        "leads back to where it started: kolmogorov is like kolmogorov",
    ),
    ("datasets.kolmogorov", None, "`build: {datasets: [...]}`"),
    ("datasets.darcy_cao_inverse", {"resolutions": [43, 15], "coarse": [15, 8]}, ("43", "15", "8")),
    (
        "datasets.darcy_cao_inverse.coarse",
        [15, 36],
        "coarse gives one grid for each of resolutions",
        "datasets.darcy_cao_inverse",
    ),
    (
        "datasets.darcy 421.equation",
        "burgers",
        "lower-case letters, digits and '_', at most 64",
        "datasets.darcy 421",
    ),
    (
        "datasets.Burgers.equation",
        "burgers",
        "lower-case letters, digits and '_', at most 64",
        "datasets.Burgers",
    ),
    (
        "datasets.burgers-fine.equation",
        "burgers",
        "lower-case letters, digits and '_', at most 64",
        "datasets.burgers-fine",
    ),
    (
        "datasets",
        {"../burgers": {"equation": "burgers"}},
        "lower-case letters, digits and '_', at most 64",
        "datasets.../burgers",
    ),
    (
        "datasets",
        {"": {"equation": "burgers"}},
        "lower-case letters, digits and '_', at most 64",
        "datasets.",
    ),
    ("datasets.2021.equation", "burgers", "2021", "datasets.2021"),
    (
        "datasets.lorenz63_y.observations.fine times.step",
        0.1,
        "observations.fine times: a name starts with a letter, and has letters, digits,",
        "datasets.lorenz63_y",
    ),
    (
        "datasets.lorenz63_y.observations.é.step",
        0.1,
        "observations.é: a name starts with a letter",
        "datasets.lorenz63_y",
    ),
    ("datasets.burgers.viscosity", "inf", "'inf'"),
    ("datasets.burgers.viscosity", "0.1/(2*pi)", "'0.1/(2*pi)'"),
    ("datasets", ["burgers"], "'burgers'"),
    ("datasets.burgers.equation", None, "'None'"),
    ("datasets.burgers.initial_distribution", "cao_burgers", "'cao_burgers'"),
    ("datasets.burgers.resolutions", [2, 64], ("4", "2"), "datasets.burgers.resolutions.0"),
    ("datasets.burgers.finest", 1099511627776, ("1048576", "1099511627776")),
    ("datasets.darcy_cao.resolutions", [42100], ("16384", "42100"), "datasets.darcy_cao.resolutions.0"),
    ("datasets.burgers.samples.train", 1000000000, "at most", "datasets.burgers"),
    ("datasets.lorenz63_y.observations.mine.step", 1e-09, "at most 100000", "datasets.lorenz63_y"),
    (
        "datasets.lorenz63_y.observations.mine",
        {"kind": "random", "count": 1000000000000},
        "100000",
        "datasets.lorenz63_y.observations.mine.count",
    ),
    ("datasets.burgers.viscosity", 1e300, ("1000", "1e+300")),
    ("datasets.kolmogorov.accuracy", 2.0, ("1", "2.0")),
    ("datasets.burgers.num_steps", 1000000000000000, "10000000"),
]

EXPERIMENTS = [
    ("experiments.burgers.test_dataset", "lorenz63_y", "another dataset of the same equation"),
    ("experiments.burgers.test_dataset", "burgess", "did you mean 'burgers'"),
    ("experiments.darcy", {"training": {"loss": "h1"}, "models": ["galerkin2d"]}, "0, got 0.5"),
    (
        "experiments.burgers.training_of.galerkan",
        {},
        "did you mean 'galerkin'",
        "experiments.burgers.training_of",
    ),
    ("experiments.burgers.training_of.galerkin.epoch", 3, "did you mean 'epochs'"),
    ("experiments.burgers.training.loss_units", "standardised", "pointwise, scalar", "experiments.burgers"),
    (
        "experiments.darcy",
        {"models": ["fno"], "shown": None},
        ("'fno'", "1", "'darcy_cao'"),
        "experiments.darcy.models",
    ),
    (
        "",
        {
            "models": {"coarse": {"label": "C", "architecture": "transformer2d_coarse"}},
            "experiments": {"darcy": {"models": ["coarse"], "shown": None}},
        },
        ("'coarse'", "'darcy_cao'"),
        "experiments.darcy.models",
    ),
    ("experiments.darcy.test_resolutions", [61, 85], ("61", "85", "43")),
    ("experiments.darcy.test_resolutions", [43, 44], ("44", "'darcy_cao'", "421")),
    (
        "experiments.burgers.training.normalisation",
        "pointwise",
        ("'pointwise'", "'burgers'"),
        "experiments.burgers",
    ),
    ("models.fno.training.boundary", "zero", "'zero'", "experiments.burgers"),
    (
        "experiments.burgers",
        {"models": ["galerkn"], "shown": None},
        "did you mean 'galerkin'",
        "experiments.burgers.models",
    ),
    ("experiments.burgers.dataset", "burger", "did you mean 'burgers'"),
    ("experiments.burgers.resolutions", [1024], ("1024", "'burgers'", "128")),
    ("experiments.burgers.samples.test", 101, ("101", "'burgers'", "100")),
    ("experiments.burgers.training.batch_size", 2000, ("2000", "256"), "experiments.burgers"),
    ("experiments.burgers.training_at.512.batchsize", 4, "did you mean 'batch_size'"),
    ("experiments.burgers.shown", "galerkn", "did you mean 'galerkin'"),
    ("experiments.burgers.shows.cao2020", ["table2a"], "did you mean 'cao2021'", "experiments.burgers.shows"),
    ("experiments.burgers.shows.cao2021", ["figure99"], "did you mean 'figure9'"),
    ("experiments.kolmogorov", None, "`build: {experiments: [...]}`"),
    ("experiments.darcy_inverse_noise1.training.noise", 0.1, "the noise is the experiment's"),
    ("experiments.darcy.noise", 0.01, ("'darcy_cao'", "0")),
    ("experiments.burgers.test_noise", [0.0, 0.1], ("'burgers'", "0")),
    ("experiments.darcy_inverse_noise1.noise", -0.01, ("0", "-0.01")),
    ("experiments.darcy_inverse_noise1.test_noise", [0.0, 0.1], ("0.0", "0.1", "0.01")),
    ("experiments.darcy_inverse_noise1.test_noise", [0.01, 0.1, 0.1], "0.1"),
    ("experiments.darcy_inverse_noise1.noise_realisations", 0, ("1", "0")),
    (
        "experiments.darcy_inverse_noise1.test_resolutions",
        [43],
        "an inverse problem is tested on the grids of training; leave it out",
    ),
    (
        "experiments.darcy_inverse_noise1.training.gradient_weight",
        0.1,
        "0.0",
        "experiments.darcy_inverse_noise1",
    ),
    (
        "experiments.darcy_inverse_clean.training.boundary",
        "zero",
        "'free'",
        "experiments.darcy_inverse_clean",
    ),
    ("experiments.darcy_inverse_clean.training_at.43.noise", 0.5, "`experiments.<name>.noise`"),
    (
        "experiments.Darcy",
        {"title": "Any", "dataset": "burgers", "models": ["fno"], "resolutions": [128]},
        "lower-case letters, digits and '_', at most 64",
    ),
    (
        "experiments.theory",
        {"title": "Any", "dataset": "burgers", "models": ["fno"], "resolutions": [128]},
        "'theory'",
    ),
    (
        "experiments.cao2021",
        {"title": "Any", "dataset": "burgers", "models": ["fno"], "resolutions": [128]},
        "'cao2021'",
    ),
    ("experiments.burgers.title", "=HYPERLINK(1)", "'=HYPERLINK(1)'"),
    ("experiments.burgers.training.loader_seed", False, "input should be a valid integer, got False"),
    ("experiments.burgers", "galerkin", "'galerkin'"),
    ("experiments.burgers.training", 100, "a mapping of keys belongs here"),
    ("experiments.burgers.resolutions", 128, "128"),
    ("experiments.burgers.resolutions", [128.5], "128.5", "experiments.burgers.resolutions.0"),
    ("experiments.burgers.training.epochs", "1e2", "'1e2'"),
    ("experiments.burgers.training.gradient_clip", "none", "input should be a valid number"),
    ("experiments.burgers.training.peak_fraction", 30, ("1", "30")),
    ("experiments.burgers.training.schedule", "one_cycle", ("'1cycle'", "'plateau'", "'one_cycle'")),
    ("experiments.burgers", {"processes": 2, "processes_of": {"fno": 9}}, ("9", "8")),
    ("experiments.burgers", {"processes": 3, "nodes": 2}, ("3", "2")),
    ("experiments.burgers.processes_of.fn", 2, "'fn'", "experiments.burgers.processes_of"),
    ("experiments.burgers", {"models": ["fno", "fno"], "shown": None}, "'fno'", "experiments.burgers.models"),
    ("experiments.burgers.seeds", [1, 2, 1], "1"),
    ("experiments.burgers.seeds", [-1], "input should be greater than or", "experiments.burgers.seeds.0"),
    ("experiments.burgers.seeds", [0.5], "0.5", "experiments.burgers.seeds.0"),
    ("experiments.burgers.seeds", [], "1"),
    ("experiments.burgers.resolutions", [128, "128"], "128"),
    ("experiments.burgers.shows.cao2021", ["table2a", "table2a", "table2a"], ("'table2a'", "3")),
    (
        "datasets.controlled_ode.samples.validation",
        0,
        "'controlled_ode'",
        "experiments.controlled_ode.samples.validation",
    ),
    ("experiments.burgers.training.epochs", 100000000000, "input should be "),
    ("experiments.burgers.training.learning_rate", 1e-300, "input should be "),
    ("experiments.burgers.training.learning_rate", 1e30, "input should be "),
    ("experiments.burgers.training.weight_decay", 1e300, "input should be "),
    ("experiments.burgers.training.gradient_clip", 1e-300, "input should be "),
    ("experiments.burgers.training.final_division", 1e300, "input should be "),
]

MODELS = [
    ("models.galerkin.settings.in_channels", 2, ("2", "'burgers'", "1")),
    (
        "models.galerkin2d.settings_at.141.downsampling_factr",
        0.5,
        "did you mean 'downsampling_factor'",
        "models.galerkin2d.settings_at.141",
    ),
    (
        "models.galerkin2d.settings_at.211.downsampling_factor",
        1.5,
        ("1", "1.5"),
        "models.galerkin2d.settings_at.211",
    ),
    ("models.fno.architecture", "fno1", "did you mean 'fno1d'", "models.fno"),
    ("models.galerkin.settings.attentoin", "galerkin", "did you mean 'attention'", "models.galerkin"),
    ("models.galerkin.training.epoch", 3, "did you mean 'epochs'"),
    ("models.mine", {"like": "galerkan", "label": "Mine"}, "did you mean 'galerkin'", "models.mine.like"),
    ("models.mine", {"like": ["galerkin"], "label": "Mine"}, "'galerkin'", "models.mine.like"),
    ("models.transformer2d.setings", {}, "did you mean 'settings'"),
    ("models.afno.recipe", "paper", "none, leave it out"),
    (
        "",
        {"recipes": {"afno": {"paper": {}}}, "models": {"afno": {"recipe": "code"}}},
        "paper",
        "models.afno.recipe",
    ),
    ("models.fno.recipe", "paper_and_code", ("'paper'", "'code'", "'paper_and_code'")),
    ("models.fano", None, "null removes nothing; a model is trained where an"),
    ("models.fno2d_fine.training.noise", 0.1, "`experiments.<name>.noise`"),
    ("models.fno2d_fine.grids", "stored", "fine, coarse"),
    ("models.galerkin2d_coarse.grids", "fine", "stored"),
    ("experiments.darcy.models", ["fno2d_fine"], "stored", "models.fno2d_fine.grids"),
    ("models.fno2d_fine.grids", "finest", ("'stored'", "'fine'", "'coarse'")),
    ("models.linear2d_coarse.settings_at.43.downsampling_factor", 0.51, "0.6", "models.linear2d_coarse"),
    ("models.linear2d_coarse.settings_at.43.downsampling_factor", 0.01, "0.6", "models.linear2d_coarse"),
    (
        "models.cao/fno",
        {"label": "Any", "architecture": "fno1d"},
        "lower-case letters, digits and '_', at most 64",
    ),
    (
        "models.σ_model",
        {"label": "Any", "architecture": "fno1d"},
        "lower-case letters, digits and '_', at most 64",
    ),
    (
        "models.{model}",
        {"label": "Any", "architecture": "fno1d"},
        "lower-case letters, digits and '_', at most 64",
    ),
    (
        "models.mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm",
        {"label": "Any", "architecture": "fno1d"},
        "lower-case letters, digits and '_', at most 64",
        "",
    ),
    ("models.figures", {"label": "Any", "architecture": "fno1d"}, "'figures'"),
    ("models.con", {"label": "Any", "architecture": "fno1d"}, "'con'"),
    ("models.nul", {"label": "Any", "architecture": "fno1d"}, "'nul'"),
    ("models.aux", {"label": "Any", "architecture": "fno1d"}, "'aux'"),
    ("models.prn", {"label": "Any", "architecture": "fno1d"}, "'prn'"),
    ("models.com1", {"label": "Any", "architecture": "fno1d"}, "'com1'"),
    ("models.lpt9", {"label": "Any", "architecture": "fno1d"}, "'lpt9'"),
    ("models.fno.label", "=1+1", ("'=1+1'", "'='")),
    ("models.fno.label", "+1+1", ("'+1+1'", "'+'")),
    ("models.fno.label", "-1+1", ("'-1+1'", "'-'")),
    ("models.fno.label", "@1+1", ("'@1+1'", "'@'")),
    ("models.fno.label", b"FNO", "text, numbers, lists and"),
    ("models.fno.label", "F\nNO", "a line break or another character that cannot"),
    ("models.fno.label", "F\ud800", "a line break or another character that"),
    ("models.fno.label", " ", "empty, and it is what figures and tables say"),
    ("models.fno.label", "$\\nu$", ("'$\\\\nu$'", "'$'")),
    ("models.fno.training", {False: 1}, "a key is text, got False; put it in quotes"),
    ("models.galerkin.settings.feedforward_dropout", 5, ("1", "5"), "models.galerkin"),
    ("models.fno.settings.modes", 66, ("'burgers'", "66", "130"), "models.fno"),
    ("models.fno2d.settings.modes", 22, ("'darcy_cao'", "22", "44"), "models.fno2d"),
    (
        "models.fno2d_coarse.settings_at.43.modes",
        8,
        ("'darcy_cao_inverse'", "8", "16"),
        "models.fno2d_coarse",
    ),
    (
        "",
        {"models": {"vit_no": {"settings": {"patches": 7}}}, "build": {"experiments": ["darcy_lognormal"]}},
        ("'darcy_lognormal'", "7", "64"),
        "models.vit_no",
    ),
    (
        "",
        {
            "models": {"fano_smoothed": {"settings": {"smoother": "learned", "smoother_modes": 64}}},
            "build": {"experiments": ["kolmogorov"]},
        },
        ("'kolmogorov'", "64", "128"),
        "models.fano_smoothed",
    ),
    (
        "",
        {
            "datasets": {"burgers": {"resolutions": [128, 512, 16]}},
            "build": {"experiments": ["burgers"]},
            "experiments": {"burgers": {"models": ["fno"], "shown": None}},
        },
        ("'burgers'", "16", "30"),
        "models.fno",
    ),
    (
        "models.galerkin2d.settings_at.43.downsampling_factor",
        0.1,
        ("'darcy_cao'", "0.1", "0"),
        "models.galerkin2d",
    ),
    (
        "models.galerkin2d.settings_at.43.in_channels",
        3,
        ("3", "'darcy_cao'", "1"),
        "models.galerkin2d.settings.in_channels",
    ),
    ("models.galerkin.settings.num_heads", 5, ("96", "5"), "models.galerkin"),
]

OTHER = [
    ("cost.points", 8, ("32", "8")),
    ("name", "My results", "lower-case"),
    ("experimens", {}, "did you mean 'experiments'"),
    ("name", "nul", "'nul'"),
    ("name", "my/results", "lower-case letters, digits and '_', at most 64"),
    ("data_root", "../data", "'../data'"),
    ("data_root", "data/../../elsewhere", "'data/../../elsewhere'"),
    ("results_root", "workflow", "'workflow'"),
    ("results_root", "resolvent/figures", ("'resolvent/figures'", "'resolvent'")),
    ("results_root", "results/../docs", ("'results/../docs'", "'docs'")),
    ("results_root", str(ROOT / "profiles"), (f"'{ROOT / 'profiles'}'", "'workflow'")),
    ("", {"results_root": ".", "name": "config"}, "'config'", "results_root"),
    ("data_root", "tests/data", ("'tests/data'", "'tests'")),
    ("results_root", "..", "'..'"),
    ("data_root", "/dev/null", "a folder"),
    ("results_root", "/dev/null/results", "'/dev/null'"),
    ("results_root", "~/results", ("'~/results'", "'~'", "'$'")),
    ("data_root", "$SCRATCH/data", ("'$SCRATCH/data'", "'~'", "'$'")),
    ("data_root", "gs://bucket/data", "s3://bucket/folder"),
    ("data_root", "S3://bucket", "s3://bucket/f"),
    ("data_root", "file:///data", "'file:///data'"),
    ("data_root", "s3://", "s3://bucket/folder"),
    ("data_root", "s3:///data", "s3://buck"),
    ("data_root", "s3://My_Bucket/a", "'s3://My_Bucket/a'"),
    ("data_root", "s3://bucket/../b", "'s3://bucket/../b'"),
    ("data_root", "s3://bucket//a", "'s3://bucket//a'"),
    ("data_root", "s3://bucket/{a}", "'s3://bucket/{a}'"),
    ("data_root", "s3://bucket/é", "'s3://bucket/é'"),
    ("data_root", "s3://name:secret@bucket/data", ("'@'", "':'", "'?'")),
    ("results_root", "s3://bucket/results", "a folder"),
    ("data_root", "data/{dataset}", ("'data/{dataset}'", "'{'", "'}'")),
    ("results_root", "", "'.'"),
    ("results_root", "x" * 300, "255"),
    ("results_root", None, "input should be a valid string, got None"),
    ("data_root", ["data"], "'data'"),
    ("training_threads", True, "input should be a valid integer, got True"),
    ("", {None: {"burgers": {}}}, "top level: a key is text, got None"),
    ("12", {}, "12"),
    ("[key]", {}, "name, data_root"),
    ("stall_minutes", 1e-300, ("1", "1e-300")),
]

BUILD = [
    ("build.experiments", ["burger"], "'burger'"),
    ("build.dataset", ["burgers"], "did you mean 'datasets'"),
    ("build", ["burgers"], "'burgers'"),
]

RECIPES = [
    ("recipes.fno3d.paper", {}, "did you mean 'fno2d'", "recipes.fno3d"),
    ("recipes.fno1d.code.setting", {}, "did you mean 'settings'"),
    ("recipes.fno1d.code.settings.mode", 3, "did you mean 'modes'", "recipes.fno1d.code.settings"),
    ("recipes.fno1d.paper.training.epoch", 3, "did you mean 'epochs'"),
    (
        "recipes.transformer1d.paper.by.atention",
        {},
        "did you mean 'attention'",
        "recipes.transformer1d.paper.by",
    ),
    (
        "recipes.transformer1d.paper.by.attention.galerkim",
        {},
        "did you mean 'galerkin'",
        "recipes.transformer1d.paper.by.attention",
    ),
]
PLAIN = [
    ("datasets.burgers.viscosity", float("nan"), "no finite number"),
    ("datasets.burgers.final_time", float("inf"), "no finite number"),
    ("datasets.burgers.seed", 10**400, "64 bits"),
    ("datasets.burgers.seed", 10**5000, "64 bits"),
    ("name", datetime.date(2026, 1, 31), "text, numbers, lists and mappings"),
    ("models.fno.label", "F" * 10000, ("10000", "'FFFFFFFFFFFFFFFFFFFF'", "at most 500")),
    ("experiments.burgers.seeds", ITSELF, "contains itself", "experiments.burgers.seeds.0"),
]


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("case", [*DATASETS, *EXPERIMENTS, *MODELS, *OTHER, *BUILD, *RECIPES, *PLAIN])
def test_a_slip_is_one_line_that_names_the_key_and_what_is_accepted(case):
    path, value, words, key = (*case, case[0])[:4]
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(merged(DEFAULT, change_of(path, value)))
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{key}:" if key else "")
    for word in [words] if isinstance(words, str) else words:
        assert word in line
