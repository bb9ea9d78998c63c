"""A trained operator, from its checkpoint."""

from __future__ import annotations

from torch import nn

from resolvent.models.build import build
from resolvent.training.errors import TrainingError
from resolvent.training.normalisation import restored
from resolvent.training.settings import TrainingSettings


def trained_operator(checkpoint: dict) -> nn.Module | None:
    """Return the operator from physical units to physical units; None for a run that diverged.

    Raises
    ------
    TrainingError
        When the weights are not those of the architecture with its settings.
    """
    if checkpoint["operator"] is None:
        return None
    try:
        return restored(
            build(checkpoint["architecture"], checkpoint["settings"], seed=0),
            # Of all that a training was asked for, this alone remains; a loss may be code of others.
            TrainingSettings(
                **{name: checkpoint["training"][name] for name in ("normalisation", "boundary")}
            ),
            checkpoint["operator"],
        )
    except (RuntimeError, KeyError, ValueError, AttributeError, TypeError) as error:  # of torch and pydantic
        reason = " ".join(str(error).split())[:200]
        raise TrainingError(
            f"the checkpoint of {checkpoint['architecture']} does not fit its own settings ({reason}); "
            "delete it and run snakemake"
        ) from error
