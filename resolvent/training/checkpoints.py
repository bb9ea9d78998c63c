"""Write and read checkpoints and their operators: atomically, with the same bytes for the same state."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import torch
from torch import nn

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
    """Write `state` to `path` atomically, from memory, since torch writes a file's name into its content."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_atomically(path, lambda temporary: temporary.write_bytes(buffer.getbuffer()))


def load(path: Path) -> dict:
    """Return the state saved at `path`, on the CPU; nothing in the file is executed.

    Raises `TrainingError` if it is missing, damaged or not a checkpoint.
    """
    try:
        # All checksums in the file, which torch does not verify.
        with zipfile.ZipFile(path) as archive:
            if part := archive.testzip():
                raise ValueError(f"the checksum of {part} is wrong")
        state = torch.load(path, map_location="cpu", weights_only=True)
        if not isinstance(state, dict) or "operator" not in state:
            raise ValueError("the key 'operator' is missing")
    except FileNotFoundError:
        raise TrainingError(f"the checkpoint {path} is missing; run snakemake") from None
    except OSError as error:
        raise TrainingError(f"the checkpoint {path} cannot be read: {error.strerror or error}") from None
    except MemoryError:
        raise
    except Exception as error:  # a malformed file can make the reader raise anything
        reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:100]}"
        if isinstance(error, pickle.UnpicklingError):  # torch's message recommends unsafe loading
            reason = NO_NUMBERS
        raise TrainingError(
            f"the checkpoint {path} is damaged ({reason}); delete it and run snakemake"
        ) from None
    return state


def load_run(folder: Path, expected: dict | None = None) -> dict:
    """Return the checkpoint in `folder`, checked against `expected`, by default the identity in cost.json.

    Fields of a `RunRecord` also identify the network. Raises `TrainingError` if the checkpoint is missing,
    damaged or incomplete (from an earlier version), and `FileError` if it is of another run.
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
    """Return the trained operator, or None if the run diverged. Raises `TrainingError` if it does not fit."""
    if checkpoint["operator"] is None:
        return None
    try:
        return restored(
            build(checkpoint["architecture"], checkpoint["settings"], seed=0),
            # Only these settings affect the operator; a user's loss may refer to code that is missing here.
            TrainingSettings(
                **{name: checkpoint["training"][name] for name in ("normalisation", "boundary")}
            ),
            checkpoint["operator"],
        )
    except (RuntimeError, KeyError, ValueError, AttributeError, TypeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise TrainingError(
            f"the weights of the checkpoint do not fit {checkpoint['architecture']} with its settings "
            f"({reason}); delete it and run snakemake"
        ) from error
