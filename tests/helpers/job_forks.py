"""Jobs of a build as forks of a process that has imported their packages, which takes longer than most jobs.

Snakemake starts a job as `sys.executable SCRIPT`. In these builds that is a small program (`CLIENT`), which
asks the process here to run the script in a fork: in the job's folder, with its environment and its output.
As in `planning_forks`, packages alone are imported there: each fork reads all of the project by itself.
"""

import atexit
import json
import multiprocessing
import os
import runpy
import signal
import socket
import sys
import traceback
from multiprocessing.connection import wait
from pathlib import Path

PACKAGES = [
    "google_crc32c",
    "jax.numpy",
    "jaxtyping",
    "jinja2",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "numba",
    "plotly.subplots",
    "pydantic",
    "scipy.fft",
    "scipy.interpolate",
    "scipy.signal",
    "scipy.stats",
    "torch",
    "xarray",
    "zarr",
]
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


def write_client(path: Path, address: str) -> None:
    """Write the program that stands for Python."""
    path.write_text(CLIENT.format(python=sys.executable, address=address))
    path.chmod(0o755)


def enter(folder: str, environment: dict[str, str], first: str) -> None:
    """Be in this folder, with this environment; import from `first` and PYTHONPATH before all else."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = [first, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]


def serve(address: str, ready) -> None:
    """Run each script that is asked for at the address in a fork, until the process that asks has ended."""
    asking = multiprocessing.parent_process().sentinel
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


def _run(connection: socket.socket) -> int:
    """Run the script, and return its exit status, as the interpreter would."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, files, *_ = socket.recv_fds(connection, 8, 3)
    with connection.makefile("rb") as request:
        words, folder, environment = json.loads(request.read(int.from_bytes(size, "big")))
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    enter(folder, environment, str(Path(words[0]).parent))
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
