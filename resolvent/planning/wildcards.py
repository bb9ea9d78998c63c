"""Functions of a job's wildcards, for the rules: Snakemake calls them only for the jobs of a plan."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

from resolvent.datasets.storage.layout import resolution_of


def of_wildcards(function: Callable, *arguments: Any) -> Callable:
    """Return a function of wildcards: `function` of those that its parameters name, and of `arguments`.

    The parameter `resolution` is the training resolution of a run's folder, and `seed` a number. A wildcard
    that the rule does not have is None.
    """
    parameters = signature(function).parameters.values()
    names = [one.name for one in parameters if one.kind is Parameter.POSITIONAL_OR_KEYWORD]

    def called(wildcards: Any) -> Any:
        values = {name: getattr(wildcards, name, None) for name in names}
        if "resolution" in values:
            values["resolution"] = resolution_of(wildcards.group)
        if "seed" in values:
            values["seed"] = int(wildcards.seed)
        return function(*values.values(), *arguments)

    return called


def later(function: Callable, *arguments: Any, **options: Any) -> Callable:
    """Return a function of wildcards that ignores them."""

    def called(wildcards: Any) -> Any:
        return function(*arguments, **options)

    return called
