"""Weights as safetensors: tensors, with the operator's settings as JSON in the header.

Reading executes no code. The header has a SHA-256 of the tensors, because the format has no checksum.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, uint8

from resolvent.common.files import write_atomically
from resolvent.training.errors import TrainingError

HEADER = "resolvent"


def write_weights(checkpoint: dict, path: Path) -> None:
    """Write a checkpoint (`resolvent.training.checkpoints`) with an operator to `path`, atomically."""
    tensors = {
        name: tensor.detach().cpu().contiguous().clone() for name, tensor in checkpoint["operator"].items()
    }
    facts = {key: value for key, value in checkpoint.items() if key != "operator"}
    header = json.dumps(facts | {"sha256": _digest(facts, tensors)}, sort_keys=True)
    content = save(tensors, metadata={HEADER: header})
    write_atomically(path, lambda temporary: temporary.write_bytes(content))


def read_weights(path: Path) -> dict:
    """Return the checkpoint written by `write_weights`. Raises `TrainingError` if the file is damaged."""
    try:
        with safe_open(path, "pt") as file:
            header = (file.metadata() or {}).get(HEADER)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        facts = json.loads(header) if header is not None else None
    except (SafetensorError, OSError, ValueError) as error:
        words = f"the weights {path} are damaged ({error})"
        raise TrainingError(f"{words}: export or download them again") from None
    if not isinstance(facts, dict):
        raise TrainingError(f"{path} has no header '{HEADER}': it was not written by Resolvent")
    if facts.pop("sha256", None) != _digest(facts, tensors):
        raise TrainingError(f"the weights {path} are damaged (SHA-256): export or download them again")
    return facts | {"operator": tensors}


def _digest(facts: dict, tensors: dict[str, Tensor]) -> str:
    """Return the SHA-256 of the file's content: header, and names, shapes and values of the tensors."""
    content = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        content.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        content.update(tensor.reshape(-1).view(uint8).numpy().tobytes())
    return content.hexdigest()
