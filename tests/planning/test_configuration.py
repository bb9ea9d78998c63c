"""Bad configuration: one line that names the key, what is wrong and what is accepted."""

import re

import pytest
import yaml
from merged_configuration import DEFAULT, ROOT, merged

from resolvent.figures.papers.cao2021.reported import TABLE_8
from resolvent.figures.published.tables import reported_rows
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import DEFAULTS
from resolvent.planning.configuration.settings import model_settings, training_settings

OVERLAYS = [
    path for path in sorted((ROOT / "config").glob("*.yaml")) if f"config/{path.name}" not in DEFAULTS
]


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.stem)
def test_every_configuration_of_the_project_is_valid(overlay):
    configuration = load_configuration(merged(DEFAULT, yaml.safe_load(overlay.read_text())))
    assert configuration.name == overlay.stem


def test_the_papers_setting_is_what_the_paper_says():
    overlay = yaml.safe_load((ROOT / "config/cao2021.yaml").read_text())
    configuration = load_configuration(merged(DEFAULT, overlay))
    experiment, dataset = configuration.experiments["burgers"], configuration.datasets["burgers"]
    assert experiment.resolutions == [512, 2048, 8192]
    assert 1127802 in experiment.seeds
    assert len(experiment.seeds) >= 3
    assert (dataset.samples.train, dataset.samples.test) == (1024, 1000)
    assert experiment.samples.train == 1024
    assert experiment.training.epochs == 100
    assert experiment.training_at == {8192: {"batch_size": 4}}
    assert dataset.viscosity == pytest.approx(0.1 / (2 * 3.141592653589793), rel=1e-15)
    distribution = dataset.initial_distribution
    assert (distribution.sigma, distribution.tau, distribution.gamma, distribution.zero_mean) == (
        25,
        5,
        2,
        True,
    )


def test_the_papers_darcy_setting_is_what_the_paper_says():
    overlay = yaml.safe_load((ROOT / "config/cao2021.yaml").read_text())
    configuration = load_configuration(merged(DEFAULT, overlay))
    experiment = configuration.experiments["darcy"]
    assert experiment.resolutions == [141, 211]
    assert experiment.samples.train == 1024
    rows = {}
    for key in experiment.models:
        model = configuration.models[key]
        if model.recipe == "code":
            continue
        for n_f, n_c in ((141, 43), (211, 61)):
            training = training_settings(experiment, key, model, n_f)
            settings = model_settings(model, n_f, configuration.datasets[experiment.dataset]).model_dump()
            assert (training.epochs, training.batch_size, training.gradient_clip) == (100, 4, 1.0)
            assert (training.normalisation, training.peak_fraction) == ("pointwise", 0.3)
            if model.architecture == "fno2d":
                assert (training.gradient_weight, training.learning_rate) == (0, 1e-3)
                continue
            if settings["attention"] == "none":
                continue  # not the paper's
            assert int(int(n_f * settings["downsampling_factor"]) * settings["downsampling_factor"]) == n_c
            half = settings["attention"] in ("fourier", "softmax")
            assert training.learning_rate == (5e-4 if half else 1e-3)
            assert (training.gradient_weight, training.gradient_coefficient) == (0.5, "input")
            assert training.boundary == "zero"
            rows[settings["attention"], settings["layer_norm"], n_f] = settings
    assert len(rows) == 4 * 2 * 2
    assert rows["galerkin", "regular", 211]["layer_norm_epsilon"] == 1e-5
    assert rows["galerkin", "projection", 141]["layer_norm_epsilon"] == 1e-7
    for attention, feedforward in (("fourier", 0.1), ("galerkin", 0.05)):  # table 7
        settings = rows[attention, "projection", 141]
        rates = [settings[f"{part}_dropout"] for part in ("attention", "feedforward", "downsampling")]
        assert rates == [0.1, feedforward, 0.05]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"datasets": {"burgers": {"viscocity": 0.1}}},
            "datasets.burgers.viscocity: unknown key 'viscocity'; did you mean 'viscosity'? accepted: ",
        ),
        (
            {"datasets": {"burgers": {"initial_law": {"name": "cao_burgers"}}}},
            "datasets.burgers: the key 'initial_law' is now called 'initial_distribution'",
        ),
        (
            {"datasets": {"darcy_cao": {"law": {"name": "cao_darcy"}}}},
            "datasets.darcy_cao: the key 'law' is now called 'distribution'",
        ),
        (
            {"datasets": {"burgers": {"viscosity": "thick"}}},
            "datasets.burgers.viscosity: input should be a valid number, got 'thick'",
        ),
        (
            {"datasets": {"burgers": {"viscosity": -0.1}}},
            "datasets.burgers.viscosity: input should be greater than or equal to 0.000000001, got -0.1",
        ),
        (
            {"datasets": {"burgers": {"equation": "burger"}}},
            "datasets.burgers.equation: unknown equation 'burger'; did you mean 'burgers'? accepted: ",
        ),
        (
            {"datasets": {"burgers": {"resolutions": [512, 16384]}}},
            "datasets.burgers: 8192 points cannot be restricted spectrally to 16384: "
            "a restriction has at most 8192 points",
        ),
        (
            {"datasets": {"burgers": {"resolutions": [3000], "restriction": "stride"}}},
            "datasets.burgers: 8192 points cannot be restricted to 3000 by stride; "
            "nested sizes: 4096, 2048, 1024, ...",
        ),
        (
            {"datasets": {"burgers": {"initial_distribution": {"name": "cao_burgers", "gama": 2}}}},
            "datasets.burgers.initial_distribution.gama: unknown key 'gama'; did you mean 'gamma'?",
        ),
        (
            {"datasets": {"burgers": {"samples": {"test": -1}}}},
            "datasets.burgers.samples.test: input should be greater than or equal to 0, got -1",
        ),
        (
            {"datasets": {"controlled_ode": {"samples": {"train": 0, "validation": 0, "test": 0}}}},
            "datasets.controlled_ode.samples: a dataset has at least one sample",
        ),
        (
            {"datasets": {"burgers": {"num_modes": 4096}}},
            "datasets.burgers: num_modes 4096 is above the grid: 8192 points carry modes below 4096",
        ),
        (
            {"datasets": {"darcy_cao": {"distribution": {"name": "cao_darci"}}}},
            "datasets.darcy_cao.distribution: unknown distribution 'cao_darci' on the square; accepted: ",
        ),
        (
            {"datasets": {"darcy_cao": {"distribution": {"gamma": 1.0}}}},
            "datasets.darcy_cao.distribution: gamma must exceed 1 on the square, or the variance is "
            "infinite; got 1.0",
        ),
        (
            {"datasets": {"darcy_cao": {"below": 0}}},
            "datasets.darcy_cao.below: input should be greater than 0, got 0",
        ),
        (
            {"datasets": {"darcy_cao": {"resolutions": [512]}}},
            "datasets.darcy_cao: resolution 512 is above the finest grid, 421 points",
        ),
        (
            {"datasets": {"darcy_cao": {"grid": "cell_centres"}}},
            "datasets.darcy_cao: pressure on cell centres cannot be restricted; accepted there: "
            "solved_on_each_grid",
        ),
        (
            {"datasets": {"darcy_cao_inverse": {"coarse": [15, 37, 71]}}},
            "datasets.darcy_cao_inverse: 37 nodes are not nested in 141: 140 intervals, 36",
        ),
        (
            {
                "datasets": {
                    "lorenz63_y": {"observations": {"mine": {"kind": "explicit", "times": [0, 1, 1]}}}
                }
            },
            "datasets.lorenz63_y: observations.mine: positions must increase, but 1 follows 1",
        ),
        (
            {"datasets": {"lorenz63_y": {"observations": {"mine": {"step": 3}}}}},
            "datasets.lorenz63_y: observations.mine: ",
        ),
        (
            {"datasets": {"lorenz63_y": {"observations": {"mine": {"kind": "random"}}}}},
            "datasets.lorenz63_y.observations.mine: times of kind random take count, and no other key",
        ),
        (
            {"datasets": {"kolmogorov": {"num_modes": 4, "forcing_wavenumber": 5}}},
            "datasets.kolmogorov: num_modes 4 do not reach the forcing wavenumber 5",
        ),
        (
            {"datasets": {"kolmogorov": {"resolutions": [64, 65]}}},
            "datasets.kolmogorov: a periodic grid has an even number of points, at least 2; got 65",
        ),
        (
            {"experiments": {"burgers": {"test_dataset": "lorenz63_y"}}},
            "experiments.burgers.test_dataset: 'lorenz63_y' solves equation lorenz63, 'burgers' burgers; "
            "accepted: another dataset of the same equation",
        ),
        (
            {"experiments": {"burgers": {"test_dataset": "burgess"}}},
            "experiments.burgers.test_dataset: unknown dataset 'burgess'; did you mean 'burgers'?",
        ),
        (
            {"experiments": {"darcy": {"training": {"loss": "h1"}, "models": ["galerkin2d"]}}},
            "experiments.darcy: loss h1 has the gradient in it; accepted gradient_weight: 0, got 0.5",
        ),
        (
            {"experiments": {"burgers": {"training_of": {"galerkan": {}}}}},
            "experiments.burgers.training_of: unknown model 'galerkan'; did you mean 'galerkin'?",
        ),
        (
            {"experiments": {"burgers": {"training_of": {"galerkin": {"epoch": 3}}}}},
            "experiments.burgers.training_of.galerkin.epoch: unknown key 'epoch'; did you mean 'epochs'?",
        ),
        (
            {"experiments": {"burgers": {"training": {"loss_units": "standardised"}}}},
            "experiments.burgers: loss_units standardised need a normalisation; accepted: pointwise, scalar",
        ),
        (
            {"models": {"galerkin": {"settings": {"in_channels": 2}}}},
            "models.galerkin.settings.in_channels: 2 given; dataset 'burgers' has 1; leave it out",
        ),
        (
            {"datasets": {"lorenz63_y": {"observations": {"n12": {"step": 0.1}}}}},
            "datasets.lorenz63_y: observations.n12: names like n512 are those of grids of space",
        ),
        (
            {"experiments": {"darcy": {"models": ["fno"], "shown": None}}},
            "experiments.darcy.models: 'fno' (fno1d) maps functions of 1 variable(s); those of dataset "
            "'darcy_cao' have 2",
        ),
        (
            {
                "models": {"coarse": {"label": "C", "architecture": "transformer2d_coarse"}},
                "experiments": {"darcy": {"models": ["coarse"], "shown": None}},
            },
            "experiments.darcy.models: 'coarse' (transformer2d_coarse) gives functions on a coarser grid "
            "than its input; those of dataset 'darcy_cao' are on one grid",
        ),
        (
            {"experiments": {"darcy": {"test_resolutions": [61, 85]}}},
            "experiments.darcy.test_resolutions: [61, 85] lacks the training resolution 43",
        ),
        (
            {"experiments": {"darcy": {"test_resolutions": [43, 44]}}},
            "experiments.darcy.test_resolutions: 44 is not stored; dataset 'darcy_cao' has 421, 211, 141",
        ),
        (
            {"experiments": {"burgers": {"training": {"normalisation": "pointwise"}}}},
            "experiments.burgers: normalisation 'pointwise' is for functions on nodes of a square; those of "
            "'burgers' are on another grid",
        ),
        (
            {"models": {"fno": {"training": {"boundary": "zero"}}}},
            "experiments.burgers: boundary 'zero' is for functions on nodes of a square",
        ),
        (
            {"models": {"galerkin2d": {"settings_at": {141: {"downsampling_factr": 0.5}}}}},
            "models.galerkin2d.settings_at.141: transformer2d: unknown setting 'downsampling_factr'; did you "
            "mean 'downsampling_factor'?",
        ),
        (
            {"models": {"galerkin2d": {"settings_at": {211: {"downsampling_factor": 1.5}}}}},
            "models.galerkin2d.settings_at.211: transformer2d: downsampling_factor: Input should be less "
            "than or equal to 1, got 1.5",
        ),
        (
            {"models": {"fno": {"architecture": "fno1"}}},
            "models.fno: unknown architecture 'fno1'; did you mean 'fno1d'? "
            "accepted: fno1d, fno2d, transformer1d, transformer2d, transformer2d_coarse",
        ),
        (
            {"models": {"galerkin": {"settings": {"attentoin": "galerkin"}}}},
            "models.galerkin: transformer1d: unknown setting 'attentoin'; did you mean 'attention'?",
        ),
        (
            {"models": {"galerkin": {"training": {"epoch": 3}}}},
            "models.galerkin.training.epoch: unknown key 'epoch'; did you mean 'epochs'?",
        ),
        (
            {"experiments": {"burgers": {"models": ["galerkn"], "shown": None}}},
            "experiments.burgers.models: unknown model 'galerkn'; did you mean 'galerkin'? accepted: ",
        ),
        (
            {"experiments": {"burgers": {"dataset": "burger"}}},
            "experiments.burgers.dataset: unknown dataset 'burger'; did you mean 'burgers'?",
        ),
        (
            {"experiments": {"burgers": {"resolutions": [1024]}}},
            "experiments.burgers.resolutions: 1024 is not stored; dataset 'burgers' has 128, 512, 2048",
        ),
        (
            {"experiments": {"burgers": {"samples": {"test": 101}}}},
            "experiments.burgers.samples.test: 101 asked for; dataset 'burgers' has 100",
        ),
        (
            {"experiments": {"burgers": {"training": {"batch_size": 2000}}}},
            "experiments.burgers: batch_size 2000 is more than the 256 training samples",
        ),
        (
            {"experiments": {"burgers": {"training_at": {512: {"batchsize": 4}}}}},
            "experiments.burgers.training_at.512.batchsize: unknown key 'batchsize'; did you mean 'bat",
        ),
        (
            {"experiments": {"burgers": {"shown": "galerkn"}}},
            "experiments.burgers.shown: unknown model 'galerkn'; did you mean 'galerkin'? accepted: fno, ",
        ),
        (
            {"experiments": {"burgers": {"shows": {"cao2020": ["table2a"]}}}},
            "experiments.burgers.shows: unknown paper 'cao2020'; did you mean 'cao2021'? accepted: cao2021",
        ),
        (
            {"experiments": {"burgers": {"shows": {"cao2021": ["figure99"]}}}},
            "experiments.burgers.shows.cao2021: unknown item 'figure99'; did you mean 'figure9'? accepted: ",
        ),
        ({"cost": {"points": 8}}, "cost.points: input should be greater than or equal to 32, got 8"),
        (
            {"name": "My results"},
            "name: 'My results' cannot name a folder on every machine; accepted: lower-case",
        ),
        ({"experimens": {}}, "experimens: unknown key 'experimens'; did you mean 'experiments'?"),
    ],
)
def test_bad_configuration_is_one_readable_line(change, message):
    with pytest.raises(ConfigurationError, match=re.escape(message)) as caught:
        load_configuration(merged(DEFAULT, change))
    assert len(str(caught.value).splitlines()) == 1


def test_an_even_grid_is_asked_for_where_trajectories_are_not_on_one():
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(merged(DEFAULT, {"experiments": {"burgers": {"dataset": "lorenz63_y"}}}))
    lines = str(caught.value).splitlines()
    assert "experiments.burgers.resolutions: 128 is not stored; dataset 'lorenz63_y' has dt0.01," in lines[0]
    for fault in (
        "fno1d needs an even grid, and trajectories of dataset 'lorenz63_y'",
        "transformer1d needs an even grid",
        "gradient_weight 0.1 is for functions on an even grid",
    ):
        assert sum(fault in line for line in lines) == 1


def test_the_papers_ablation_has_the_rows_of_its_table():
    overlay = yaml.safe_load((ROOT / "config/cao2021.yaml").read_text())
    configuration = load_configuration(merged(DEFAULT, overlay))
    experiment = configuration.experiments["burgers_ablation"]
    assert experiment.resolutions == [512, 2048, 8192]
    found = []
    for key in experiment.models:
        for n in experiment.resolutions:
            model, dataset = configuration.models[key], configuration.datasets[experiment.dataset]
            if model.recipe == "code":
                continue
            settings = model_settings(model, n, dataset).model_dump()
            training = training_settings(experiment, key, model, n)
            assert (training.epochs, training.batch_size) == (100, 4 if n == 8192 else 8)
            assert training.record_test_error
            assert settings["feedforward_dropout"] == (0.05 if settings["layer_norm"] == "regular" else 0)
            run = {"architecture": "transformer1d", "recipe": model.recipe, "resolution": n}
            row = TABLE_8.row({**settings, **run})
            found.append((float(row["reported"]), n))
    assert found == [(float(row["reported"]), int(row["resolution"])) for row in reported_rows(TABLE_8.file)]


def test_figure_8_has_ten_seeds():
    overlay = yaml.safe_load((ROOT / "config/cao2021.yaml").read_text())
    experiments = load_configuration(merged(DEFAULT, overlay)).experiments
    for name in ("burgers_seeds", "darcy_seeds"):
        assert len(set(experiments[name].seeds)) == 10


def test_distributions_given_by_name_and_by_numbers_are_one_setting():
    def distribution(**numbers):
        change = {"datasets": {"darcy_cao": {"distribution": numbers}}}
        return load_configuration(merged(DEFAULT, change)).datasets["darcy_cao"].distribution

    assert distribution(name="cao_darcy") == distribution(sigma=1.0, tau=3.0, gamma=2.0)
    assert distribution(name="cao_darcy", tau=6.0) == distribution(sigma=1.0, tau=6.0, gamma=2.0)


def test_a_missing_part_and_several_faults_have_a_line_each():
    content = merged(DEFAULT, {"datasets": {"burgers": {"viscosity": 0, "final_time": -1}}})
    del content["experiments"]
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(content)
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert "experiments: required, but absent" in lines
