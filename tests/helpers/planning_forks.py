"""Snakemake, and the jobs of a build, as forks of processes that have imported their packages.

To import takes longer than most plans and jobs. Packages alone are imported before: each fork reads the
Snakefile and all of the project by itself. Snakemake starts a job as `sys.executable SCRIPT`; here that is a
small program (`CLIENT`), which asks a process to run the script in a fork: in the job's folder, with its
environment and its output.
"""

import atexit
import gc
import io
import json
import multiprocessing
import os
import runpy
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from functools import cache
from multiprocessing.connection import wait
from pathlib import Path

# torch._dynamo: the first optimiser of a process imports it, for two seconds.
PACKAGES = [
    "snakemake.cli", "snakemake.report.html_reporter", "snakemake.storage", "pandas", "smart_open", "yte",
    "google_crc32c", "jax.numpy", "jaxtyping", "jinja2", "pydantic", "rich.console",
    "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg", "matplotlib.pyplot",
    "plotly.subplots", "av", "numba", "scipy.fft", "scipy.interpolate", "scipy.signal", "scipy.stats",
    "torch", "torch._dynamo", "torch.utils.tensorboard",
    "dask.array", "diffrax", "distributed", "h5netcdf", "s3fs", "xarray", "zarr",
]  # fmt: skip
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(PACKAGES)
EVERY_FORMAT = "EVERY_FORMAT"  # in the environment of a build
CLIENT = """\
#!{python} -IS
import json, os, socket, sys
if not sys.argv[1].endswith(".py"):
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect({address!r})
    socket.send_fds(connection, [len(request).to_bytes(8, "big")], [0, 1, 2])
    connection.sendall(request)
    status = connection.recv(1)
sys.exit(status[0] if status else 1)  # without one, the fork was killed
"""


def without_jobs(folder: Path, *words: object, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Do what `snakemake WORDS` does in `folder`, with words for which it runs no job.

    Return its status and what it printed. `environment` is in place of this process's.
    """
    return _in_a_fork(_snakemake, folder, words, environment, sys.executable)


def dry_run(folder: Path, *words: object, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Do what `snakemake --dry-run WORDS` does in `folder`; return its status and what it printed."""
    return without_jobs(folder, "--dry-run", *words, environment=environment)


def build(folder: Path, *words: object, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Do what `snakemake WORDS` does in `folder`, with jobs that are forks, too."""
    return _in_a_fork(_snakemake, folder, words, environment, _python_of_forks())


def run_code(
    folder: Path, code: str, *words: object, environment: dict[str, str] | None = None
) -> tuple[int, str]:
    """Do what `python -c CODE WORDS` does in `folder`; return its status and what it printed."""
    return _in_a_fork(_code, folder, words, environment, code)


def _in_a_fork(act, folder: Path, words, environment: dict[str, str] | None, given: str) -> tuple[int, str]:
    environment = dict(os.environ if environment is None else environment)
    with tempfile.NamedTemporaryFile("r") as output:
        started = (act, str(folder), [*map(str, words)], environment, output.name, given)
        fork = FORKS.Process(target=_started, args=started)
        fork.start()
        fork.join()
        return fork.exitcode, output.read()


def _started(
    act, folder: str, words: list[str], environment: dict[str, str], output: str, given: str
) -> None:
    gc.freeze()  # a look for garbage among what is imported would also copy its memory
    file = os.open(output, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(file, stream.fileno())
    _enter(folder, environment, folder)
    act(words, given)


def _snakemake(words: list[str], python: str) -> None:
    sys.argv, sys.executable = ["snakemake", *words], python
    from snakemake.cli import main

    main(words)


def _code(words: list[str], code: str) -> None:
    sys.argv = ["-c", *words]
    exec(code, {"__name__": "__main__"})


def _enter(folder: str, environment: dict[str, str], first: str) -> None:
    """Be in this folder, with this environment; import from `first` and PYTHONPATH before all else."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in environment
    sys.path[:0] = [first, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]


@cache
def _python_of_forks() -> str:
    """Start what runs the jobs; return the program that stands for Python."""
    folder = Path(tempfile.mkdtemp(prefix="resolvent-forks-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    address, client, ready = str(folder / "socket"), folder / "python", FORKS.Event()
    client.write_text(CLIENT.format(python=sys.executable, address=address))
    client.chmod(0o755)
    FORKS.Process(target=_serve, args=(address, ready), daemon=True).start()
    assert ready.wait(60)
    return str(client)


def _serve(address: str, ready) -> None:
    """Run each script that is asked for at the address in a fork, until the process that asks has ended."""
    asking = multiprocessing.parent_process().sentinel
    _prepare()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: they answer for themselves
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        ready.set()
        while asking not in wait([server, asking]):
            connection, _ = server.accept()
            if os.fork() == 0:
                server.close()
                connection.sendall(bytes([_run(connection)]))
                os._exit(0)
            connection.close()


def _prepare() -> None:
    """Do once what each job would do for a second: read fonts, list what is installed, set up Numba.

    Jobs write figures as SVG without a layout, which takes half its time, and as PNG and PDF, which take
    twice its time, write one drawn here. As users have them, those of reports and datasets are drawn by
    tests/test_outside.py, where `EVERY_FORMAT` is set, those of papers and of the theory by tests/figures.
    """
    import numba
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    numba.njit(lambda: 0)()
    figure = Figure()
    figure.subplots().set_title("$x^2$")
    drawn = {kind: io.BytesIO() for kind in ("svg", "png", "pdf")}
    for kind, content in drawn.items():
        figure.savefig(content, format=kind)
    save, lay_out = Figure.savefig, ConstrainedLayoutEngine.execute

    def save_svg(figure, path, *, format, **options) -> None:
        if format == "svg" or EVERY_FORMAT in os.environ:
            save(figure, path, format=format, **options)
        else:
            Path(path).write_bytes(drawn[format].getvalue())

    Figure.savefig = save_svg
    ConstrainedLayoutEngine.execute = lambda *given: EVERY_FORMAT in os.environ and lay_out(*given)


def _run(connection: socket.socket) -> int:
    """Run the script, and return its exit status, as the interpreter would."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, files, *_ = socket.recv_fds(connection, 8, 3)
    with connection.makefile("rb") as request:
        words, folder, environment = json.loads(request.read(int.from_bytes(size, "big")))
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    _enter(folder, environment, str(Path(words[0]).parent))
    sys.argv = words
    try:
        runpy.run_path(words[0], run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return status
