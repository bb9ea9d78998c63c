"""The check of an own model at the start of its training, and by `resolvent check-model`."""

import sys

import pytest
from training_fixtures import CODE, SQUARE_RUN
from typer.testing import CliRunner

import resolvent.__main__ as command
from resolvent.training import train
from resolvent.training.errors import TrainingError

NETS = """
import torch
from resolvent.models.settings import Settings


class NetSettings(Settings):
    operator = "checked_lab.nets:Net"
    dimension = 2
    width: int = 6


class LineSettings(NetSettings):
    dimension = 1


class BatchesSettings(LineSettings):
    operator = "checked_lab.nets:Batches"


class FixedSettings(LineSettings):
    operator = "checked_lab.nets:Fixed"


class Net(torch.nn.Module):
    discretisation_invariant = True

    def __init__(self, *, in_channels, out_channels, width):
        super().__init__()
        self.lift = torch.nn.Linear(in_channels, width)
        self.block = torch.nn.Linear(width, width)
        self.dropout = torch.nn.Dropout(0.2)
        self.project = torch.nn.Linear(width, out_channels)

    def forward(self, u, x):
        y = self.lift(u)
        self.block(y)
        return self.project(self.dropout(y))


class Batches(Net):
    def forward(self, u, x):
        return super().forward(u, x)[..., 0]


class Fixed(Net):
    def forward(self, u, x):
        return super().forward(u, x) * torch.ones(512, 1)
"""
FINDING = "removing block changes nothing: use its output in forward\n"


@pytest.fixture
def checked_lab(tmp_path, monkeypatch):
    (tmp_path / "checked_lab").mkdir()
    (tmp_path / "checked_lab/nets.py").write_text(NETS)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "checked_lab"]:
        del sys.modules[name]


def test_a_training_of_an_own_model_warns_and_keeps_its_bytes(card, checked_lab, monkeypatch, capsys):
    run = {**SQUARE_RUN, "architecture": "checked_lab.nets:NetSettings", "settings": {"width": 6}}

    def trained(folder, **changed):
        place = checked_lab / folder
        train.train_run(
            card, place, 17, seed=3, run={**run, **changed}, code_versions=CODE, threads=1, gpus=0
        )
        return (place / "checkpoint.pt").read_bytes(), capsys.readouterr().err

    checked, said = trained("checked")
    assert said.count("warning: ") == 1
    assert f"warning: model checked_lab.nets:NetSettings: {FINDING}" in said
    monkeypatch.setattr(train, "findings", lambda *_: [])
    unchecked, said = trained("unchecked")
    assert checked == unchecked
    assert "warning: " not in said
    monkeypatch.setattr(train, "findings", None)
    trained("ours", architecture="fno2d", settings=SQUARE_RUN["settings"])  # is not checked


def test_a_forward_that_fails_is_one_line_with_its_place(card, checked_lab):
    run = {**SQUARE_RUN, "architecture": "checked_lab.nets:NetSettings", "settings": {}}
    file = checked_lab / "checked_lab/nets.py"
    file.write_text(NETS.replace("self.lift(u)", "self.lift(x)"))
    with pytest.raises(
        TrainingError, match=r"forward failed for inputs \(2, 17, 17, 1\): RuntimeError: "
    ) as e:
        train.train_run(card, checked_lab / "run", 17, seed=3, run=run, code_versions=CODE, threads=1, gpus=0)
    assert str(e.value).endswith(f"(nets.py, line {NETS[: NETS.index('self.lift(u)')].count(chr(10)) + 1})")
    assert "\n" not in str(e.value)


def said_by(*words: str) -> tuple[str, int]:
    done = CliRunner().invoke(command.app, ["check-model", *words])
    return done.output or str(done.exception), done.exit_code


def test_the_command_needs_a_task_and_no_data(checked_lab):
    lines, status = said_by("checked_lab.nets:LineSettings", "width=4", "--task", "burgers-v1")
    finding, cost, count = lines.splitlines(keepends=True)
    assert finding == FINDING
    # 4 + 16 + 4 products for each point.
    assert cost.startswith("cost of a sample: 2.5e+04 operations, ")
    assert cost.endswith(" ms on n2048; operations grow like points^1.0\n")
    assert count == "checked_lab.nets:LineSettings on burgers-v1: 1 finding\n"
    assert status == 1
    lines, status = said_by("checked_lab.nets:FixedSettings")
    assert FINDING in lines
    assert "on n2048, forward failed for inputs (3, 2048, 1): RuntimeError: " in lines
    assert "2 findings" in lines


def test_noise_stands_for_inputs_that_only_a_solver_has(checked_lab):
    lines, status = said_by("checked_lab.nets:NetSettings", "--task", "kolmogorov-v1")
    assert lines.startswith(FINDING)
    assert " ms on n64; " in lines
    assert status == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ["checked_lab.nets:BatchesSettings"],
            "forward returned (3, 512) for inputs (3, 512, 1); expected: ",
        ),
        (["checked_lab.nets:NetSettings"], "takes functions of 2 variable(s), and the task has 1"),
        (["checked_lab.nets:LineSettings", "width"], "'width' is no setting; expected: name=value"),
        (["checked_lab.nets:LineSettings", "widht=3"], "did you mean 'width'?"),
        (["checked_lab.nets:Line"], "accepted: NetSettings, LineSettings"),
        (["fno1d", "--task", "burger-v1"], "unknown task 'burger-v1'; accepted: "),
    ],
)
def test_the_command_refuses_in_one_line(checked_lab, words, expected):
    lines, status = said_by(*words)
    assert expected in lines
    assert "\n" not in lines
    assert status == 1
