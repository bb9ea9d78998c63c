"""Checkpoints: whole or absent, the same bytes for the same state, loaded without executing anything."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import torch

from datasets.files import write_atomically
from training.errors import TrainingError


def save(state: dict, path: Path) -> None:
    """Write `state` to `path` atomically, through memory: torch puts a file's name into its bytes."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_atomically(path, lambda temporary: temporary.write_bytes(buffer.getbuffer()))


def load(path: Path) -> dict:
    """The state saved at `path`, on the CPU.

    Raises
    ------
    TrainingError
        When the file is missing or damaged.
    """
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise TrainingError(f"no checkpoint at {path}; run snakemake again") from None
    except (RuntimeError, pickle.UnpicklingError, EOFError) as error:
        reason = str(error).splitlines()[0]
        raise TrainingError(
            f"the checkpoint {path} is damaged ({reason}); delete it and run snakemake"
        ) from None
