"""A test copies this into a project as `sitecustomize.py`: it breaks training in the way that FAULT names.

No source of the project is edited, so the runs are those of an undisturbed pipeline to it.
"""

import importlib.abc
import importlib.util
import os
import sys
import time
from pathlib import Path

FITTING = 3  # samples at once, with FAULT=memory


class AfterImport(importlib.abc.MetaPathFinder):
    def __init__(self, name, change):
        self.name, self.change = name, change

    def find_spec(self, name, path, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_change(module):
            execute(module)
            self.change(module)

        spec.loader.exec_module = execute_and_change
        return spec


def slow(trainer, step):
    def gradients(self, batch):
        time.sleep(0.4)
        return step(self, batch)

    return gradients


def hang(trainer, step):
    def gradients(self, batch):
        mark = Path("hung")
        if self.progress.history and not mark.exists():
            mark.touch()
            time.sleep(3600)
        return step(self, batch)

    return gradients


def not_a_number(trainer, step):
    import torch

    def gradients(self, batch):
        loss, error = step(self, batch)
        return torch.stack([loss * (float("nan") if len(self.progress.history) == 2 else 1.0), error])

    return gradients


def memory(trainer, step):
    import torch

    accumulated = trainer._accumulated

    def fitting(self, samples):
        if min(len(samples), self.progress.micro_batch) > FITTING:
            raise torch.OutOfMemoryError("injected: out of memory")
        return accumulated(self, samples)

    trainer._accumulated = fitting
    return step


def change(module):
    fault = {"slow": slow, "hang": hang, "nan": not_a_number, "memory": memory}[os.environ["FAULT"]]
    module.Trainer._gradients = fault(module.Trainer, module.Trainer._gradients)


if "FAULT" in os.environ:
    sys.meta_path.insert(0, AfterImport("resolvent.training.fit", change))
