"""Operator-learning data you can trust, and comparisons you can believe.

    open_dataset(card)   a dataset, as xarray sees it
    load_run(folder)     a trained model with its errors, its history and `.predict`
    predict(run, inputs)

The rest of the package belongs to the pipeline and may change. Importing this imports nothing heavy.
"""

from __future__ import annotations

__all__ = ["load_run", "open_dataset", "predict"]


def __getattr__(name: str):
    if name not in __all__:
        raise AttributeError(f"module 'resolvent' has no attribute '{name}'; it has {', '.join(__all__)}")
    from resolvent import public

    return getattr(public, name)


def __dir__() -> list[str]:
    return __all__
