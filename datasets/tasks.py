"""The tasks by name. A new equation adds its settings, its module, and one line here."""

from __future__ import annotations

import importlib

from datasets.settings import BurgersDataset

TASKS = {"burgers": "datasets.burgers:Burgers"}
SETTINGS = {"burgers": BurgersDataset}


def task_module(equation: str) -> str:
    """Dotted name of the module that computes `equation`."""
    return TASKS[equation].partition(":")[0]


def build_task(settings):
    """The task that `settings` describe, ready to compute samples. Imports its solver now, not before."""
    module, _, name = TASKS[settings.equation].partition(":")
    return getattr(importlib.import_module(module), name)(settings)


def settings_of(content: dict):
    """The settings that `content`, a card's or a rule's block, describes."""
    return SETTINGS[content["equation"]].model_validate(content)
