"""Bad configuration: one line that names the key, what is wrong and what is accepted."""

import os
import runpy

import pytest
import yaml
from merged_configuration import DEFAULT, ROOT, loaded, merged, problems

from resolvent.figures.papers.cao2021.reported import TABLE_8
from resolvent.figures.published.tables import reported_rows
from resolvent.planning.configuration import read
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import DEFAULTS
from resolvent.planning.configuration.settings import model_settings, training_settings

CONFIG = ROOT / "config"
OVERLAYS = [
    path
    for path in sorted([*CONFIG.glob("*.yaml"), *CONFIG.glob("studies/*.yaml")])
    if f"config/{path.name}" not in DEFAULTS
]


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.stem)
def test_every_configuration_of_the_project_is_valid(overlay):
    settings = yaml.safe_load(overlay.read_text())
    configuration = loaded(overlay.relative_to(CONFIG).with_suffix("").as_posix())
    # one that only asks more of the trained runs of the default study keeps its name, and so its folder
    assert configuration.name == (overlay.stem if "name" in settings else DEFAULT["name"])


def test_the_papers_setting_is_what_the_paper_says():
    configuration = loaded("cao2021")
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
    assert (distribution.sigma, distribution.tau, distribution.gamma) == (25, 5, 2)
    assert distribution.zero_mean


def test_the_papers_darcy_setting_is_what_the_paper_says():
    configuration = loaded("cao2021")
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


def test_an_even_grid_is_asked_for_where_trajectories_are_not_on_one():
    lines = problems({"experiments": {"burgers": {"dataset": "lorenz63_y"}}})
    assert "experiments.burgers.resolutions: 128 is not stored; dataset 'lorenz63_y' has dt0.01," in lines[0]
    for fault in (
        "'fno' (fno1d) needs an even grid, but 'lorenz63_y' is observed at arbitrary times",
        "gradient_weight 0.1 is only for functions on an even grid",
    ):
        assert sum(fault in line for line in lines) == 1


def test_the_papers_ablation_has_the_rows_of_its_table():
    configuration = loaded("cao2021")
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
    experiments = loaded("cao2021").experiments
    for name in ("burgers_seeds", "darcy_seeds"):
        assert len(set(experiments[name].seeds)) == 10


def test_distributions_given_by_name_and_by_numbers_are_one_setting():
    def distribution(**numbers):
        change = {"datasets": {"darcy_cao": {"distribution": numbers}}}
        return loaded(change).datasets["darcy_cao"].distribution

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


def test_files_of_editors_are_no_defaults(monkeypatch):
    """Such as Vim's `.cao2021.yaml.swp`, which is there while the file is open."""
    listed = os.listdir
    others = [".cao2021.yaml.swp", "cao2021.yaml~", ".#cao2021.yaml", "cao2021.yaml.orig"]
    monkeypatch.setattr(os, "listdir", lambda folder: [*listed(folder), *others])
    assert runpy.run_path(read.__file__)["DEFAULTS"] == DEFAULTS
