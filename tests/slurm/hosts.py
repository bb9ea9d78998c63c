"""Hosts of their own on one machine: namespaces of network, names, processes and mounts; root only.

A host has an address, a name that it and the others know, and nothing of the others' processes. To kill it is
to kill all of it at once, with its address, as a loss of power does. Files are the machine's.
"""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

BRIDGE = "resolventbr"
NETWORK = "10.213.97"  # .1 is this machine
BRIDGE_ADDRESS = f"{NETWORK}.1"
NAMESPACES = ("--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
START = """
hostname {name} && mount --bind {names} /etc/hosts && ip link set lo up &&
until ip address show eth0 2> /dev/null | grep -q {address}; do sleep 0.05; done && {command}
"""


@dataclass
class Host:
    name: str
    address: str
    process: subprocess.Popen

    @classmethod
    def start(cls, number: int, names: Path, command: str) -> Host:
        """Start the host of this number, which runs the command; `names` stands for its /etc/hosts."""
        name, address = host_name(number), host_address(number)
        start = START.format(name=name, names=names, address=address, command=command)
        process = subprocess.Popen(["unshare", *NAMESPACES, "sh", "-c", start], stdin=subprocess.DEVNULL)
        own = Path("/proc/self/ns/net").readlink()
        while (Path("/proc") / str(process.pid) / "ns/net").readlink() == own:
            time.sleep(0.01)
        here = f"resolvent{number}"
        ip("link", "add", here, "type", "veth", "peer", "name", "eth0", "netns", str(process.pid))
        ip("link", "set", here, "master", BRIDGE, "up")
        inside = ("nsenter", "--target", str(process.pid), "--net")
        ip("address", "add", f"{address}/24", "dev", "eth0", inside=inside)
        ip("link", "set", "eth0", "up", inside=inside)
        return cls(name, address, process)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def host_name(number: int) -> str:
    return f"resolvent-host{number}"


def host_address(number: int) -> str:
    return f"{NETWORK}.{number + 1}"


def build_bridge() -> None:
    ip("link", "add", BRIDGE, "type", "bridge")
    ip("address", "add", f"{BRIDGE_ADDRESS}/24", "dev", BRIDGE)
    ip("link", "set", BRIDGE, "up")


def remove_bridge() -> None:
    subprocess.run(["ip", "link", "delete", BRIDGE], capture_output=True)


def ip(*words: str, inside: tuple[str, ...] = ()) -> None:
    subprocess.run([*inside, "ip", *words], check=True, capture_output=True, text=True)
