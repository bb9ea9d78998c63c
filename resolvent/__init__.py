"""Operator-learning data you can trust, and comparisons you can believe.

    open_dataset(name)             a dataset for xarray, torch, JAX and NumPy
    load_run(name)                 a trained model with errors, history, `.predict` and `.export`
    predict(run, inputs)           predictions of a trained model
    evaluate(model, task)          errors of any model on a task, beside classical solvers
    solve(equation, values)        solutions of the solvers

Other modules belong to the pipeline and may change. Importing this package imports no large libraries.
"""

from __future__ import annotations

_MODULES = {
    "evaluate": "resolvent.judging.judge",
    "load_run": "resolvent.public.runs",
    "open_dataset": "resolvent.public.datasets",
    "predict": "resolvent.public.runs",
    "solve": "resolvent.public.equations",
}
__all__ = ["evaluate", "load_run", "open_dataset", "predict", "solve"]


def __getattr__(name: str):
    if name not in __all__:
        raise AttributeError(f"module 'resolvent' has no attribute '{name}'; it has {', '.join(__all__)}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
