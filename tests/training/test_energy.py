"""The energy of a training: counters of processors, that begin anew, and machines without any."""

import itertools
import sys
from types import SimpleNamespace

import pytest
import torch
from training_fixtures import Killed, killed_after, small_trainer

from resolvent.training.energy import Meter

CPU = torch.device("cpu")


def zone(powercap, number, name, energy, end=1000):
    folder = powercap / f"intel-rapl:{number}"
    folder.mkdir(parents=True)
    for file, value in {"name": name, "energy_uj": energy, "max_energy_range_uj": end}.items():
        (folder / file).write_text(f"{value}\n")
    return folder / "energy_uj"


def test_joules_are_of_all_processors_also_when_a_counter_begins_anew(tmp_path):
    first, second = zone(tmp_path, 0, "package-0", 900), zone(tmp_path, 1, "package-1", 100)
    core, whole = zone(tmp_path, "0:0", "core", 5), zone(tmp_path, 2, "psys", 7)
    meter = Meter(CPU, tmp_path)
    assert meter.joules() == 0
    first.write_text("50\n")
    second.write_text("400\n")
    for part in (core, whole):
        part.write_text("999\n")
    assert abs(meter.joules() - 450e-6) < 1e-12
    assert meter.joules() == 0


def test_where_nothing_counts_or_it_may_not_be_read_there_is_no_number(tmp_path):
    assert Meter(CPU, tmp_path / "none").joules() is None
    zone(tmp_path, 0, "package-0", 1)
    zone(tmp_path, 1, "package-1", "not a number").unlink()
    assert Meter(CPU, tmp_path).joules() is None


@pytest.fixture
def on_gpu(monkeypatch):
    """Be on a GPU that has used 5 J, and then 7.5 J, in these processes."""
    counted, on_gpu = iter([5000, 7500]), ["this"]
    nvml = SimpleNamespace(
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByUUID=lambda uuid: uuid,
        nvmlDeviceGetComputeRunningProcesses=lambda handle: on_gpu,
        nvmlDeviceGetTotalEnergyConsumption=lambda handle: {"GPU-one": next(counted)}[handle],  # in mJ
    )
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(uuid="one"))
    return on_gpu


def test_a_gpu_is_counted_by_nvml(on_gpu):
    meter = Meter(torch.device("cuda"))
    assert meter.joules() == 2.5
    assert meter.joules() is None  # it fails from now on, and no training with it
    assert meter.joules() is None


def test_a_gpu_that_others_compute_on_too_is_not_counted(on_gpu):
    meter = Meter(torch.device("cuda"))
    on_gpu.append("another")
    assert meter.joules() is None


def test_a_resumed_training_adds_up_the_energy_of_its_steps_without_that_of_validation(tmp_path):
    def metered():
        # Before the steps of an epoch it is asked for what was before them; after them, for theirs.
        trainer, readings = small_trainer(tmp_path, epochs=3), itertools.cycle([100.0, 2.0])
        trainer.meter = SimpleNamespace(joules=lambda: next(readings))
        return trainer

    with killed_after(1), pytest.raises(Killed):
        metered().fit()
    trainer = metered()
    assert trainer.fit().joules == 6.0
    assert trainer.measured_cost(threads=1)["energy_joules"] == 6.0
    trainer.meter = SimpleNamespace(joules=lambda: None)  # of another machine
    trainer._count(0.0)
    assert trainer.measured_cost(threads=1)["energy_joules"] is None
