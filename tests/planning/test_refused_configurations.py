"""Slips of the keyboard, of YAML and of units: each is refused in one line that names the key."""

import datetime
from importlib.metadata import version

import pytest
from merged_configuration import ROOT, change_of, loaded, problems

from resolvent.models import registry
from resolvent.planning.versions import of_architecture

ANY = {"label": "Any", "architecture": "fno1d"}
OF_FNO = {"title": "Any", "dataset": "burgers", "models": ["fno"], "resolutions": [128]}
# What is changed in the default configuration, the value, what the answer says is accepted or does not fit,
# and the key that it names where that is another one.
# fmt: off
SLIPS = [
    # datasets
    ("datasets.burgers.viscocity", 0.1, "did you mean 'viscosity'"),
    ("datasets.burgers.viscosity", "thick", "a valid number, got 'thick'"),
    ("datasets.burgers.equation", "burger", "did you mean 'burgers'"),
    ("datasets.burgers.resolutions", [512, 16384],
     "8192 points cannot be restricted spectrally to 16384", "datasets.burgers"),
    ("datasets.burgers.initial_distribution", {"name": "cao_burgers", "gama": 2},
     "did you mean 'gamma'", "datasets.burgers.initial_distribution.gama"),
    ("datasets.controlled_ode.samples", {"train": 0, "validation": 0, "test": 0},
     "a dataset has at least one sample"),
    ("datasets.burgers.num_modes", 4096, "4096 is too large for finest 8192; accepted", "datasets.burgers"),
    ("datasets.darcy_cao.distribution.name", "cao_darci",
     "accepted: cao_darcy, ", "datasets.darcy_cao.distribution"),
    ("datasets.darcy_cao.distribution.gamma", 1.0,
     "1 on the square, or the variance is infinite; got 1.0", "datasets.darcy_cao.distribution"),
    ("datasets.darcy_cao.resolutions", [512], "512 is above the finest grid, 421", "datasets.darcy_cao"),
    ("datasets.darcy_cao_inverse.coarse", [15, 37, 71],
     "37 cell centres are not nested in 141: 36 intervals", "datasets.darcy_cao_inverse"),
    ("datasets.lorenz63_y.observations.mine", {"kind": "explicit", "times": [0, 1, 1]},
     "positions must increase, but 1 follows 1", "datasets.lorenz63_y"),
    ("datasets.lorenz63_y.observations.mine.kind", "random",
     "times of kind random need the key count, and no other key", "datasets.lorenz63_y.observations.mine"),
    ("datasets.kolmogorov", {"num_modes": 4, "forcing_wavenumber": 5},
     "num_modes 4 is too small; accepted: at least forcing_wavenumber, 5"),
    ("datasets.kolmogorov.resolutions", [64, 65], "2; got 65", "datasets.kolmogorov"),
    ("datasets.lorenz63_y.observations.n12.step", 0.1,
     "observations.n12: names like n512 are reserved for grids of space", "datasets.lorenz63_y"),
    ("datasets.kolmogorov.like", "kolmogorov",
     "circular: kolmogorov is like kolmogorov"),
    ("datasets.darcy_cao_inverse", {"resolutions": [43, 15], "coarse": [15, 8]}, "43, 15] and coarse [15, 8"),
    ("datasets.darcy_cao_inverse.coarse", [15, 36],
     "coarse must have one grid for each entry of resolutions", "datasets.darcy_cao_inverse"),
    ("datasets.darcy 421.equation", "burgers",
     "should match pattern '^[a-z0-9_]{1,64}$'", "datasets.darcy 421"),
    ("datasets", {"../burgers": {"equation": "burgers"}},
     "should match pattern '^[a-z0-9_]{1,64}$'", "datasets.../burgers"),
    ("datasets.2021.equation", "burgers", "a valid string, got 2021", "datasets.2021"),
    ("datasets.lorenz63_y.observations.fine times.step", 0.1,
     "observations.fine times: a name starts with a letter, and has only letters,", "datasets.lorenz63_y"),
    ("datasets.burgers.equation", None, "accepted: burgers, darcy, "),
    ("datasets.burgers.initial_distribution", "cao_burgers", "'cao_burgers'"),
    ("datasets.burgers.resolutions", [2, 64], "greater than or equal to 4", "datasets.burgers.resolutions.0"),
    ("datasets.burgers.samples.train", 1000000000, "accepted: at most 100000", "datasets.burgers"),
    ("datasets.lorenz63_y.observations.mine.step", 1e-09, "accepted: at most 100000", "datasets.lorenz63_y"),
    ("datasets.lorenz63_y", {"final_time": 30.0}, "at final_time 30; or final_time 20.4 or less"),
    ("datasets.burgers.final_time", 1e9, "accepted at viscosity 0.0159155: at most 15.9", "datasets.burgers"),
    ("datasets.burgers.viscosity_to", 0.001, "0.001 must exceed viscosity 0.0159155;", "datasets.burgers"),
    ("datasets.burgers.viscosity_to", "thick", "a valid number, got 'thick'"),
    ("datasets.kolmogorov.spin_up_time", 1e9, "is killed after 120 minutes", "datasets.kolmogorov"),
    ("datasets.controlled_ode.num_terms", 10**9, "is killed after 120 minutes", "datasets.controlled_ode"),
    ("datasets.burgers.initial_distribution", {"name": "cao_burgers", "tau": 1e300},
     "give functions of size 0; accepted in single precision: 1e-30 to 1e+30"),
    # experiments
    ("experiments.burgers.test_dataset", "lorenz63_y", "accepted: another dataset of the same equation"),
    ("experiments.burgers.stress.amplitude", [1e6], "modes, 42"),
    ("experiments.burgers.stress.viscosity", [1e6],
     "1e+06: dataset 'burgers': Input should be less than or equal to 1000"),
    ("experiments.burgers.stress.samples", 1000000, "1000000 asked for; the experiment has 100 test samples"),
    ("", {"datasets": {"other": {"like": "burgers", "viscosity": 0.5}}, "build": {"experiments": ["burgers"]},
          "experiments": {"burgers": {"test_dataset": "other", "stress": {"viscosity": [2.0]}}}},
     "accepted: a test_dataset of the same distribution, or no shifts", "experiments.burgers.stress"),
    ("", {"build": {"experiments": ["lorenz63_yz"]},
          "experiments": {"lorenz63_yz": {"test_dataset": "lorenz63_y"}}},
     "'lorenz63_y' does not fit 'lorenz63_yz': inputs 1; accepted: 3",
     "experiments.lorenz63_yz.test_dataset"),
    ("", {"experiments": {"darcy": {"test_dataset": "darcy_cao_nodes", "test_resolutions": None}}},
     "'darcy_cao_nodes' does not fit 'darcy_cao': grid nodes; accepted: cell_centres",
     "experiments.darcy.test_dataset"),
    ("", {"models": {"one": {"label": "One", "architecture": "afno"}},
          "experiments": {"darcy": {"models": ["one"], "shown": None, "test_resolutions": [61, 85]}}},
     "[61, 85] lacks the training resolution 43, on which alone 'one' (afno) can be tested",
     "experiments.darcy.test_resolutions"),
    ("experiments.darcy", {"test_resolutions": [61], "training": {"record_test_error": True}},
     "errors of the training resolution 43, not tested ([61]); accepted: false"),
    ("", {"build": {"experiments": ["darcy"]}, "datasets": {"other": {"like": "darcy_cao", "seed": 5}},
          "experiments": {"darcy": {"test_dataset": "other", "training": {"record_test_error": True}}}},
     "on test samples of 'darcy_cao', not of test_dataset 'other'; accepted: false", "experiments.darcy"),
    ("experiments.darcy", {"training": {"loss": "h1"}, "models": ["galerkin2d"]}, "gradient_weight: 0"),
    ("experiments.darcy.training", {"loss": "energy"}, "gradient_weight: 0", "experiments.darcy"),
    ("experiments.burgers.training", {"loss": "energy", "gradient_weight": 0},
     "only for Darcy flow that is solved here, not for 'burgers'", "experiments.burgers"),
    ("experiments.darcy_inverse_clean.training.loss", "energy",
     "not for 'darcy_cao_inverse'", "experiments.darcy_inverse_clean"),
    ("", {"experiments": {"darcy": {"dataset": "darcy_cao_nodes", "test_resolutions": None, "training": {
        "loss": "energy", "gradient_weight": 0, "boundary": "free"}}}},
     "loss energy on nodes needs boundary 'zero', got 'free'", "experiments.darcy"),
    ("experiments.darcy.training", {"loss": "energy", "gradient_weight": 0, "loss_units": "standardised"},
     "accepted loss_units: 'physical'", "experiments.darcy"),
    ("experiments.controlled_ode.training.augment", "symmetries",
     "none are known for 'controlled_ode'; accepted: 'none'", "experiments.controlled_ode"),
    ("experiments.burgers.training_of.galerkan", {},
     "did you mean 'galerkin'", "experiments.burgers.training_of"),
    ("experiments.burgers.training_of.galerkin.epoch", 3, "did you mean 'epochs'"),
    ("experiments.burgers.training.loss_units", "standardised",
     "accepted: pointwise, scalar", "experiments.burgers"),
    ("experiments.burgers.training", {"loss_units": "standardised", "normalisation": "scalar"},
     "accepted gradient_weight: 0, got 0.1", "experiments.burgers"),
    ("experiments.burgers.training", {"epochs": 1, "batch_size": 64, "peak_fraction": 0.25},
     "peak_fraction 0.25 of 4 steps", "experiments.burgers"),
    ("experiments.burgers", {"training": {"batch_size": 64, "peak_fraction": 0.125},
                             "tuning": {"epochs": 2, "learning_rate": [1e-3, 1e-4]}},
     "peak_fraction 0.125 of 8 steps"),
    ("experiments.darcy", {"models": ["fno"], "shown": None},
     "'fno' (fno1d) takes functions of 1 variable(s), but dataset 'darcy_cao'", "experiments.darcy.models"),
    ("", {"models": {"coarse": {"label": "C", "architecture": "transformer2d_coarse"}},
      "experiments": {"darcy": {"models": ["coarse"], "shown": None}}},
     "'coarse' (transformer2d_coarse) predicts on a coarser grid than", "experiments.darcy.models"),
    ("experiments.darcy.test_resolutions", [], "at least 1 item after validation, not 0, got []"),
    ("experiments.darcy.test_resolutions", [43, 44], "44 is not stored; dataset 'darcy_cao' has 421"),
    ("experiments.burgers.training.normalisation", "pointwise",
     "'pointwise' is only for functions on nodes or nested cell centres of a square; 'burgers' has",
     "experiments.burgers"),
    ("experiments.burgers", {"models": ["galerkn"], "shown": None},
     "did you mean 'galerkin'", "experiments.burgers.models"),
    ("experiments.burgers.resolutions", [1024], "1024 is not stored; dataset 'burgers' has 128"),
    ("experiments.burgers.samples.test", 101, "101 asked for; dataset 'burgers' has 100"),
    ("experiments.burgers.training.batch_size", 2000, "2000 is more than the 256", "experiments.burgers"),
    ("experiments.burgers.training_at.512.batchsize", 4, "did you mean 'batch_size'"),
    ("experiments.burgers.shows.cao2020", ["table2a"], "did you mean 'cao2021'", "experiments.burgers.shows"),
    ("experiments.burgers.shows.cao2021", ["figure99"], "did you mean 'figure9'"),
    ("experiments.darcy_inverse_noise1.training.noise", 0.1, "unknown key 'noise'"),
    ("experiments.darcy.noise", 0.01, "accepted: 0"),
    ("experiments.burgers.test_noise", [0.0, 0.1], "accepted: 0"),
    ("experiments.darcy_inverse_noise1.test_noise", [0.0, 0.1],
     "0.0, 0.1] lacks the training noise 0.01"),
    ("experiments.darcy_inverse_noise1.test_resolutions", [43],
     "inverse problems are tested on the training grids; remove this key"),
    ("experiments.darcy_inverse_noise1.training.gradient_weight", 0.1,
     "accepted: 0.0", "experiments.darcy_inverse_noise1"),
    ("experiments.darcy_inverse_clean.training.boundary", "zero",
     "accepted: 'free'", "experiments.darcy_inverse_clean"),
    ("experiments.Darcy", OF_FNO, "should match pattern '^[a-z0-9_]{1,64}$'"),
    ("experiments.assets", OF_FNO, "'assets'"),
    ("experiments.cao2021", OF_FNO, "'cao2021'"),
    ("experiments.burgers.training.loader_seed", False, "a valid integer, got False"),
    ("experiments.burgers.training", 100, "expected a mapping of keys"),
    ("experiments.burgers.resolutions", 128, "expected a list, got 128; write [128]"),
    ("experiments.burgers.resolutions", [128.5],
     "the name of a set of times, got 128.5", "experiments.burgers.resolutions.0"),
    ("experiments.burgers.training.schedule", "one_cycle", "'1cycle' or 'plateau', got 'one_cycle'"),
    ("experiments.burgers", {"processes": 2, "processes_of": {"fno": 9}},
     "9 processes cannot share a batch_size of 8"),
    ("experiments.burgers", {"processes": 3, "nodes": 2}, "3 processes cannot be divided evenly among 2"),
    ("experiments.burgers.processes_of.fn", 2, "did you mean 'fno'", "experiments.burgers.processes_of"),
    ("experiments.burgers", {"models": ["fno", "fno"], "shown": None},
     "'fno' is named twice", "experiments.burgers.models"),
    ("experiments.burgers.seeds", [1, 2, 1], "1 is named twice"),
    ("experiments.burgers.shows.cao2021", ["table2a", "table2a", "table2a"], "'table2a' is named 3"),
    ("datasets.controlled_ode.samples.validation", 0,
     "'controlled_ode'", "experiments.controlled_ode.samples.validation"),
    ("experiments.burgers.stress.viscosity", [0.5, 1], "1 is the training distribution"),
    # models
    ("models.galerkin.settings.in_channels", 2, "2, but dataset 'burgers' has 1; remove the setting"),
    ("models.galerkin2d.settings_at.141.downsampling_factr", 0.5,
     "did you mean 'downsampling_factor'", "models.galerkin2d.settings_at.141"),
    ("models.fno.architecture", "fno1", "did you mean 'fno1d'", "models.fno"),
    ("models.galerkin.settings.attentoin", "galerkin", "did you mean 'attention'", "models.galerkin"),
    ("models.galerkin.training.epoch", 3, "did you mean 'epochs'"),
    ("models.mine", {"like": "galerkan", "label": "Mine"}, "did you mean 'galerkin'", "models.mine.like"),
    ("models.fno.setings", {}, "did you mean 'settings'"),
    ("models.afno.recipe", "paper", "accepted: none, remove this key"),
    ("", {"recipes": {"afno": {"paper": {}}}, "models": {"afno": {"recipe": "code"}}},
     "accepted: paper", "models.afno.recipe"),
    ("models.fno.recipe", "paper_and_code", "'paper' or 'code', got 'paper_and_code'"),
    ("models.fano", None, "expected a mapping of keys"),
    ("models.fno2d_fine.grids", "stored", "accepted: fine, coarse"),
    ("experiments.darcy.models", ["fno2d_fine"], "accepted: stored", "models.fno2d_fine.grids"),
    ("models.fno2d_fine.grids", "finest", "'stored', 'fine' or 'coarse'"),
    ("models.linear2d_coarse.settings_at.43.downsampling_factor", 0.51,
     "accepted: 0.6", "models.linear2d_coarse"),
    ("models.{model}", ANY, "should match pattern '^[a-z0-9_]{1,64}$'"),
    ("models.figures", ANY, "'figures'"),
    ("models.fno.label", b"FNO", "accepted: text, numbers, lists and mappings"),
    ("models.fno.label", "F\nNO", "a line break or another unprintable character"),
    ("models.fno.label", " ", "empty, but shown in figures and tables"),
    ("models.fno.label", "$\\nu$", "'$\\\\nu$': '$'"),
    ("models.fno.training", {False: 1}, "keys must be text, got False; put it in quotes"),
    ("models.fno.settings.modes", 66, "'burgers': 66 modes need at least 130", "models.fno"),
    ("models.fno2d_coarse.settings_at.43.modes", 8,
     "'darcy_cao_inverse': 8 modes need at least 16", "models.fno2d_coarse"),
    ("", {"models": {"vit_no": {"settings": {"patches": 7}}}, "build": {"experiments": ["darcy_lognormal"]}},
     "'darcy_lognormal': 7 x 7 patches need sides that they divide", "models.vit_no"),
    ("", {"models": {"fano_smoothed": {"settings": {"smoother": "learned", "smoother_modes": 64}}},
      "build": {"experiments": ["kolmogorov"]}},
     "'kolmogorov': 64 modes need at least 128", "models.fano_smoothed"),
    ("", {"datasets": {"burgers": {"resolutions": [128, 512, 16]}},
      "build": {"experiments": ["burgers"]}, "experiments": {"burgers": {"models": ["fno"], "shown": None}}},
     "'burgers': 16 modes need at least 30", "models.fno"),
    ("models.galerkin2d.settings_at.43.downsampling_factor", 0.1,
     "'darcy_cao': downsampling_factor 0.1", "models.galerkin2d"),
    ("models.galerkin2d.settings_at.43.in_channels", 3,
     "3, but dataset 'darcy_cao' has 1; remove the setting", "models.galerkin2d.settings.in_channels"),
    ("models.galerkin.settings.num_heads", 5, "96 is not divisible by num_heads 5", "models.galerkin"),
    # other
    ("name", "My results", "should match pattern '^[a-z0-9_]{1,64}$'"),
    ("experimens", {}, "did you mean 'experiments'"),
    ("data_root", "data/../../elsewhere", "is outside the working folder"),
    ("data_root", "/dev/null", "accepted: a folder, existing or new"),
    ("results_root", "", "'.' is the working folder"),
    ("results_root", "~/results", "'~/results': '~' and '$'"),
    ("data_root", "file:///data", "or a local folder"),
    ("data_root", "s3://", "accepted: s3://bucket/folder (bucket: 3"),
    ("data_root", "s3://bucket/{a}", "accepted: s3://bucket/folder (bucket: 3"),
    ("data_root", "s3://name:secret@bucket/data", "'@', ':' or '?'"),
    ("results_root", "s3://bucket/results", "accepted: a folder"),
    ("data_root", "data/{dataset}", "'data/{dataset}': '{', '}'"),
    ("results_root", None, "a valid string, got None"),
    ("", {None: {"burgers": {}}}, "keys must be text, got None; put it in quotes", "top level"),
    ("12", {}, "keys should be strings, got 12"),
    ("[key]", {}, "accepted: name, data_root, "),
    # build
    ("build.dataset", ["burgers"], "did you mean 'datasets'"),
    # recipes
    ("recipes.fno2dd.paper", {}, "did you mean 'fno2d'", "recipes.fno2dd"),
    ("recipes.fno1d.code.setting", {}, "did you mean 'settings'"),
    ("recipes.fno1d.paper.training.epoch", 3, "did you mean 'epochs'", "models.fno.training.epoch"),
    ("recipes.transformer1d.paper.by.atention", {},
     "did you mean 'attention'", "recipes.transformer1d.paper.by"),
    ("recipes.transformer1d.paper.by.attention.galerkim", {},
     "did you mean 'galerkin'", "recipes.transformer1d.paper.by.attention"),
    # plain
    ("datasets.burgers.viscosity", float("nan"), "not a finite number"),
    ("datasets.burgers.seed", 10**400, "an integer of more than 64 bits"),
    ("name", datetime.date(2026, 1, 31), "accepted: text, numbers, lists and mappings"),
    ("models.fno.label", "F" * 10000, "accepted: at most 500"),
]  # fmt: skip
# fmt: on


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_one_line_that_names_the_key_and_what_is_accepted(slip, monkeypatch):
    monkeypatch.chdir(ROOT)
    path, value, words, key = (*slip, slip[0])[:4]
    (line,) = problems(change_of(path, value))
    assert line.startswith(f"{key}: ")
    assert words in line


ON_A_SQUARE = {
    "equation": "arrays", "source": "own.npz", "input": "a", "target": "u", "axes": ["sample", "y", "x"],
    "finest": 33, "grid": "nodes",
}  # fmt: skip
ON_A_LINE = {"axes": ["sample", "x"]}
ON_A_RECTANGLE = {"length": {"y": 1, "x": 2}}
POINTWISE, ZERO = {"normalisation": "pointwise"}, {"boundary": "zero"}
OF_A_COEFFICIENT, AS_CODED = {"gradient_coefficient": "input"}, {"target_gradient": "public_code"}
# Changes of the dataset, training settings, and what the answer says; "" if they are accepted.
OWN_DATA = [
    ({"target": ["u", "v"]}, {}, "gradient_weight 0.1 needs a single target, but 'own' has 2; accepted: 0"),
    ({"target": ["u", "v"]}, {"gradient_weight": 0, **OF_A_COEFFICIENT, **POINTWISE, **ZERO}, ""),
    (ON_A_RECTANGLE | {"target": ["u", "v"]}, {}, ""),
    (ON_A_RECTANGLE | {"target": ["u", "v"]}, OF_A_COEFFICIENT, "'input' needs a single input and target"),
    ({"input": ["a", "b"]}, OF_A_COEFFICIENT, "'input' needs a single input and target, but 'own' has 2"),
    ({}, OF_A_COEFFICIENT, ""),
    (ON_A_LINE, OF_A_COEFFICIENT, ""),
    (
        ON_A_LINE,
        POINTWISE,
        "'pointwise' is only for functions on nodes or nested cell centres of a square; 'own' has another",
    ),
    (
        ON_A_LINE,
        ZERO,
        "'zero' is only for functions on nodes or nested cell centres of a square; 'own' has another grid",
    ),
    (ON_A_RECTANGLE, POINTWISE | ZERO, ""),
    (ON_A_LINE, AS_CODED, ""),
    (ON_A_RECTANGLE, AS_CODED, "'public_code' needs axes that are alike, but 'own' has unlike axes"),
    (ON_A_RECTANGLE, AS_CODED | {"gradient_weight": 0}, ""),
    ({}, {"loss": "energy", "gradient_weight": 0}, "loss energy is only for Darcy flow that is solved here"),
    ({}, {"augment": "symmetries"}, "augment symmetries: none are known for 'own'; accepted: 'none'"),
]


@pytest.mark.parametrize(("changes", "training", "words"), OWN_DATA)
def test_training_settings_that_do_not_fit_own_data_are_refused(changes, training, words, monkeypatch):
    monkeypatch.chdir(ROOT)
    dataset = ON_A_SQUARE | changes
    model = {"label": "Own", "architecture": "fno1d" if "y" not in dataset["axes"] else "fno2d"}
    experiment = {
        "title": "Own", "dataset": "own", "models": ["own"], "resolutions": [33], "training": training
    }  # fmt: skip
    change = {"datasets": {"own": dataset}, "models": {"own": model}, "experiments": {"own": experiment}}
    change["build"] = {"experiments": ["own"]}
    if not words:
        loaded(change)
        return
    (line,) = problems(change)
    assert line.startswith("experiments.own: ")
    assert words in line


def test_an_experiment_says_which_package_its_models_need(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(registry, "version", lambda name: version(f"{name}-that-is-missing"))
    lines = problems()
    assert lines[0].startswith(
        "experiments.darcy_lognormal.models: 'fno_package': architecture 'neuraloperator2d' "
    )
    assert all(line.endswith("pip install -c constraints.txt -e '.[neuraloperator]'") for line in lines)
    loaded({"build": {"experiments": ["burgers"]}})
    of_architecture.cache_clear()
    assert not [name for name in of_architecture("neuraloperator2d") if "==" in name]
    of_architecture.cache_clear()
