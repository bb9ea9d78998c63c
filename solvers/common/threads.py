"""Share the computation of one sample among threads, in functions compiled with Numba.

Compiled functions release the interpreter lock. Threads synchronise at a gate (a spinning barrier), since
they meet thousands of times per second.
"""

import os
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from resolvent.solvers.common.compiled import compiled

LOOKS = 100  # spins at the gate before yielding the processor
OPEN = 2**62  # opens a gate for good: larger than any count
WORD = ir.IntType(64)
_local = threading.local()


def kept(what: str, key: Hashable, make: Callable[[], Any]) -> Any:
    """Return the object that `make` created for `key` in this thread, cached: memory is slow to allocate."""
    held = vars(_local)
    if what not in held or held[what][0] != key:
        held[what] = key, make()
    return held[what][1]


def threads_here() -> int:
    """Return the number of threads: `OMP_NUM_THREADS`, or the number of cores of this process."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit():
        return max(1, int(asked))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def together(function: Callable[[int, np.ndarray], Any], parts: int) -> list[Any]:
    """Return the results of `function(part, gate)` for all parts, each computed in its own thread."""
    gate = np.zeros(1, np.int64)
    if parts == 1:
        return [function(0, gate)]
    with ThreadPoolExecutor(parts - 1) as others:
        try:
            found = [others.submit(function, part, gate) for part in range(1, parts)]
        except BaseException:
            gate[0] = OPEN  # or those that were started wait for ever
            raise
        return [function(0, gate), *(one.result() for one in found)]


@compiled
def meet(gate, parts, times):
    """Wait until all `parts` have arrived at the gate for the (`times` + 1)-th time; return `times` + 1."""
    if parts > 1:
        _come(gate)
        looks = 0
        while _came(gate) < parts * (times + 1):
            looks += 1
            if looks % LOOKS == 0:
                _give_way()
    return times + 1


def _counter(context, builder, signature, values):
    return context.make_array(signature.args[0])(context, builder, values[0]).data


@intrinsic
def _come(typing, gate):
    """Count the arrival of this part at the gate."""

    def code(context, builder, signature, values):
        counter = _counter(context, builder, signature, values)
        builder.atomic_rmw("add", counter, ir.Constant(WORD, 1), "seq_cst")
        return context.get_dummy_value()

    return types.void(gate), code


@intrinsic
def _came(typing, gate):
    """Return the number of arrivals."""

    def code(context, builder, signature, values):
        return builder.load_atomic(_counter(context, builder, signature, values), "seq_cst", 8)

    return types.int64(gate), code


@intrinsic
def _give_way(typing):
    """Yield the processor to other threads (POSIX)."""

    def code(context, builder, signature, values):
        function = builder.module.globals.get("sched_yield") or ir.Function(
            builder.module, ir.FunctionType(ir.IntType(32), []), "sched_yield"
        )
        builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), code
