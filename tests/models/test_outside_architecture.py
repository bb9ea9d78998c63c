"""An architecture from outside of the checkout, named by module:SettingsClass."""

import sys

import numpy as np
import pytest
import torch
from merged_configuration import DEFAULT, merged

from resolvent.datasets.loading import Samples
from resolvent.models.build import build
from resolvent.models.registry import resolve
from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.solvers.common.grid import Grid
from resolvent.training.errors import TrainingError
from resolvent.training.train import check_output

NETS = '''
import torch
from pydantic import Field
from resolvent.models.settings import Settings


class NetSettings(Settings):
    """A pointwise network."""

    operator = "my_lab.nets:Net"
    dimension = 1

    channels: int = Field(5, ge=1, description="hidden channels")


class Net(torch.nn.Module):
    discretisation_invariant = True

    def __init__(self, *, in_channels, out_channels, channels):
        super().__init__()
        self.maps = torch.nn.Sequential(
            torch.nn.Linear(in_channels + 1, channels),
            torch.nn.Tanh(),
            torch.nn.Linear(channels, out_channels),
        )

    def forward(self, u, x):
        return self.maps(torch.cat([u, x.expand(len(u), -1, -1)], dim=-1))
'''
FAULTY = """
from resolvent.models.settings import Settings


class NoDimension(Settings):
    operator = "my_lab.nets:Net"


class NoOperator(Settings):
    dimension = 1


class NoColon(Settings):
    operator = "Net"
    dimension = 1


class NoModule(Settings):
    operator = "my_lab.networks:Net"
    dimension = 1


class NoClass(Settings):
    operator = "my_lab.nets:Nat"
    dimension = 1
"""
NAME = "my_lab.nets:NetSettings"
ON_PATH = "install it, or add its folder to PYTHONPATH"


@pytest.fixture
def my_lab(tmp_path, monkeypatch):
    folder = tmp_path / "my_lab"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "nets.py").write_text(NETS)
    (folder / "faulty.py").write_text(FAULTY)
    (folder / "broken.py").write_text("raise RuntimeError('no licence\\nfor this')\n")
    (folder / "needy.py").write_text("import a_package_that_is_not_there\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "my_lab"]:
        del sys.modules[name]


def test_it_is_built_from_its_settings_and_seed(my_lab):
    one, same, other = (build(NAME, {"channels": 7}, seed=seed) for seed in (0, 0, 1))
    assert type(one).__module__ == "my_lab.nets"
    x = torch.linspace(0, 1, 9)[:, None]
    assert one(torch.zeros(2, 9, 1), x).shape == (2, 9, 1)
    assert torch.equal(one.maps[0].weight, same.maps[0].weight)
    assert not torch.equal(one.maps[0].weight, other.maps[0].weight)


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("my_labs.nets:NetSettings", {}, f"no module my_labs; {ON_PATH}"),
        ("my_lab.network:NetSettings", {}, f"no module my_lab.network; {ON_PATH}"),
        ("my_lab.broken:Net", {}, "cannot be imported: RuntimeError: no licence for this"),
        ("my_lab.needy:Net", {}, "ModuleNotFoundError: No module named 'a_package_that_is_not_there'"),
        ("my_lab.nets:NetSetting", {}, "did you mean 'NetSettings'? accepted: NetSettings, Net"),
        ("my_lab.nets:Net", {}, "not a subclass of resolvent.models.settings.Settings"),
        ("my_lab.faulty:NoDimension", {}, "must set `dimension`; accepted: 1, 2"),
        ("my_lab.faulty:NoOperator", {}, "must set `operator`, module:Class of its torch module; got None"),
        ("my_lab.faulty:NoColon", {}, "must set `operator`, module:Class of its torch module; got 'Net'"),
        ("my_lab.faulty:NoModule", {}, "operator 'my_lab.networks:Net'"),
        (NAME, {"chanels": 3}, "did you mean 'channels'? accepted: in_channels, out_channels, channels"),
        (NAME, {"channels": 0}, "channels: Input should be greater than or equal to 1, got 0"),
    ],
)
def test_errors_are_one_line_that_names_the_architecture(my_lab, name, settings, said):
    with pytest.raises(ValueError, match=rf"^(architecture ')?{name}'?: ") as caught:
        resolve(name, settings)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("imported", [False, True])
def test_an_operator_that_is_not_there_is_refused_as_soon_as_its_module_is_known(my_lab, imported):
    if imported:
        resolve(NAME, {})
        with pytest.raises(ValueError, match=r"operator 'my_lab\.nets:Nat' .*: no Nat$"):
            resolve("my_lab.faulty:NoClass", {})
    else:
        with pytest.raises(ValueError, match=r"in module my_lab\.nets: 'Nat'; did you mean 'Net'"):
            build("my_lab.faulty:NoClass", {}, seed=0)


def test_a_name_that_a_file_does_not_define_is_refused_with_those_that_it_does(my_lab):
    (my_lab / "metrics.py").write_text(
        "import numpy as np\nfrom resolvent.evaluation.metrics import Metric\n"
        "def largest(p, u, grid): return np.abs(p - u).max()\nLIMIT = 3\n"
        "largest_error = Metric('largest_error', largest, 'largest error', 'max |p - u|')\n"
    )
    content = merged(DEFAULT, {"experiments": {"burgers": {"metrics": ["my_lab.metrics:largst"]}}})
    with pytest.raises(ConfigurationError) as refused:
        load_configuration(content)
    assert "'my_lab.metrics:largst': unknown name 'largst'; did you mean 'largest'?" in str(refused.value)
    assert str(refused.value).endswith("accepted: np, Metric, largest, LIMIT, largest_error")


def test_an_output_of_another_shape_is_one_line_before_training(my_lab):
    nets = my_lab / "nets.py"
    nets.write_text(nets.read_text().replace("return self.maps(", "return self.maps[0](", 1))
    grid = Grid("periodic", 16)
    values = np.random.default_rng(0).normal(size=(5, 16))
    operator = build(NAME, {"channels": 7}, seed=0)
    with pytest.raises(TrainingError) as refused:
        check_output(operator, Samples(grid, values[:2], values[:2]), NAME)
    words = "model my_lab.nets:NetSettings: forward returned (2, 16, 7) for inputs (2, 16, 1)"
    assert str(refused.value).startswith(words)
    before = torch.random.get_rng_state()
    sound = build("fno1d", {"width": 4, "modes": 3}, seed=0)
    check_output(sound, Samples(grid, values, values), "fno1d")
    assert sound.training
    assert torch.equal(before, torch.random.get_rng_state())
