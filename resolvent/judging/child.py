"""A model in a process of its own, which has the inputs of a test, and of its labels nothing.

The process has a copy of few variables of the environment, and limits of time and memory. Whatever it does,
the evaluation ends with predictions, or with one line. It has the permissions of the user, so it can read the
user's files; labels are read or solved only after it has ended.

The parent writes a line for each question to the standard input of the process, and the inputs to a file; the
process writes predictions to a file, and a line to its standard output. What the model prints goes elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import select
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from resolvent.common.digests import file_digest
from resolvent.common.errors import EvaluationError, ResolventError
from resolvent.datasets.loading import Samples
from resolvent.datasets.storage.layout import grid_facts, grid_from_facts
from resolvent.judging.models import PROGRAM, in_batches, loaded

KEPT = ("PATH", "PYTHONPATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH")
KEPT_BEGINNINGS = ("LC_", "CUDA_", "JAX_", "XLA_", "OMP_", "MKL_", "OPENBLAS_")
MARK = "RESOLVENT_CHILD"  # variable by which processes that a model started are found
POLL = 0.05  # seconds between two looks at the memory of the process
LONGEST_LINE = 2**20  # bytes of an answer
LAST_PRINTED = 2000  # bytes of what the model printed last that are kept
MINUTES, GIGABYTES = 60.0, 16.0  # default limits
MOST_FILES = 1000


class Child:
    """A model that predicts in a process of its own, from `with` on; see above.

    files       SHA-256 of the files that it read so far, except installed packages.
    identified  whether these files are known to be all that its answers depend on: as far as Python reports,
                it contacted no address, and read no more files since `fingerprint`.
    """

    def __init__(self, source: str, minutes: float = MINUTES, gigabytes: float = GIGABYTES):
        self.source, self.minutes, self.gigabytes = source, minutes, gigabytes
        self.files: dict[str, str] = {}
        self.identified, self.fingerprinted = True, False
        self.printed = b""

    def __enter__(self) -> Child:
        self.folder, self.mark = Path(tempfile.mkdtemp(prefix="resolvent-")), uuid.uuid4().hex
        environment = {
            name: value
            for name, value in os.environ.items()
            if name in KEPT or name.startswith(KEPT_BEGINNINGS)
        }
        environment |= {"PYTHONPATH": os.pathsep.join(sys.path), MARK: self.mark}
        if self.source.endswith(PROGRAM):
            environment["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"
        command = [sys.executable, "-m", __spec__.name, self.source, str(self.folder), str(self.gigabytes)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        self.deadline = time.monotonic() + 60 * self.minutes
        self.draining = threading.Thread(target=self._drain, daemon=True)
        self.draining.start()
        try:
            self._identify(self._reply("loading"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, all that it started, and remove its files."""
        self.process.kill()
        for started in _marked(self.mark):
            started.kill()
        self.process.wait()
        self.draining.join(timeout=1)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()  # type: ignore[union-attr]
            except OSError:  # a question that was never read
                continue
        shutil.rmtree(self.folder, ignore_errors=True)

    def predict(self, samples: Samples, group: str) -> tuple[np.ndarray, float]:
        """Return predictions for the inputs of `samples`, and the seconds per sample.

        Raises `EvaluationError` if the model fails, ends, or exceeds a limit.
        """
        place = self.folder / uuid.uuid4().hex
        np.save(place.with_suffix(".inputs.npy"), samples.inputs)
        question = {
            "group": group,
            "place": place.name,
            "grid": grid_facts(samples.grid),
            "target_grid": grid_facts(samples.target_grid),
            "shape": samples.targets.shape,
        }
        try:
            self.process.stdin.write(json.dumps(question).encode() + b"\n")  # type: ignore[union-attr]
            self.process.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            raise self._ended(group) from None
        reply = self._reply(group)
        self._identify(reply)
        values = _read_array(place.with_suffix(".npy"), samples.targets.size)
        if values is None:
            raise EvaluationError(f"{self.source}: the predictions on {group} were not written as an array")
        return values, float(reply.get("seconds", np.nan))

    def fingerprint(self) -> str:
        """Return the SHA-256 of the files read so far; a file read later makes the model not identified."""
        self.fingerprinted = True
        digests = sorted(set(self.files.values()))
        return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()

    def _identify(self, reply: dict[str, Any]) -> None:
        """Add the digests of the files that were read since the last reply."""
        names = [name for name in reply.get("files", []) if _is_own(name, self.folder)]
        new = sorted({name for name in names if _shown(name) not in self.files})
        known = reply.get("connected") is False and len(self.files) + len(new) <= MOST_FILES
        self.identified &= known and not (self.fingerprinted and new)
        for name in new[:MOST_FILES]:
            try:
                self.files[_shown(name)] = file_digest(Path(name))
            except OSError:  # removed meanwhile
                self.identified = False

    def _reply(self, when: str) -> dict[str, Any]:
        """Wait for the next line of the process. Raises `EvaluationError` if there will be none."""
        line, pipe = b"", self.process.stdout
        assert pipe is not None
        while b"\n" not in line:
            if select.select([pipe], [], [], POLL)[0]:
                part = os.read(pipe.fileno(), 2**16)
                line += part
                if not part:
                    raise self._ended(when)
            if time.monotonic() > self.deadline:
                raise EvaluationError(
                    f"{self.source} took longer than {self.minutes:g} minutes ({when}): raise --minutes"
                )
            if _resident(self.process.pid) > self.gigabytes * 1e9:
                limit = f"{self.gigabytes:g} GB of memory"
                raise EvaluationError(f"{self.source} took more than {limit} ({when}): raise --gigabytes")
            if len(line) > LONGEST_LINE:
                raise EvaluationError(f"{self.source} wrote into the pipe of its answers ({when})")
        try:
            reply = json.loads(line)
            error = reply.get("error")
        except (ValueError, AttributeError):
            raise EvaluationError(f"{self.source} wrote into the pipe of its answers ({when})") from None
        if error is not None:
            raise EvaluationError(str(error)[:1000])
        return reply

    def _ended(self, when: str) -> EvaluationError:
        try:
            status = self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            status = 0
        how = f"was ended by signal {-status}" if status < 0 else f"ended, status {status}"
        last = self.printed.decode(errors="replace").strip().rpartition("\n")[2][-300:]
        said = f"; it printed last: {last}" if last else ""
        return EvaluationError(f"{self.source}: its process {how} ({when}); nothing was evaluated{said}")

    def _drain(self) -> None:
        """Read what the model prints, and keep the end."""
        pipe = self.process.stderr
        assert pipe is not None
        while part := pipe.read1(2**16):  # type: ignore[attr-defined]
            self.printed = (self.printed + part)[-LAST_PRINTED:]


def _marked(mark: str) -> Iterator[psutil.Process]:
    """Yield the processes whose environment has the mark."""
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(MARK) == mark:
                yield process
        except psutil.Error:
            continue


def _resident(pid: int) -> int:
    """Return the bytes of memory of a process and its children."""
    total = 0
    try:
        process = psutil.Process(pid)
        for each in (process, *process.children(recursive=True)):
            total += each.memory_info().rss
    except psutil.Error:  # it ended meanwhile
        pass
    return total


def _is_own(name: str, folder: Path) -> bool:
    """Return whether a file that a model read is none of Python, of an installed package, or of `folder`."""
    installed = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), "/proc", "/dev", "/sys"}
    installed |= {"/etc", "/usr", "/lib", str(folder.resolve()), str(Path(__file__).parents[1])}
    ways = Path(os.path.abspath(name)), Path(name).resolve()  # a package may have links
    known = any(path.is_relative_to(place) for place in installed for path in ways)
    return ways[1].is_file() and not known and "__pycache__" not in ways[1].parts


def _shown(name: str) -> str:
    """Return the path of a file relative to the working folder, or its name if it is elsewhere."""
    path = Path(name)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else path.name


def _read_array(path: Path, size: int) -> np.ndarray | None:
    """Read an array of about `size` numbers that a model wrote, or None if there is none."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > 16 * size + 4096:
                return None
            return np.load(BytesIO(file.read()), allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None


def serve(source: str, folder: Path, gigabytes: float) -> None:
    """Load the model and answer the questions of the parent: the process' own side."""
    questions, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    largest = int(gigabytes * 1e9)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    files, reported, connected = dict[str, None](), set[str](), []

    def note(event: str, arguments: tuple) -> None:
        if event == "open" and isinstance(arguments[0], str):
            files[os.path.abspath(arguments[0])] = None
        elif event == "socket.connect":
            connected.append(event)

    def reply(**facts: object) -> None:
        for module in list(sys.modules.values()):
            if isinstance(path := getattr(module, "__file__", None), str):
                files[path] = None
        own = [name for name in list(files) if name not in reported and _is_own(name, folder)]
        reported.update(files)
        facts = {"files": own, "connected": bool(connected), **facts}
        replies.write(json.dumps(facts).encode() + b"\n")
        replies.flush()

    sys.addaudithook(note)
    try:
        answer = loaded(source)
    except ResolventError as error:
        return reply(error=str(error))
    if source.endswith(PROGRAM):
        files[os.path.abspath(source)] = None
    reply()
    for line in questions:
        question = json.loads(line)
        grid, target_grid = (grid_from_facts(question[key]) for key in ("grid", "target_grid"))
        place, group = folder / question["place"], question["group"]
        inputs = np.load(place.with_suffix(".inputs.npy"))
        samples = Samples(grid, inputs, np.broadcast_to(np.nan, question["shape"]), None, target_grid)
        try:
            values, seconds = in_batches(answer, source, samples, group)
        except ResolventError as error:
            reply(error=str(error))
            continue
        np.save(place.with_suffix(".npy"), values)
        reply(seconds=seconds)


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))
