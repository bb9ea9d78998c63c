"""NetCDF of versions 3 and 4, and whatever else xarray opens with the packages that are installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.datasets.imported.readers.arrays_file import MISSING, ArraysFile, Selection, is_single, kind_of


class XarrayFile(ArraysFile):
    """The variables of a file by their paths, `group/name`, unpacked as the file's attributes say."""

    version = "NetCDF"

    def __init__(self, path: Path | str, content: Any):
        import xarray

        super().__init__(path)
        try:
            tree = xarray.open_datatree(content, chunks=None, decode_times=False)
        except (ValueError, NotImplementedError):  # of an engine without groups
            if hasattr(content, "seek"):
                content.seek(0)
            root = xarray.open_dataset(content, chunks=None, decode_times=False)
            self._variables = {str(name): one for name, one in root.variables.items()}
        else:
            self._variables = {
                f"{node.path}/{name}".strip("/"): one
                for node in tree.subtree
                for name, one in node.to_dataset(inherit=False).variables.items()
            }
        self.shapes = {name: tuple(one.shape) for name, one in self._variables.items()}

    def attributes(self, name: str) -> Mapping[str, Any]:
        encoding = self._variables[name].encoding  # xarray has put nan in the place of these
        return {key: np.nan for key in MISSING if encoding.get(key) is not None}

    def dims(self, name: str) -> tuple[str, ...] | None:
        return tuple(map(str, self._variables[name].dims))

    def not_real(self, name: str) -> str | None:
        return "text" if self.is_text(name) else kind_of(self._variables[name].dtype)

    def single(self, name: str) -> bool:
        return is_single(self._variables[name].dtype)

    def is_text(self, name: str) -> bool:
        one = self._variables[name]
        return one.dtype.kind in "UST" or (
            one.dtype.kind == "O" and one.size > 0 and isinstance(one[(0,) * one.ndim].values.item(), str)
        )

    def _read(self, name: str, selection: Selection) -> np.ndarray:
        return self._variables[name][selection or ...].values
