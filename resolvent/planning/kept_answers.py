"""Answers that a plan keeps: the rules ask for the same once for every seed, parameter and resource."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any


def kept(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method compute its answer once for the same arguments, as long as its object lives.

    The arguments are given by position and can be keys of a dictionary. All callers share the answer, so none
    may change it.
    """

    @wraps(method)
    def answer(self, *arguments):
        known = self.__dict__.setdefault("_kept", {})
        key = (method, *arguments)
        if key not in known:
            known[key] = method(self, *arguments)
        return known[key]

    return answer
