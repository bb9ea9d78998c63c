"""Check a model before its training for faults that no error message reports, in one line each.

Such faults cost accuracy silently: a published benchmark trained a Fourier neural operator whose blocks'
output was dropped, and its error fell from 0.5 to 0.3 when they were connected. The checks need a few passes
forward and back for two samples or more.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from resolvent.datasets.errors import in_one_line
from resolvent.datasets.loading import Samples
from resolvent.training.errors import TrainingError
from resolvent.training.tensors import coordinate_tensor, function_tensor

ROUNDING = 1e-6  # relative change of an output in float32 that means: unchanged
EPSILON = torch.finfo(torch.float32).eps  # the same without a block: little effect is no fault
BATCHED = 1e-3  # relative change of a sample's output with its batch that other kernels do not explain
WEAK = 1e-6  # of the largest gradient: below, a block may have no effect
NAMED = 4  # names listed in a line
HALVES = (torch.bfloat16, torch.float16)
Answer = Callable[[Tensor, Tensor], Tensor]


def check_output(operator: nn.Module, samples: Samples, architecture: str) -> None:
    """Raise `TrainingError` if an operator fails, or its output does not have the shape of the targets."""
    u = function_tensor(samples.inputs, samples.grid)
    wanted = tuple(function_tensor(samples.targets, samples.target_grid).shape)
    training = operator.training
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):  # training starts from the same state
            output = operator.eval()(u, coordinate_tensor(samples.grid))
    except Exception as error:  # a user's model may raise anything
        failed = f"model {architecture}: forward failed for inputs {tuple(u.shape)}"
        raise TrainingError(f"{failed}: {_raised(error)}") from error
    finally:
        operator.train(training)
    shape = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
    if shape != wanted:
        raise TrainingError(
            f"model {architecture}: forward returned {shape} for inputs {tuple(u.shape)}; expected: "
            f"{wanted} (samples, points of every axis, channels)"
        )


def findings(operator: nn.Module, u: Tensor, x: Tensor, halves: Iterable[torch.dtype] = HALVES) -> list[str]:
    """Return a line for each fault of a new operator, with its remedy; none for a sound one.

    operator  is changed: build it for this check. Its output must have the right shape (`check_output`).
    u, x      two different functions or more (samples, ...space, channels), of the size that it is to be
              trained on, and coordinates (...space, dimension); in float32, on the CPU.
    halves    types of mixed precision in which it is to compute.

    torch's global generator is not changed. Weights are moved before gradients and blocks are judged, since a
    block that begins as zero is no fault.
    """
    lines = [*_unregistered(operator)]
    try:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(0)
            if fault := _not_finite(operator, u, x, torch.float32):
                return [*lines, fault]  # no difference has a meaning
            in_halves = [fault for dtype in halves if (fault := _not_finite(operator, u, x, dtype))]
            lines += in_halves[:1]  # the others have the same remedy
            start = [parameter.detach().clone() for parameter in operator.parameters()]
            _move(operator, start, u, x, seed=0)
            with torch.no_grad():
                lines += _of_outputs(operator.eval(), u, x)
            lines += _of_weights(operator, start, u, x)
    except Exception as error:  # a user's model may raise anything, and its training need not
        lines.append(f"the check ended early: {_raised(error)}")
    return lines


def _unregistered(operator: nn.Module) -> Iterator[str]:
    """Yield the layers and tensors that torch does not know as parts of their module."""
    registered = {*operator.modules(), *operator.parameters()}
    layers, tensors = [], []
    for path, module in operator.named_modules():
        for key, value in vars(module).items():
            name = f"{path}.{key}".lstrip(".")
            parts = value.values() if isinstance(value, dict) else value
            if isinstance(value, Tensor):
                tensors.append(name)
            elif isinstance(value, list | tuple | dict) and any(
                isinstance(part, nn.Module | nn.Parameter) and part not in registered for part in parts
            ):
                layers.append(name)
    if layers:
        yield (
            f"what a plain list or dictionary holds is neither trained nor saved: {_listed(layers)}; use "
            "torch.nn.ModuleList, ModuleDict or ParameterList"
        )
    if tensors:
        yield (
            f"plain tensors are neither trained, saved nor moved to a GPU: {_listed(tensors)}; use "
            "torch.nn.Parameter, or register_buffer for constants"
        )
    if not layers and not any(parameter.requires_grad for parameter in operator.parameters()):
        yield "it has no parameters, so nothing is trained; assign layers or torch.nn.Parameter in __init__"


def _not_finite(operator: nn.Module, u: Tensor, x: Tensor, dtype: torch.dtype) -> str:
    """Return a line if a training step fails or is not finite in this precision, else ""."""
    name, half = str(dtype).removeprefix("torch."), dtype != torch.float32
    if half:
        remedy = "compute this part in float32, under torch.autocast(..., enabled=False)"
    else:
        remedy = "mend this before a training; roots and logarithms near zero are common reasons"
    operator.train().zero_grad()
    try:
        with torch.autocast("cpu", dtype, enabled=half):
            v = operator(u, x)
        if v.requires_grad:
            v.float().square().mean().backward()
    except Exception as error:  # a user's model may raise anything
        return f"in {name} a training step fails: {_raised(error)}; {remedy}"
    gradients = [parameter.grad for parameter in operator.parameters() if parameter.grad is not None]
    if not v.isfinite().all():
        return f"in {name} its output is infinite or NaN; {remedy}"
    if not all(gradient.isfinite().all() for gradient in gradients):
        return f"in {name} its gradient is infinite or NaN; {remedy}"
    return ""


def _of_outputs(operator: nn.Module, u: Tensor, x: Tensor) -> Iterator[str]:
    """Yield the faults that outputs of an operator in evaluation mode show."""
    torch.default_generator.manual_seed(0)
    v = operator(u, x)
    if not torch.equal(v, operator(u, x)):
        yield (
            "two calls in evaluation mode differ: let dropout and noise depend on self.training, and keep "
            "no state between calls"
        )
    answer = partial(_seeded, operator)
    v = answer(u, x)
    if not _differ(v, answer(u, x)):  # otherwise it keeps a state, and no difference has a meaning
        yield from _of_samples(answer, u, x, v)
    space = tuple(range(1, v.ndim - 1))
    constant = (v - v.mean(space, keepdim=True)).abs().amax((0, *space)) <= ROUNDING * v.abs().amax()
    if constant.any():
        which = "" if constant.all() else f" in channel {_listed(constant.nonzero().flatten().tolist())}"
        yield f"its output{which} is constant in space: keep the axes of space, and return a function"


def _of_samples(answer: Answer, u: Tensor, x: Tensor, v: Tensor) -> Iterator[str]:
    """Yield faults in how the output depends on each input function and on other samples."""
    ignored: list[int] = []
    used: list[int] = []
    for channel in range(u.shape[-1]):
        others = u.clone()
        others[..., channel] = u[..., channel].roll(1, 0)
        if _differ(u[..., channel], others[..., channel]):
            (used if _differ(v, answer(others, x)) else ignored).append(channel)
    if ignored and not used:
        yield "its output does not depend on the input: use `u` in forward"
    elif ignored:
        yield f"its output does not depend on input channel {_listed(ignored)}: use all channels of `u`"
    alone = "a batch may have one sample: do not use squeeze() without an axis, or fixed batch sizes"
    try:
        single = answer(u[:1], x)
    except Exception as error:  # a user's model may raise anything
        yield f"it fails for a single sample: {_raised(error)}; {alone}"
    else:
        if single.shape != v[:1].shape:
            yield f"it returns {tuple(single.shape)} for a single sample {tuple(u[:1].shape)}; {alone}"
        elif _differ(v[:1], single, BATCHED):
            yield (
                "the output for a sample depends on its batch: the first axis is the batch, and space begins "
                "at the second (torch.nn.MultiheadAttention needs batch_first=True)"
            )
    if u.shape[1:-1] == v.shape[1:-1] and u.ndim > 3:
        try:
            shape = tuple(answer(u[..., ::2, :], x[..., ::2, :]).shape)
        except Exception:
            return  # it need not accept rectangles
        wanted = (*u[..., ::2, :].shape[:-1], v.shape[-1])
        if shape != wanted:
            yield f"axes of space are swapped: on a rectangle it returns {shape} instead of {wanted}"


def _of_weights(operator: nn.Module, start: list[Tensor], u: Tensor, x: Tensor) -> Iterator[str]:
    """Yield the parameters without gradient, and the blocks that change nothing."""
    largest, called = _gradients(operator, start, u, x)
    dead = {name for name, gradient in largest.items() if not gradient}
    weak = {name for name, gradient in largest.items() if gradient <= WEAK * max(largest.values())}
    uncalled: list[str] = []
    unused: list[str] = []
    explained: list[str] = []
    with torch.no_grad():
        v = _seeded(operator, u, x)
        for path, block in operator.named_modules():  # a module before those within it
            parameters = {f"{path}.{name}" for name, p in block.named_parameters() if p.requires_grad}
            if not path or path.startswith(tuple(explained)) or not parameters or not parameters <= weak:
                continue
            if not called & set(block.modules()) and parameters <= dead:
                uncalled.append(path)
                explained.append(f"{path}.")
            elif block in called and not _differ(v, _without(operator, block, u, x), EPSILON):
                unused.append(path)
                explained.append(f"{path}.")
    if uncalled:
        yield f"forward never calls {_listed(uncalled)}: call it, or remove it"
    if unused:
        yield f"removing {_listed(unused)} changes nothing: use its output in forward"
    if other := sorted(name for name in dead if not name.startswith(tuple(explained))):
        listed = _listed(other)
        yield f"parameters without gradient: {listed}; use them, without detach(), .data or no_grad()"


def _gradients(
    operator: nn.Module, start: list[Tensor], u: Tensor, x: Tensor
) -> tuple[dict[str, float], set[nn.Module]]:
    """Return the largest gradient of each parameter, by name, and the modules that were called."""
    named = {name: p for name, p in operator.named_parameters() if p.requires_grad}
    largest = dict.fromkeys(named, 0.0)
    called: set[nn.Module] = set()
    hooks = [
        module.register_forward_hook(lambda module, *_: called.add(module)) for module in operator.modules()
    ]
    for seed, training in enumerate((True, False)):  # twice, since layers may be skipped at random
        _move(operator, start, u, x, seed)
        operator.train(training).zero_grad()
        v = _seeded(operator, u, x)
        if v.requires_grad:
            generator = torch.Generator().manual_seed(seed)  # no sum of squares, which norms hold constant
            (v * torch.randn(v.shape, generator=generator)).sum().backward()
        for name, parameter in named.items():
            gradient = 0.0 if parameter.grad is None else parameter.grad.abs().max().item()
            largest[name] = max(largest[name], gradient)
    for hook in hooks:
        hook.remove()
    return largest, called


def _without(operator: nn.Module, block: nn.Module, u: Tensor, x: Tensor) -> Tensor:
    """Return the output with zeros in the place of what a block returns."""
    hook = block.register_forward_hook(
        lambda _block, _inputs, output: tree_map_only(Tensor, torch.zeros_like, output)
    )
    try:
        return _seeded(operator, u, x)
    finally:
        hook.remove()


def _move(operator: nn.Module, start: list[Tensor], u: Tensor, x: Tensor, seed: int) -> None:
    """Move the weights from `start` to random ones nearby, as far as the output stays finite."""
    for strength in (1.0, 0.1, 0.0):
        generator = torch.Generator().manual_seed(seed)
        for parameter, first in zip(operator.parameters(), start, strict=True):
            size = 0.1 if first.ndim < 2 else 1 / math.sqrt(first[0].numel() or 1)
            moved = torch.randn(first.shape, generator=generator, dtype=first.dtype)
            parameter.data = first + strength * size * moved
        with torch.no_grad():
            if _seeded(operator.eval(), u, x).isfinite().all():
                return


def _seeded(operator: nn.Module, u: Tensor, x: Tensor) -> Tensor:
    torch.default_generator.manual_seed(0)
    return operator(u, x)


def _differ(a: Tensor, b: Tensor, tolerance: float = ROUNDING) -> bool:
    return bool((a - b).abs().max() > tolerance * a.abs().max())


def _raised(error: Exception) -> str:
    """Return type, message and place of an error, in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/site-packages/" not in frame.filename] or frames
    place = f"{Path(own[-1].filename).name}, line {own[-1].lineno}"
    return f"{type(error).__name__}: {in_one_line(error)[:300]} ({place})"


def _listed(names: list) -> str:
    more = len(names) - NAMED
    return ", ".join(map(str, names[:NAMED])) + (f" and {more} more" if more > 0 else "")
