"""A run that is asked to end, or that runs out of memory, loses nothing."""

import signal

import numpy as np
import pytest
import torch
from training_fixtures import WITH_DROPOUT, at_step, small_trainer, with_memory_for

from resolvent.training import checkpoints
from resolvent.training.devices import is_out_of_memory
from resolvent.training.errors import TrainingError

LOSSES = [
    {"loss": "norms", "gradient_weight": 0.1},
    {"loss": "h1", "gradient_weight": 0.0, "normalisation": "scalar", "loss_units": "standardised"},
]


@pytest.mark.parametrize(
    ("kind", "asked"),
    [({}, signal.SIGTERM), ({"schedule": "plateau"}, signal.SIGINT), (WITH_DROPOUT, signal.SIGTERM)],
)
def test_a_signal_within_an_epoch_costs_no_step(tmp_path, kind, asked):
    undisturbed = small_trainer(tmp_path / "a", **kind)
    undisturbed.fit()
    asked_to_end = small_trainer(tmp_path / "b", **kind)
    at_step(asked_to_end, 7, lambda: signal.raise_signal(asked))
    with pytest.raises(TrainingError, match=f"stopped by {asked.name} in epoch 2, after 3 of 4 steps"):
        asked_to_end.fit()
    resumed = small_trainer(tmp_path / "b", **kind)
    resumed._resume()
    assert (resumed.progress.steps, len(resumed.progress.history)) == (3, 1)
    resumed.fit()
    assert resumed.progress.history == undisturbed.progress.history
    for trainer in (undisturbed, resumed):
        checkpoints.save(trainer.operator.state_dict(), trainer.directory / "last.pt")
    assert (tmp_path / "a/last.pt").read_bytes() == (tmp_path / "b/last.pt").read_bytes()


@pytest.fixture
def interrupts():
    """SIGINT as a script has it; workers of pytest-xdist ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_a_second_signal_ends_the_process_as_usual(tmp_path):
    trainer = small_trainer(tmp_path)

    def insist():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        at_step(trainer, 2, insist).fit()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(("kind", "fitting"), list(zip(LOSSES, (3, 1), strict=True)))
def test_a_batch_in_parts_has_the_same_gradients(tmp_path, kind, fitting, capsys):
    whole, parts = (small_trainer(tmp_path / name, **kind) for name in ("a", "b"))
    whole.fit()
    with_memory_for(parts, fitting).fit()
    taken = 2 if fitting == 3 else 1  # of a batch of 4
    assert parts.measured_cost(threads=1)["micro_batch_size"] == taken
    assert whole.measured_cost(threads=1)["micro_batch_size"] == 4
    assert f"continuing with {taken} samples at once" in capsys.readouterr().err
    for name, value in whole.operator.state_dict().items():
        torch.testing.assert_close(parts.operator.state_dict()[name], value, rtol=2e-3, atol=2e-4)
    for one, other in zip(whole.progress.history, parts.progress.history, strict=True):
        assert other[:-1] == pytest.approx(one[:-1], rel=2e-3)


def test_a_resumed_run_remembers_what_fits(tmp_path):
    trainer = at_step(with_memory_for(small_trainer(tmp_path), 2), 6, lambda: signal.raise_signal(15))
    with pytest.raises(TrainingError, match="stopped by SIG"):
        trainer.fit()
    state = checkpoints.load(trainer.resume_path)
    state["progress"]["joules"] = 2.5  # as version 1.0 saved it
    checkpoints.save(state, trainer.resume_path)
    resumed = small_trainer(tmp_path)
    resumed._resume()
    assert resumed.progress.micro_batch == 2


def with_validation_memory_for(trainer, samples):
    """Let the operator fail with more samples at once in validation."""

    def check(module, inputs):
        if not module.training and len(inputs[0]) > samples:
            raise torch.OutOfMemoryError("out of memory")

    trainer.operator.register_forward_pre_hook(check)
    return trainer


def test_validation_that_runs_out_of_memory_takes_fewer_samples_at_once(tmp_path):
    whole, parts = small_trainer(tmp_path / "a"), with_validation_memory_for(small_trainer(tmp_path / "b"), 3)
    whole.fit()
    parts.fit()
    histories = (np.array(trainer.progress.history, dtype=float) for trainer in (parts, whole))
    np.testing.assert_allclose(*histories, rtol=1e-6)
    assert parts.tested_at_once == 2
    with pytest.raises(TrainingError, match="even with one sample at once"):
        with_validation_memory_for(small_trainer(tmp_path / "c"), 0).fit()
    with pytest.raises(TrainingError, match=r"^.*even with one sample at once.*$"):
        with_memory_for(small_trainer(tmp_path / "d"), 0).fit()


def test_any_other_fault_is_not_taken_for_want_of_memory(tmp_path):
    trainer = small_trainer(tmp_path)
    trainer.operator.register_forward_pre_hook(lambda module, inputs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        trainer.fit()
    with pytest.raises(RuntimeError) as error:
        torch.empty(10**16)
    assert is_out_of_memory(error.value)
    with pytest.raises(RuntimeError) as error:
        torch.ones(2) @ torch.ones(3)
    assert not is_out_of_memory(error.value)


def test_an_operation_that_is_not_deterministic_is_named_in_one_line(tmp_path):
    trainer = small_trainer(tmp_path)
    one = torch.ones(1)
    trainer.operator.register_forward_pre_hook(lambda *_: one.put_(torch.zeros(1, dtype=torch.int64), one))
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("error")  # as in a job
    try:
        with pytest.raises(TrainingError, match=r"^put_ is not deterministic on .*\(CPU\); .*$"):
            trainer.fit()
    finally:
        torch.set_deterministic_debug_mode(before)
