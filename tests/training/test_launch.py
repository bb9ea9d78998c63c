"""One training by two processes: the same mathematics as by one, and no way to end that leaves one behind."""

import os
import re
import shutil
import signal
import subprocess
import sys
from datetime import timedelta

import pytest
import torch
from rank_tasks import state_of, trainer_of

from resolvent.training import checkpoints
from resolvent.training.distributed import launch as module
from resolvent.training.distributed.group import ALONE, Group, SharedOperator
from resolvent.training.distributed.launch import launch
from resolvent.training.errors import TrainingError

CLOSE = {"rtol": 2e-3, "atol": 2e-4}


def launched(task, folder, **arguments):
    launch(task, 2, [], {"folder": str(folder), **arguments})


def of_rank(folder, rank=0):
    return torch.load(folder / f"rank{rank}.pt", weights_only=True)


def alone(kind, folder):
    """The same run by this process."""
    trainer = trainer_of(kind, folder, ALONE)
    trainer.fit()
    return state_of(trainer)


def assert_same(one, other):
    """The same run up to rounding."""
    for name, value in one["weights"].items():
        torch.testing.assert_close(other["weights"][name], value, **CLOSE)
    for row, expected in zip(other["history"], one["history"], strict=True):
        assert row[:-1] == pytest.approx(expected[:-1], rel=2e-3)
    assert other["best_epoch"] == one["best_epoch"]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Folder of the runs of `rank_tasks.do_many_things`."""
    folder = tmp_path_factory.mktemp("two_processes")
    launched("rank_tasks:do_many_things", folder)
    return folder


def test_gradients_of_all_kinds_of_weights_are_added_up(done):
    """The sum of three passes: d/dw of Im(u w²), conjugated as torch has it, and of u b."""
    modes = torch.tensor([[1 + 2j, 3j]])
    expected = {"modes": 3 * (2j * modes.conj()), "bias": torch.full((3,), 3.0), "unused": None}
    for rank in range(2):
        found = torch.load(done / f"gradients{rank}.pt", weights_only=True)
        torch.testing.assert_close(found["modes"].resolve_conj(), expected["modes"].resolve_conj())
        torch.testing.assert_close(found["bias"], expected["bias"])
        assert found["unused"] is None


def test_two_processes_train_as_one(done, tmp_path):
    one, other = alone("fourier", tmp_path), of_rank(done / "fourier")
    assert_same(one, other)
    torch.testing.assert_close(other["best"], one["best"], **CLOSE)
    assert (other["cost"]["processes"], one["cost"]["processes"]) == (2, 1)
    assert other["cost"]["micro_batch_size"] == 3


@pytest.mark.parametrize("kind", ["fourier", "dropout"])
def test_both_processes_have_the_same_bits(done, kind):
    first, second = (of_rank(done / kind, rank) for rank in range(2))
    torch.testing.assert_close(first["weights"], second["weights"], rtol=0, atol=0)
    assert first["history"] == second["history"]


@pytest.mark.parametrize(("kind", "epochs"), [("diverging", 1), ("stopping", 3)])
def test_both_stop_where_one_does(done, tmp_path, kind, epochs):
    one = alone(kind, tmp_path)
    assert len(one["history"]) == epochs
    for rank in range(2):
        other = of_rank(done / kind, rank)
        assert len(other["history"]) == epochs
        assert other["cost"]["diverged_epoch"] == one["cost"]["diverged_epoch"]


def test_both_take_smaller_parts_where_one_is_short_of_memory(done, tmp_path):
    assert [of_rank(done / "memory", rank)["cost"]["micro_batch_size"] for rank in range(2)] == [1, 1]
    assert_same(alone("fourier", tmp_path), of_rank(done / "memory"))


def test_a_signal_to_one_stops_both_after_the_same_step(done):
    for rank in range(2):
        message = (done / f"fourier_asked/message{rank}").read_text()
        assert message.startswith("stopped by SIGTERM in epoch 2, after 2 of 3 steps")


def test_a_run_begun_by_two_is_finished_by_one(done, tmp_path):
    finished = alone("fourier", done / "fourier_asked")
    assert [row[0] for row in finished["history"]] == [1, 2, 3, 4]
    assert_same(alone("fourier", tmp_path), finished)


@pytest.fixture(scope="module")
def gone_on(done, tmp_path_factory):
    """Folder of runs begun by one and by two, and gone on with by two, and how the launch ended."""
    folder = tmp_path_factory.mktemp("gone_on")
    begun = trainer_of("fourier", folder / "fourier", ALONE)
    begun.settings = begun.settings.model_copy(update={"epochs": 2})
    begun.fit()
    shutil.copytree(done / "dropout_asked", folder / "dropout")
    with pytest.raises(TrainingError) as error:
        launched("rank_tasks:go_on_and_ask_the_launcher_to_end", folder, kinds=["fourier", "dropout"])
    return folder, str(error.value)


@pytest.mark.slow
def test_a_run_begun_by_one_is_finished_by_two(gone_on, tmp_path):
    assert_same(alone("fourier", tmp_path), of_rank(gone_on[0] / "fourier"))


@pytest.mark.slow
def test_a_resumed_run_of_two_ends_with_the_same_bytes(done, gone_on, tmp_path):
    """The masks of the dropout, of each process, go on where they were."""
    for folder, name in ((done, "undisturbed.pt"), (gone_on[0], "resumed.pt")):
        checkpoints.save({"operator": of_rank(folder / "dropout")["weights"]}, tmp_path / name)
    assert (tmp_path / "undisturbed.pt").read_bytes() == (tmp_path / "resumed.pt").read_bytes()


@pytest.mark.slow
def test_a_signal_to_the_launcher_is_handed_on(gone_on):
    folder, message = gone_on
    assert message.startswith("stopped by SIGTERM in epoch 2, after 2 of 3 steps; the state is saved")
    assert checkpoints.load(folder / "asked/resume.pt")["progress"]["steps"] == 2


def test_batch_normalisation_is_refused():
    operator = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    with pytest.raises(TrainingError, match=r"processes: 1.*GroupNorm"):
        SharedOperator(operator, Group(0, 2))


def test_a_process_that_is_killed_ends_both_with_one_line(capfd):
    with pytest.raises(TrainingError) as error:
        launch("rank_faults:fail_in_the_second", 2, [], {"way": "is killed"})
    assert str(error.value) == "rank 1 of 2: was killed by SIGKILL, perhaps out of memory"
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.slow
def test_a_process_that_fails_ends_those_on_other_nodes_with_its_line(tmp_path, slurm_of_this_host, capfd):
    with pytest.raises(TrainingError) as error:
        launch("rank_faults:fail_in_the_second", 1, [], {"way": "raises"}, nodes=2, shared=tmp_path)
    assert str(error.value) == "rank 1 of 2: ZeroDivisionError: division by zero"
    assert "rank 1: Traceback" in capfd.readouterr().err


def test_a_host_without_an_address_is_named(tmp_path, slurm_of_this_host, monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "nowhere.invalid")
    monkeypatch.setattr(module, "MEETING", timedelta(seconds=1))
    with pytest.raises(TrainingError, match=r"^the processes cannot connect to nowhere\.invalid \("):
        launch("rank_tasks:fail", 1, [], {}, nodes=2, shared=tmp_path)


def test_nodes_that_do_not_meet_are_named_with_their_place(tmp_path, slurm_of_this_host, monkeypatch):
    monkeypatch.setattr(module, "FOLLOWING_SECONDS", 0)
    monkeypatch.setattr(module, "MEETING", timedelta(seconds=1))
    (tmp_path / "bin/srun").write_text("#!/bin/bash\nexec sleep 3600\n")
    with pytest.raises(TrainingError, match=r"^the 2 nodes could not all connect to localhost:\d+ \("):
        launch("rank_faults:fail_in_the_second", 1, [], {"way": "raises"}, nodes=2, shared=tmp_path)


def launcher(size, folder, nodes=1):
    """A process of its own that launches what waits for ever."""
    shared = f", nodes={nodes}, shared=Path({str(folder)!r})" if nodes > 1 else ""
    command = (
        "import socket; from pathlib import Path; from resolvent.training.distributed.launch import launch; "
        "socket.gethostname = lambda: 'localhost'; "
        f"launch('rank_faults:wait_for_ever', {size}, [], {{}}{shared})"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", command], env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.slow
def test_nodes_that_do_not_come_end_the_launch(tmp_path, slurm_of_this_host):
    (tmp_path / "bin/srun").write_text("#!/bin/bash\nexit 3\n")
    process = launcher(1, tmp_path, nodes=2)
    assert process.communicate(timeout=300)[1] == "the processes of the other nodes ended with status 3\n"
    assert process.returncode == -signal.SIGTERM


@pytest.mark.slow
def test_a_process_that_hangs_is_ended_with_its_stacks(tmp_path, monkeypatch):
    """The processes are under the watch that the launcher is under, which this one is not."""
    log = tmp_path / "log"
    monkeypatch.setattr(module, "watch", lambda: (3.0, str(log)))
    with pytest.raises(TrainingError, match=r"rank [01] of 2: ended with status 1"):
        launch("rank_faults:fail_in_the_second", 2, [], {"way": "hangs"})
    assert re.search(r"Timeout \(0:00:03\)!\n(.*\n)+.* in _serve\n", log.read_text())


@pytest.mark.slow
def test_a_killed_launcher_leaves_no_process_behind(tmp_path):
    process = launcher(2, tmp_path)
    try:
        begun = sorted(process.stdout.readline().strip() for _ in range(2))
    finally:
        process.kill()
    process.communicate(timeout=60)  # until the last process that could write there has ended
    assert begun == ["0", "1"]
