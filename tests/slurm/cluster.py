"""A SLURM for tests: one node on loopback, or hosts of their own; two GPUs that are not there; root only.

    python tests/slurm/cluster.py install      Debian packages
    python tests/slurm/cluster.py start        munge, slurmctld, slurmd on loopback
    python tests/slurm/cluster.py stop         ends jobs and daemons, removes every trace

There is neither systemd nor accounting. Wall time is enforced, and so is memory: by control groups where the
machine has those of version 1, by SLURM's own polling elsewhere. Job arrays are not allowed. The
configuration has to be at /etc/slurm, for the executor plugin clears SLURM_CONF: where one is found there
already, it is another cluster's, and nothing is touched.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
from hosts import BRIDGE_ADDRESS, Host, build_bridge, host_address, host_name, remove_bridge

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge", "iproute2")
SYSTEM = Path("/etc/slurm")
FILES = ("slurm.conf", "gres.conf", "cgroup.conf")
MARKER = "resolvent-test-cluster"
DAEMONS = ("slurmd", "slurmctld", "munged")  # in the order of stopping
CPUS, MEGABYTES = 6, 64_000  # of a node, as SLURM's configuration says: the machine may have fewer
GPUS = 2  # of all nodes together
PORT = 26817
PATIENCE = 30.0  # seconds
NODE_IS_LOST = 15  # seconds without a sign of it
CONTROL_GROUPS = Path("/sys/fs/cgroup")
GROUPS_CONFIGURATION = "CgroupPlugin=cgroup/v1\nConstrainRAMSpace=yes\n"


class ClusterError(Exception):
    """The test cluster cannot be had; the message says why."""


def install() -> None:
    _require_root()
    if all(map(shutil.which, ("munged", "slurmctld", "slurmd", "sbatch", "ip"))):
        return
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "--yes", "--no-install-recommends", *PACKAGES]):
        _run("apt-get", "-q", *words, environment=environment)


_hosts: dict[int, Host] = {}


def start(hosts: int = 0) -> Path:
    """Start the daemons and wait for the nodes; returns the folder of their files.

    So many `hosts` are the nodes; without any the only node is this machine, on loopback.

    Raises
    ------
    ClusterError
        When there is another cluster's configuration, or a node does not come up.
    """
    _require_root()
    for file in FILES:
        if os.path.lexists(SYSTEM / file):
            raise ClusterError(f"{SYSTEM / file} exists: this machine has a cluster, which is left alone")
    folder = Path(tempfile.mkdtemp(prefix="resolvent-slurm-"))
    folder.chmod(0o755)
    (folder / MARKER).touch()
    nodes = {host_name(number): host_address(number) for number in range(1, hosts + 1)}
    for part in ("state", "log", *(f"spool/{node}" for node in nodes or [_host()])):
        (folder / part).mkdir(parents=True)
    for index in range(GPUS):
        os.mknod(folder / f"gpu{index}", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    (folder / "munge.key").write_bytes(secrets.token_bytes(128))
    (folder / "munge.key").chmod(0o600)
    names = {"localhost": "127.0.0.1", _host(): BRIDGE_ADDRESS} | nodes
    (folder / "hosts").write_text("".join(f"{address} {name}\n" for name, address in names.items()))
    (folder / "slurm.conf").write_text(_slurm_configuration(folder, nodes))
    gpus = f"Name=gpu Type=fake File={folder}/gpu[0-{GPUS // max(hosts, 1) - 1}]"
    (folder / "gres.conf").write_text(
        "AutoDetect=off\n" + "".join(f"NodeName={node} {gpus}\n" for node in nodes or [_host()])
    )
    (folder / "cgroup.conf").write_text(GROUPS_CONFIGURATION)
    SYSTEM.mkdir(exist_ok=True)
    for file in FILES:
        (SYSTEM / file).symlink_to(folder / file)
    try:
        munge = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid"}
        munge |= {"log-file": "log/munged.log", "seed-file": "munge.seed"}
        _run("munged", "--force", *(f"--{key}={folder / name}" for key, name in munge.items()))
        if hosts:
            build_bridge()
        _run("slurmctld", "-c", "-i")
        for number in range(1, hosts + 1):
            _start_host(number)
        if not hosts:
            _run("slurmd", "-c")
        wait_until(lambda: node_state() == "idle", PATIENCE, "the nodes are not idle")
    except (ClusterError, subprocess.CalledProcessError) as error:
        logs = [path.read_text(errors="replace")[-2000:] for path in (folder / "log").iterdir()]
        stop()
        raise ClusterError("\n".join([str(error), *logs])) from None
    return folder


def stop() -> None:
    """Cancel all jobs, end the daemons, remove the files; does nothing where no test cluster is."""
    folder = _folder()
    if folder is None:
        return
    if _pid(folder, "slurmctld") is not None:
        if jobs := _run("squeue", "--noheader", "--format=%i", check=False).split():
            _run("scancel", "--full", *jobs, check=False)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and _run("squeue", "--noheader", check=False).strip():
            time.sleep(0.2)
    while _hosts:
        _hosts.popitem()[1].kill()
    for daemon in DAEMONS:
        _end(folder, daemon)
    remove_bridge()
    for file in FILES:
        (SYSTEM / file).unlink(missing_ok=True)
    for group in sorted(CONTROL_GROUPS.glob(f"*/slurm_{_host()}/**/"), reverse=True):
        with contextlib.suppress(OSError):
            group.rmdir()
    shutil.rmtree(folder, ignore_errors=True)


def _start_host(number: int) -> None:
    _hosts[number] = Host.start(number, _running() / "hosts", "slurmd -D 2> /dev/null")


def kill_host(number: int) -> None:
    """Kill the host, and wait until SLURM has noticed."""
    _hosts.pop(number).kill()
    down = 2 * NODE_IS_LOST + PATIENCE
    wait_until(lambda: node_state(host_name(number)).startswith("down"), down, "the node is not down")


def start_host(number: int) -> None:
    """Start the host again, after its end."""
    _start_host(number)
    wait_until(lambda: node_state(host_name(number)) == "idle", PATIENCE, "the node is not idle")


def node_state(*nodes: str) -> str:
    """Return the state of the node, or of all nodes, where they have the same one."""
    of_nodes = [f"--nodes={','.join(nodes)}"] if nodes else []
    return _run("sinfo", "--noheader", "--format=%T", "--partition=cpu", *of_nodes, check=False).strip()


def drain() -> None:
    _run("scontrol", "update", f"nodename={_node()}", "state=drain", "reason=test")


def resume() -> None:
    _run("scontrol", "update", f"nodename={_node()}", "state=resume")


def kill_node() -> None:
    """Kill all that runs on the node at once, as a loss of power does; returns when SLURM has noticed."""
    shepherds = [process for process in psutil.process_iter() if process.name() == "slurmstepd"]
    everything = [process for one in shepherds for process in (one, *one.children(recursive=True))]
    for process in (psutil.Process(_pid(_running(), "slurmd")), *everything):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    wait_until(lambda: node_state().startswith("down"), 2 * NODE_IS_LOST + PATIENCE, "the node is not down")


def start_node() -> None:
    """Start slurmd again, after its end."""
    _run("slurmd")
    wait_until(lambda: node_state() == "idle", PATIENCE, "the node is not idle")


def submit(command: str, *options: str) -> str:
    return _run("sbatch", "--parsable", "--output=/dev/null", f"--wrap={command}", *options).strip()


def lend(folder: Path, environment: dict[str, str], *words: str) -> str:
    """Submit a script with its options from a folder; returns the number of the allocation."""
    return _run("sbatch", "--parsable", f"--chdir={folder}", *words, environment=environment).strip()


def ended(job: str) -> bool:
    return state_of(job) not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING")


def requeue(job: str) -> None:
    _run("scontrol", "requeue", job)
    wait_until(lambda: state_of(job) == "PENDING", PATIENCE, f"job {job} is not queued again")
    start_requeued()


def start_requeued() -> None:
    for job in jobs():
        if job["JobState"] == "PENDING" and job["Restarts"] != "0":
            _run("scontrol", "update", f"jobid={job['JobId']}", "starttime=now")


def state_of(job: str) -> str:
    return next(one["JobState"] for one in jobs() if one["JobId"] == job)


def cancel(job: str) -> None:
    _run("scancel", job)


def minutes_of(job: str) -> int:
    """Return the full minutes that a job has run for, of less than an hour."""
    return int(next(one["RunTime"] for one in jobs() if one["JobId"] == job).split(":")[1])


def limit_time(job: str, minutes: int) -> None:
    _run("scontrol", "update", f"jobid={job}", f"timelimit={minutes}")


def jobs() -> list[dict[str, str]]:
    lines = _run("scontrol", "show", "job", "--all", "--oneliner").splitlines()
    records = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in lines]
    return sorted((one for one in records if "JobId" in one), key=lambda one: int(one["JobId"]))


def wait_until(condition: Callable[[], object], seconds: float, failure: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise ClusterError(f"{failure} after {seconds:.0f} s")
        time.sleep(0.05)


def _host() -> str:
    return socket.gethostname().partition(".")[0]


def _folder() -> Path | None:
    link = SYSTEM / FILES[0]
    folder = link.resolve().parent
    return folder if link.is_symlink() and (folder / MARKER).exists() else None


def _running() -> Path:
    folder = _folder()
    if folder is None:
        raise ClusterError("no test cluster was started")
    return folder


def limits_memory_by_groups() -> bool:
    """Say whether control groups of version 1 are there, with all that SLURM needs of them."""
    return all(os.access(CONTROL_GROUPS / kind / "cgroup.procs", os.W_OK) for kind in ("memory", "freezer"))


def _node() -> str:
    return _run("sinfo", "--noheader", "--format=%n", "--partition=cpu").strip()


def _slurm_configuration(folder: Path, nodes: dict[str, str]) -> str:
    """Write the configuration for these hosts and their addresses, or for this machine alone."""
    in_groups = not nodes and limits_memory_by_groups()
    settings = {
        "ClusterName": "resolventtest",
        "SlurmctldHost": f"{_host()}({BRIDGE_ADDRESS if nodes else '127.0.0.1'})",
        "SlurmUser": "root",
        "SlurmdUser": "root",
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={folder}/munge.socket",
        "CredType": "cred/munge",
        "SlurmctldPort": PORT,
        "SlurmdPort": PORT + 1,
        "SlurmctldPidFile": f"{folder}/slurmctld.pid",
        "SlurmdPidFile": f"{folder}/{'%n.' if nodes else ''}slurmd.pid",
        "SlurmctldLogFile": f"{folder}/log/slurmctld.log",
        "SlurmdLogFile": f"{folder}/log/%n.log",
        "StateSaveLocation": f"{folder}/state",
        "SlurmdSpoolDir": f"{folder}/spool/%n",
        "ProctrackType": "proctrack/cgroup" if in_groups else "proctrack/linuxproc",
        "TaskPlugin": "task/cgroup" if in_groups else "task/none",
        "SwitchType": "switch/none",
        "MpiDefault": "none",
        "AccountingStorageType": "accounting_storage/none",
        "JobAcctGatherType": "jobacct_gather/none" if in_groups else "jobacct_gather/linux",
        "JobAcctGatherFrequency": "task=1",
        "JobCompType": "jobcomp/none",
        "MailProg": "/bin/true",
        "ReturnToService": 2,
        "SchedulerType": "sched/backfill",
        "SchedulerParameters": "batch_sched_delay=0,sched_interval=1,bf_interval=1",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core_Memory",
        "SlurmdParameters": "config_overrides",  # more cores and memory than there are
        "MinJobAge": 3600,  # the plugin asks squeue how finished jobs ended
        "KillWait": 2,
        "SlurmdTimeout": NODE_IS_LOST,
        "MessageTimeout": 5,
        "MaxArraySize": 1,
        "GresTypes": "gpu",
    }
    lines = [f"{key}={value}" for key, value in settings.items()]
    if not in_groups:
        lines.append("JobAcctGatherParams=OverMemoryKill")
    has = f"CPUs={CPUS} RealMemory={MEGABYTES} Gres=gpu:fake:{GPUS // max(len(nodes), 1)} State=UNKNOWN"
    for node, address in (nodes or {_host(): "127.0.0.1"}).items():
        lines.append(f"NodeName={node} NodeAddr={address} {has}")
    for name, default in (("cpu", "YES"), ("gpu", "NO")):
        lines.append(f"PartitionName={name} Nodes=ALL Default={default} MaxTime=1440 State=UP")
    return "\n".join(lines) + "\n"


def _pid(folder: Path, daemon: str) -> int | None:
    try:
        pid = int((folder / f"{daemon}.pid").read_text())
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, ValueError):
        return None
    return None if state == "Z" else pid


def _end(folder: Path, daemon: str) -> None:
    for sent in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + 10
        while (pid := _pid(folder, daemon)) is not None and time.monotonic() < deadline:
            os.kill(pid, sent)
            time.sleep(0.2)


def _require_root() -> None:
    if os.geteuid() != 0:
        raise ClusterError("the test cluster is for root alone, on a machine that is yours")


def _run(*words: str, check: bool = True, environment: dict[str, str] | None = None) -> str:
    finished = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=600)
    if check and finished.returncode:
        raise ClusterError(f"{' '.join(words)}: {finished.stderr or finished.stdout}")
    return finished.stdout


if __name__ == "__main__":
    actions = {"install": install, "start": start, "stop": stop}
    if len(sys.argv) != 2 or sys.argv[1] not in actions:
        sys.exit(__doc__)
    try:
        print(actions[sys.argv[1]]() or "", end="")
    except ClusterError as error:
        sys.exit(f"cluster: {error}")
