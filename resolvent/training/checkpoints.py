"""Checkpoints, and the operators in them: whole or absent, the same bytes of the same state."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import torch
from torch import nn

from resolvent.common.errors import Words
from resolvent.common.files import write_atomically
from resolvent.common.records import (
    CHECKPOINT,
    IDENTITY,
    CostRecord,
    check_same_network,
    check_same_run,
    identity_of,
    read_record,
)
from resolvent.models.build import build
from resolvent.training.errors import NO_NUMBERS, TrainingError
from resolvent.training.normalisation import restored
from resolvent.training.settings import TrainingSettings

KEYS = ("operator", "architecture", "settings", "training", *IDENTITY)


def save(state: dict, path: Path) -> None:
    """Write `state` to `path` atomically, through memory: torch puts a file's name into its bytes."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_atomically(path, lambda temporary: temporary.write_bytes(buffer.getbuffer()))


def load(path: Path) -> dict:
    """Return the state saved at `path`, on the CPU; nothing in the file is executed.

    Raises `TrainingError` when it is missing, damaged or not a checkpoint: every byte is held to the file's
    own checksums, which torch does not look at.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if part := archive.testzip():
                raise ValueError(f"the checksum of {part} is wrong")
        state = torch.load(path, map_location="cpu", weights_only=True)
        if not isinstance(state, dict) or "operator" not in state:
            raise ValueError("it holds something else")
    except FileNotFoundError:
        raise TrainingError(f"no checkpoint at {path}; run snakemake again") from None
    except OSError as error:
        raise TrainingError(f"the checkpoint {path} cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise
    except Exception as error:  # a strange file makes the reader raise anything
        reason: Words = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:100]}"
        if isinstance(error, pickle.UnpicklingError):  # torch would advise to execute it
            reason = NO_NUMBERS
        raise TrainingError(
            f"the checkpoint {path} is damaged ({reason}); delete it and run snakemake"
        ) from None
    return state


def load_run(folder: Path, expected: dict | None = None) -> dict:
    """Return the checkpoint of the run in `folder`: of `expected`, or of the run that cost.json is of.

    Where `expected` are the fields of a `RunRecord`, the network has to be the one that they describe, too.
    Raises `TrainingError` when it is missing, damaged or lacks something, as those of earlier versions do,
    and `FileError` when it is of another run, or cost.json cannot be read.
    """
    path = folder / CHECKPOINT
    checkpoint = load(path)
    for key in KEYS:
        if key not in checkpoint:
            raise TrainingError(f"the checkpoint {path} has no '{key}'; delete it and run snakemake")
    if expected is None:
        expected = identity_of(read_record(folder / "cost.json", CostRecord))
    if "architecture" in expected:
        check_same_network(path, checkpoint, expected)
    else:
        check_same_run(path, checkpoint, expected)
    return checkpoint


def trained_operator(checkpoint: dict) -> nn.Module | None:
    """Return the operator from physical units to physical units; None for a run that diverged.

    Raises `TrainingError` when the weights are not those of the architecture with its settings.
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
