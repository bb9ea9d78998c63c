"""What the processes of a launch are given to do in the tests."""

import os
import signal
import time
from pathlib import Path

import torch
from model_variants import SMALL, points
from torch import nn
from training_fixtures import WITH_DROPOUT, at_step, small_trainer, with_memory_for

from resolvent.models.build import build
from resolvent.models.registry import ARCHITECTURES
from resolvent.solvers.common.grid import Grid
from resolvent.training.distributed.group import SharedOperator
from resolvent.training.errors import TrainingError
from resolvent.training.losses import RelativeLoss

BATCH = 5

# Of 16 samples three steps, with 3 and 2 of the five samples for a process.
KINDS = {
    "fourier": {},
    "galerkin": {
        "architecture": "transformer1d",
        "settings": SMALL["transformer1d"] | {"attention": "galerkin"},
        "learning_rate": 2e-3,
    },
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


def operator_and_batch(architecture):
    """Return a small operator in double precision, coordinates, inputs, targets, alike in every process."""
    operator = build(architecture, SMALL[architecture], seed=3).double()
    x = points(architecture, dtype=torch.float64)
    generator = torch.Generator().manual_seed(5)
    u = torch.randn(BATCH, *x.shape, dtype=torch.float64, generator=generator)[..., :1]
    with torch.no_grad():
        shape = operator(u, x).shape
    return operator, x, u, torch.randn(shape, dtype=torch.float64, generator=generator).squeeze(-1)


def weights_after_a_step(architecture, group, batch=BATCH):
    """Return the weights after loss, clipping and Adam as in training, on these many samples."""
    operator, x, u, target = operator_and_batch(architecture)
    shared = SharedOperator(operator, group)
    optimizer = torch.optim.Adam(operator.parameters(), lr=1e-2, fused=True)
    rows = group.share(torch.arange(batch))
    relative = RelativeLoss(Grid("periodic", 2), 0.0, squared=False)
    with shared.passes(last=True):
        loss = relative(shared(u[rows], x).squeeze(-1), target[rows])
        (len(rows) / batch * loss).backward()
    assert not shared.make_up()
    nn.utils.clip_grad_norm_(operator.parameters(), 1e-2)
    optimizer.step()
    return operator.state_dict()


def take_a_step_with_every_architecture(group, folder):
    """Save the weights after it."""
    torch.set_num_threads(1)
    states = {name: weights_after_a_step(name, group) for name in ARCHITECTURES}
    torch.save(states, f"{folder}/steps{group.rank}.pt")


def do_many_things(group, folder):
    """What goes on by itself, in one launch."""
    gradients_of_all_kinds(group, folder)
    train(group, folder, ["fourier", "galerkin", "dropout", "diverging", "stopping"])
    train_short_of_memory(group, f"{folder}/memory")
    for kind in ("fourier", "dropout"):
        train_until_the_second_is_asked_to_end(group, f"{folder}/{kind}_asked", kind)
    take_a_step_with_every_architecture(group, folder)


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
