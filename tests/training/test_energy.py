"""The energy of a training: counters of processors, that begin anew, and machines without any."""

import torch

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
