"""What the processes of a launch are given to do in the tests."""

import os
import signal
import time
from pathlib import Path

import torch
from torch import nn
from training_fixtures import WITH_DROPOUT, at_step, small_trainer, with_memory_for

from resolvent.training.distributed.group import SharedOperator
from resolvent.training.errors import TrainingError

# Of 16 samples three steps, with 3 and 2 of the five samples for a process.
KINDS = {
    "fourier": {},
    "dropout": WITH_DROPOUT,
    "diverging": {"learning_rate": 1e6, "gradient_clip": None},
    "stopping": {"learning_rate": 1e-12, "early_stopping": 2, "schedule": "plateau", "epochs": 9},
}


def trainer_of(kind, folder, group):
    """The validation of 8 samples is in three batches."""
    trainer = small_trainer(Path(folder), group=group, **{"batch_size": 5, **KINDS[kind]})
    trainer.validation_batch = 3
    return trainer


def state_of(trainer):
    """What a run has come to, for comparisons."""
    progress = trainer.progress
    return {
        "weights": trainer.operator.state_dict(),
        "best": progress.best_state,
        "history": progress.history,
        "best_epoch": progress.best_epoch,
        "cost": trainer.measured_cost(threads=1),
    }


def keep(trainer):
    """Leave it in the folder of the run, for this process."""
    torch.save(state_of(trainer), trainer.directory / f"rank{trainer.group.rank}.pt")


def train(group, folder, kinds):
    """Undisturbed."""
    for kind in kinds:
        trainer = trainer_of(kind, f"{folder}/{kind}", group)
        trainer.fit()
        keep(trainer)


def train_short_of_memory(group, folder):
    """The second process has memory for one sample only, and no other knows it."""
    trainer = trainer_of("fourier", folder, group)
    if not group.first:
        with_memory_for(trainer, 1)
    trainer.fit()
    keep(trainer)


def train_until_the_second_is_asked_to_end(group, folder, kind):
    """A signal comes to one process alone, in the second epoch; what they say to it is kept."""
    trainer = trainer_of(kind, folder, group)
    if not group.first:
        at_step(trainer, 5, lambda: signal.raise_signal(signal.SIGTERM))
    try:
        trainer.fit()
    except TrainingError as error:
        (trainer.directory / f"message{group.rank}").write_text(str(error))


class OfAllKinds(nn.Module):
    """Complex weights, real ones, and one that no output depends on."""

    def __init__(self):
        super().__init__()
        self.modes = nn.Parameter(torch.tensor([[1 + 2j, 3j]]))
        self.bias = nn.Parameter(torch.arange(3.0))
        self.unused = nn.Parameter(torch.tensor(0.5))

    def forward(self, u):
        return (u * self.modes * self.modes).imag.sum() + (u * self.bias).sum()


def gradients_of_all_kinds(group, folder):
    """The sums over the processes, of which the first takes u = 1 and the second u = 1 + 1, in two parts."""
    shared = SharedOperator(OfAllKinds(), group)
    for again in (True, False, False):
        shared.operator.zero_grad()
        for part in range(1 + group.rank):
            with shared.passes(last=part == group.rank):
                shared(torch.ones(())).backward()
        assert shared.make_up() == again
        if again:
            shared.renew(unused=True)
    gradients = {name: one.grad for name, one in shared.operator.named_parameters()}
    torch.save(gradients, f"{folder}/gradients{group.rank}.pt")


def do_many_things(group, folder):
    """What goes on by itself, in one launch."""
    gradients_of_all_kinds(group, folder)
    train(group, folder, ["fourier", "dropout", "diverging", "stopping"])
    train_short_of_memory(group, f"{folder}/memory")
    for kind in ("fourier", "dropout"):
        train_until_the_second_is_asked_to_end(group, f"{folder}/{kind}_asked", kind)


def go_on_and_ask_the_launcher_to_end(group, folder, kinds):
    """Runs begun before. Then, in a second epoch, SIGTERM comes to the launcher alone."""

    def ask():
        heeding = signal.getsignal(signal.SIGTERM)
        os.kill(os.getppid(), signal.SIGTERM)
        while signal.getsignal(signal.SIGTERM) is heeding:  # until it is handed on
            time.sleep(0.01)
        signal.raise_signal(signal.SIGTERM)  # as SLURM sends it to all processes

    train(group, folder, kinds)
    trainer = trainer_of("fourier", f"{folder}/asked", group)
    if group.first:
        at_step(trainer, 5, ask)
    trainer.fit()
