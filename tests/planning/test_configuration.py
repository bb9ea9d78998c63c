"""Bad configuration: one line that names the key, what is wrong and what is accepted."""

import os
import runpy

import pytest
import yaml
from merged_configuration import DEFAULT, ROOT, loaded, merged, problems

from resolvent.planning.configuration import read
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import DEFAULTS

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


def test_an_even_grid_is_asked_for_where_trajectories_are_not_on_one():
    lines = problems({"experiments": {"burgers": {"dataset": "lorenz63_y"}}})
    assert "experiments.burgers.resolutions: 128 is not stored; dataset 'lorenz63_y' has dt0.01," in lines[0]
    for fault in (
        "'fno' (fno1d) needs an even grid, but 'lorenz63_y' is observed at arbitrary times",
        "gradient_weight 0.1 is only for functions on an even grid",
    ):
        assert sum(fault in line for line in lines) == 1


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
