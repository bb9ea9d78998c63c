"""PyTorch's files: a tensor, a list of them, or dictionaries and lists of them, by `weights_only=True`.

Nothing in such a file is run: what is no tensor, number or text is refused by torch itself.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.readers.arrays_file import ArraysFile, Selection, is_single, kind_of

ONLY = "tensor"  # name of the one variable of a file that is a tensor


class TorchFile(ArraysFile):
    """Tensors by name: keys of dictionaries and numbers in lists, joined by `/`; mapped into memory."""

    version = "PyTorch .pt"

    def __init__(self, path: Path | str, content: Any):
        import pickle

        import torch  # the only place of this package that needs it, and imports it when it is needed

        super().__init__(path)
        try:
            found = torch.load(content, map_location="cpu", weights_only=True, mmap=isinstance(content, str))
        except pickle.UnpicklingError as error:
            words = " ".join(str(error).split())
            refused = re.search(r"GLOBAL (\S+)", words)
            raise DatasetError(
                f"{path}: has more than tensors, and could run code when it is read "
                f"({refused[1] if refused else words[:120]}); expected: tensors in dictionaries and lists"
            ) from None
        self._tensors = dict(_tensors(found))
        self.shapes = {n: () if one.is_nested else tuple(one.shape) for n, one in self._tensors.items()}

    def _empty(self, name: str) -> Any:
        """Return an empty tensor of the type of a variable; for bfloat16, which NumPy lacks, of float32."""
        import torch

        dtype = self._tensors[name].dtype
        return torch.empty(0, dtype=torch.float32 if dtype is torch.bfloat16 else dtype)

    def not_real(self, name: str) -> str | None:
        tensor = self._tensors[name]
        if tensor.is_nested:
            return "ragged"
        if tensor.is_quantized:
            return "quantised"
        if str(tensor.layout) != "torch.strided":
            return "sparse"
        if tensor.is_meta:
            return "a tensor without values (meta)"
        if tensor.is_complex():
            return "complex"
        try:
            return kind_of(self._empty(name).numpy().dtype)
        except TypeError:  # a type that NumPy lacks
            return str(tensor.dtype)

    def single(self, name: str) -> bool:
        return is_single(self._empty(name).numpy().dtype)

    def _read(self, name: str, selection: Selection) -> np.ndarray:
        import torch

        values = self._tensors[name].detach()[selection]
        return (values.float() if values.dtype is torch.bfloat16 else values).numpy()


def _tensors(content: Any, prefix: str = ""):
    """Yield every tensor in nested dictionaries and lists, with its name."""
    if hasattr(content, "is_quantized"):
        yield prefix or ONLY, content
    elif isinstance(content, dict):
        for key, value in content.items():
            yield from _tensors(value, f"{prefix}/{key}" if prefix else str(key))
    elif isinstance(content, list | tuple):
        for number, value in enumerate(content):
            yield from _tensors(value, f"{prefix}/{number}" if prefix else str(number))
