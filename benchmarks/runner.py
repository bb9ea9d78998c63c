"""Common parts of the benchmarks: options, interleaved rounds, and tables in a Markdown page.

Each table is between markers in the page, so several commands can share a page, with its command and machine.
The text before the first table of a section is written by hand. A busy machine slows all runs of a round
equally, so only ratios are meaningful.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import torch
from tqdm import tqdm

from resolvent.training.devices import device_name


@dataclass(frozen=True)
class Part:
    """A part of a benchmark: a title, and `measure`, which returns Markdown for the command's options.

    The versions of `packages` are printed; `machine` replaces the name of this machine's processor.
    """

    title: str
    measure: Callable[[Namespace], str]
    packages: tuple[str, ...]
    machine: str = ""


def run(section: str, parts: dict[str, Part], *, rounds: int | None = 3, **options: dict) -> None:
    """Measure and print the parts selected on the command line; with --output, write the page.

    `options` are further options by name, as arguments of `add_argument`. `rounds=None` removes the option
    --rounds.
    """
    module = sys.modules["__main__"]
    parser = argparse.ArgumentParser(description=(module.__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts), metavar="PART")
    if rounds is not None:
        options = {
            "rounds": {"type": int, "default": rounds, "help": "interleaved rounds of each race"}
        } | options
    for name, option in options.items():
        parser.add_argument(f"--{name.replace('_', '-')}", **option)
    parser.add_argument("--output", type=Path, help="write the tables into this Markdown page")
    given = parser.parse_args()
    chosen = []
    for name in options:
        value = getattr(given, name)
        if name == "rounds" or value != parser.get_default(name):
            words = [] if value is True else value if isinstance(value, list) else [value]
            chosen += [f"--{name.replace('_', '-')}", *map(str, words)]

    def described(name: str, part: Part) -> str:
        start = perf_counter()
        body = part.measure(given)
        took = f"{(perf_counter() - start) / 60:.1f} min"
        words = ["python -m", module.__spec__.name.removesuffix(".__main__"), "--only", name, *chosen]
        versions = ", ".join(f"{package} {version(package)}" for package in part.packages)
        took += f", load {os.getloadavg()[1]:.1f}"  # over the last five minutes, including this part
        made = f"`{' '.join(words)}` on {part.machine or machine()}, {took}; {versions}."
        return "\n\n".join([f"### {part.title}"] * bool(part.title) + [body, made])

    bodies = {name: lambda name=name, part=part: described(name, part) for name, part in parts.items()}
    measure_parts(section, bodies, given.only, given.output)


def measure_parts(
    section: str, parts: dict[str, Callable[[], str]], only: list[str], page: Path | None
) -> None:
    """Print the bodies of the parts in `only`; with a page, write each to its section.

    Other parts of the section are kept, in the order of `parts`. Raises `ValueError` before measuring if the
    page has no such section.
    """
    if page:
        _split(page.read_text(), section)
    for part in tqdm(only, desc=section):
        body = parts[part]()
        tqdm.write(body)
        if page:  # after every part, so a failure loses no earlier results
            before, present, after = _split(page.read_text(), section)
            written = [present.partition("<!-- ")[0].strip()]
            for name in parts:
                if name == part:
                    written.append(_enclosed(name, body))
                elif _begin(name) in present:
                    written.append(_enclosed(name, _split(present, name)[1]))
            page.write_text(before + _enclosed(section, "\n\n".join(written)) + after)


def _split(page: str, section: str) -> tuple[str, str, str]:
    """Return the text before, between and after the markers of a section."""
    before, _, rest = page.partition(_begin(section))
    present, ended, after = rest.partition(_end(section))
    if not ended:
        words = f"add {_begin(section)} and {_end(section)} where it belongs"
        raise ValueError(f"the page has no section {section!r}: {words}")
    return before, present, after


def _enclosed(section: str, body: str) -> str:
    return f"{_begin(section)}\n\n{body.strip()}\n\n{_end(section)}"


def _begin(section: str) -> str:
    return f"<!-- {section}:begin -->"  # a comment, not shown by Markdown


def _end(section: str) -> str:
    return f"<!-- {section}:end -->"


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def digits(value: float) -> str:
    """Format a number with three significant digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}"


def machine() -> str:
    """Return the number of cores available to this process, and the processor's name."""
    cores = len(os.sched_getaffinity(0))
    return f"{cores} core{'s' * (cores > 1)} of {device_name(torch.device('cpu'))}"


@dataclass(frozen=True)
class Times:
    """Milliseconds of a run: median and range over the rounds."""

    middle: float
    fastest: float
    slowest: float

    @classmethod
    def of(cls, seconds: Iterable[float]) -> Times:
        """Return the times of a run from the seconds of its rounds."""
        values = [1e3 * one for one in seconds]
        return cls(median(values), min(values), max(values))

    def divided(self, samples: int) -> Times:
        """Return the times per sample of a run with several samples."""
        return Times(self.middle / samples, self.fastest / samples, self.slowest / samples)

    def __str__(self) -> str:
        return f"{digits(self.middle)} ({digits(self.fastest)}–{digits(self.slowest)})"


def interleaved(
    runs: list[Callable[[], object]],
    rounds: int,
    *,
    warm_up: int = 0,
    clock: Callable[[], float] = perf_counter,
) -> list[Times]:
    """Time all runs in turn: `warm_up` untimed rounds, then `rounds`.

    The `clock` `time.process_time` counts processor time of this process, for runs inside it.
    """
    seconds: list[list[float]] = [[] for _ in runs]
    for _ in range(warm_up + rounds):
        for run, measured in zip(runs, seconds, strict=True):
            start = clock()
            run()
            measured.append(clock() - start)
    return [Times.of(measured[warm_up:]) for measured in seconds]


def in_turns(
    makers: list[Callable[[], Callable[[], object]]], rounds: int, *, warm_up: int = 0
) -> list[Times]:
    """Time all runs in turn like `interleaved`, but each in a separate process, by processor time.

    Separate processes have separate allocators, so runs do not affect each other. Raises `RuntimeError` if a
    process ends early, for example because the machine is out of memory.
    """
    context = multiprocessing.get_context("fork")
    waiting, found = [], []
    try:
        for maker in makers:
            mine, its = context.Pipe()
            process = context.Process(target=_answer, args=(maker, its), daemon=True)
            process.start()
            its.close()  # so the end of the process is noticed
            waiting.append((process, mine))
        for _ in range(warm_up + rounds):
            seconds = []
            for process, connection in waiting:
                connection.send("run")
                try:
                    seconds.append(connection.recv())
                except EOFError:
                    process.join()
                    words = f"a run ended with exit code {process.exitcode} (-9: probably out of memory)"
                    raise RuntimeError(words) from None
            found.append(seconds)
    finally:
        for process, _ in waiting:
            process.terminate()
            process.join()
    return [Times.of(of_run) for of_run in zip(*found[warm_up:], strict=True)]


def _answer(maker, connection) -> None:
    """Run once per request, and answer with the processor seconds, until the process is ended."""
    run = maker()
    while connection.recv():
        start = process_time()
        run()
        connection.send(process_time() - start)


def gemm_rate(rounds: int = 5) -> float:
    """Return the peak operations per second of 2048 × 2048 float32 matrix products, on torch's threads."""
    one, other = torch.randn(2, 2048, 2048, generator=torch.Generator().manual_seed(0))
    (times,) = interleaved([lambda: one @ other], rounds, warm_up=1, clock=process_time)
    return 2 * 2048**3 / (1e-3 * times.fastest)
