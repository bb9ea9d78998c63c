"""Mutation testing, sampled: does some test fail when one operator, number or statement is another?

    python -m pip install pytest-cov
    python tests/mutants.py [PLACE ...] [--count 240] [--seed 0] [--results mutants] [--limit 300]

Run by hand, in one process. It copies the tracked files of the project to RESULTS/project, runs the tests
once and notes in RESULTS/reach.json which lines each reaches and how long it takes, and makes one mutant
after the other of the modules in each PLACE, or in MUTATED. Of each it runs the tests that reach the line, at
most as many as `--tests` says, until one fails: first those whose file has a name like the module's, and of
each file the quick ones. Where a fixture reaches the line, every test of its file counts.

Each mutant is a row of RESULTS/mutants.csv: caught, survived, undecided where the limit in seconds came
before the last test, or not reached by any test. A second run with the same words goes on where the first one
stopped, with the copy of then; a row that is deleted is done again. Texts, type hints and docstrings are not
mutated.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import csv
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "helpers"))

from mutating import Mutant, Mutants

ROOT = Path(__file__).resolve().parents[1]
MUTATED = (
    "resolvent/solvers", "resolvent/models", "resolvent/datasets", "resolvent/training",
    "resolvent/evaluation", "resolvent/measurements", "resolvent/figures/common/intervals.py",
    "resolvent/figures/common/comparison.py", "resolvent/figures/experiment/comparison.py",
    "resolvent/figures/experiment/verdict.py",
)  # fmt: skip
# Tests of the whole pipeline take minutes, and what runs by hand or needs a browser is not run either.
NOT_RUN = re.compile(r"pipeline_project|built_once|tests/(faults|slurm|browser|documentation)/")
DEFAULTS = "tests/planning/test_documentation.py"  # holds all defaults to the page that lists them
COLUMNS = ("mutant", "outcome", "by", "seconds", "line")
MEMORY = 8 * 2**30  # of a child


def sampled(root: Path, places: list[str], count: int, seed: int) -> list[Mutant]:
    """Return `count` mutants, with as many of each module as it has of all, drawn by `seed`."""
    files = [file for place in places for file in sorted([root / place, *(root / place).rglob("*.py")])]
    found = []
    for file in (file for file in files if file.suffix == ".py"):
        path = file.relative_to(root).as_posix()
        found += Mutants(path, file.read_text(encoding="utf-8")).found
    print(f"{len(found)} mutants are possible; {count} are drawn")
    return random.Random(seed).sample(found, min(count, len(found)))


class Reach:
    """Find the tests that reach a line."""

    def __init__(self, folder: Path, noted: Path):
        content = json.loads(noted.read_text())
        self.folder, self.seconds = folder, content["seconds"]
        self.of_file: dict[str, list[str]] = {}
        for test in self.seconds:
            self.of_file.setdefault(file_of(test), []).append(test)
        self.lines = {
            path: {int(line): tests for line, tests in lines.items()}
            for path, lines in content["lines"].items()
        }

    def tests(self, mutant: Mutant, count: int) -> list[str]:
        """Return the tests to run, at most `count`, the likeliest first, those of a file together.

        A line inside of a statement is reached where the statement is. What runs at import, and what was
        compiled, in which nobody sees lines, is reached by all tests that reach the module, by those of
        the folder that mirrors the module's, and by those of DEFAULTS.
        """
        lines = self.lines.get((self.folder / mutant.path).resolve().relative_to(self.folder).as_posix(), {})
        before = [line for line in lines if 0 < mutant.begin <= line <= mutant.line]
        found = set(lines[max(before)] if before else itertools.chain(*lines.values()))
        files = {test.removesuffix("::") for test in found if test.endswith("::")}
        if not before:
            mirror = re.sub("^resolvent", "tests", str(Path(mutant.path).parent))
            files |= {DEFAULTS, *(file for file in self.of_file if str(Path(file).parent) == mirror)}
        found = {test for test in found if not test.endswith("::")} & self.seconds.keys()
        found |= {test for file in files for test in self.of_file.get(file, ())}
        words = set(re.split(r"\W|_", mutant.path.removesuffix(".py"))) - {"resolvent", "common", ""}
        own = set(Path(mutant.path).stem.split("_"))
        rank: dict[str, tuple] = {}
        before = Counter[str]()
        for test in sorted(found, key=self.seconds.__getitem__):
            file = file_of(test)
            named = set(re.split(r"\W|_", file.removesuffix(".py")))
            # Slow tests of a file named as the module come before quick ones of others.
            alike = len(words & named) + 20 * len(own & named)
            rank[test] = (before[file] // 20 - alike, self.seconds[test])
            before[file] += 1
        chosen = sorted(rank, key=rank.__getitem__)[:count]
        files = list(dict.fromkeys(map(file_of, chosen)))
        return sorted(chosen, key=lambda test: (files.index(file_of(test)), self.seconds[test]))


def file_of(test: str) -> str:
    return test.partition("::")[0]


class Noted:
    """Keep how long each test takes, with what it set up, as a plugin of pytest."""

    def __init__(self):
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            self.seconds.setdefault(report.nodeid, 0.0)
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration


def note_reach(folder: Path, noted: Path) -> None:
    """Run the tests of `folder` once and write which lines each reaches."""
    files = sorted((folder / "tests").rglob("test_*.py"))
    run = [one for one in files if not NOT_RUN.search(one.as_posix() + one.read_text(encoding="utf-8"))]
    data = noted.with_suffix(".coverage")

    def recorded() -> int:
        import coverage
        import pytest

        plugin = Noted()
        os.environ["COVERAGE_FILE"] = str(data)
        words = [f"--cov={folder}", "--cov-context=test", "--cov-report=", "--continue-on-collection-errors"]
        pytest.main([*QUIET, *words, *(one.relative_to(folder).as_posix() for one in run)], plugins=[plugin])
        found = coverage.CoverageData(str(data))
        found.read()
        lines = {}
        for file in map(Path, found.measured_files()):
            if "tests" not in file.relative_to(folder).parts:
                tests = found.contexts_by_lineno(str(file))
                lines[file.relative_to(folder).as_posix()] = {
                    line: sorted({_test_of(one) for one in contexts if one})
                    for line, contexts in tests.items()
                    if any(contexts)
                }
        noted.write_text(json.dumps({"seconds": plugin.seconds, "lines": lines}))
        return 0

    if not in_a_child(recorded, noted.with_suffix(".log"), 24 * 3600.0) or not noted.exists():
        raise SystemExit(f"the tests could not be run; {noted.with_suffix('.log')} says why")


def _test_of(context: str) -> str:
    """Return the test of a context, or its file with `::` at the end where a fixture was set up."""
    test, _, phase = context.rpartition("|")
    return test if phase == "run" else file_of(test) + "::"


def copy_to(folder: Path) -> None:
    """Copy the tracked files to `folder`, which is there when all of them are."""
    half = folder.with_suffix(".half")
    shutil.rmtree(half, ignore_errors=True)
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        (half / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, half / name, follow_symlinks=False)  # rooms are links to folders
    half.rename(folder)


def preload() -> None:
    """Import what takes long, once for all children; nothing of the project."""
    import jax  # noqa: F401
    import matplotlib.pyplot  # noqa: F401
    import numba  # noqa: F401
    import pandas  # noqa: F401
    import pydantic  # noqa: F401
    import pytest  # noqa: F401
    import scipy.interpolate  # noqa: F401
    import torch
    import xarray  # noqa: F401
    import zarr  # noqa: F401

    torch.set_num_threads(1)


def in_a_child(work: Callable[[], int], log: Path, seconds: float) -> bool | None:
    """Return whether `work` ends with 0 in a process of its own; None when the time is over."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        with open(log, "a") as output:
            for stream in (1, 2):
                os.dup2(output.fileno(), stream)
        status = 1
        with contextlib.suppress(BaseException):
            status = work()
        os._exit(status)
    end = time.monotonic() + seconds
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.setpgid(child, child)
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # what the tests left
            return status == 0
        time.sleep(0.1)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def passed(tests: list[str]) -> int:
    import pytest

    return 0 if int(pytest.main([*QUIET, "-x", *tests])) in (0, 5) else 1


QUIET = [
    "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "--timeout=150", "-o",
    "addopts=--strict-markers -m 'not faults' "
    "--jaxtyping-packages=resolvent.solvers,resolvent.models,beartype.beartype",
]  # fmt: skip


def judged(folder: Path, mutant: Mutant, tests: list[str], log: Path, limit: float, tick: int) -> tuple:
    """Return the outcome of a mutant, and the test that caught it."""
    file = folder / mutant.path
    whole = file.read_bytes()
    changed = whole[: mutant.start] + mutant.text.encode() + whole[mutant.end :]
    try:
        ast.parse(changed)
        file.write_bytes(changed)
        os.utime(file, (tick, tick))  # no two have one date: what was compiled of another is not taken
        result = in_a_child(lambda: passed(tests), log, limit)
        outcome = {None: "undecided", True: "survived", False: "caught"}[result] if tests else "not reached"
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", log.read_text(errors="replace"), re.MULTILINE)
        return outcome, failed[0] if failed else ""
    finally:
        file.write_bytes(whole)
        os.utime(file, (tick + 1, tick + 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("places", nargs="*", default=MUTATED, help="modules or folders to mutate")
    parser.add_argument("--count", type=int, default=240)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=Path("mutants"), help="a folder outside of it")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one mutant")
    parser.add_argument("--tests", type=int, default=200, help="tests for one mutant, at most")
    given = parser.parse_args()
    results = given.results.resolve()
    results.mkdir(parents=True, exist_ok=True)
    table = results / "mutants.csv"
    done = {row["mutant"] for row in csv.DictReader(table.open())} if table.exists() else set()
    folder = results / "project"
    if not folder.exists():
        copy_to(folder)
    drawn = sampled(folder, given.places, given.count, given.seed)
    preload()
    mutated = results / "mutated"
    shutil.rmtree(mutated, ignore_errors=True)
    shutil.copytree(folder, mutated, symlinks=True)
    os.environ |= {"JAX_COMPILATION_CACHE_DIR": str(results / "compiled"), "PYTHONPATH": str(mutated)}
    sys.path[:] = [str(mutated), *(one for one in sys.path if Path(one).resolve() != ROOT / "tests")]
    os.chdir(mutated)
    noted = results / "reach.json"
    if not noted.exists():
        note_reach(mutated, noted)
    reach = Reach(mutated, noted)
    with table.open("a", newline="") as file:
        rows = csv.writer(file)
        if not done:
            rows.writerow(COLUMNS)
        for number, mutant in enumerate(drawn):
            if mutant.name in done:
                continue
            log, begun = results / f"{number:04d}.log", time.monotonic()
            log.write_text(f"{mutant}\n")
            line = (folder / mutant.path).read_text(encoding="utf-8").splitlines()[mutant.line - 1].strip()
            tests, tick = reach.tests(mutant, given.tests), int(time.time()) + 2 * number
            outcome, by = judged(mutated, mutant, tests, log, given.limit, tick)
            rows.writerow([mutant.name, outcome, by, round(time.monotonic() - begun), line])
            file.flush()
            print(f"{number + 1}/{len(drawn)} {outcome} {mutant.name} {by}", flush=True)


if __name__ == "__main__":
    main()
