"""Build a torch module from the name of an architecture and its settings."""

import torch

from resolvent.models.registry import find, resolve


def build(architecture: str, settings: dict, seed: int) -> torch.nn.Module:
    """Build the operator `architecture` with `settings`; its initial weights depend on `seed` alone.

    The architecture's file is imported here and not above, so that a change in one model is no change in
    another. torch's own generator is left as it was. Raises `ValueError` as `models.registry.resolve` does.
    """
    resolved = resolve(architecture, settings)
    operator_class = find(resolved.operator)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # parameters are created on the CPU
        return operator_class(**resolved.model_dump())
