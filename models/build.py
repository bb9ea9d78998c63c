"""From a name and settings to a torch module."""

from importlib import import_module

import torch

from resolvent.models.registry import ARCHITECTURES, resolve


def build(architecture: str, settings: dict, seed: int) -> torch.nn.Module:
    """The operator `architecture` with `settings`; its initial weights depend on `seed` alone.

    The architecture's file is imported here and not above, so that a change in one model is no change in
    another. torch's own generator is left as it was. Raises `ValueError` as `models.registry.resolve` does.
    """
    resolved = resolve(architecture, settings)
    file, class_name = ARCHITECTURES[architecture].location.split(":")
    operator_class = getattr(import_module(file), class_name)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # parameters are created on the CPU
        return operator_class(**resolved.model_dump())
