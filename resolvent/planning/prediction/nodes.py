"""How a training asks SLURM for the nodes among which its processes are divided."""

from __future__ import annotations

from collections.abc import Callable

from resolvent.planning.prediction.needs import Needs


def placement(needs: Needs) -> dict[str, Callable]:
    """Return the resources of a training that say where SLURM puts it; functions of the job's wildcards.

    A training on one node asks for that node alone. For several nodes the resource `mpi` says to the executor
    plugin that the script on the first one starts what runs on the others; each node has a task, and its
    share of the CPUs and GPUs. What is None is not asked for.
    """

    def several(value: Callable[[object, int], int | str]) -> Callable:
        def of(wildcards: object) -> int | str | None:
            nodes = needs.nodes(wildcards)
            return None if nodes == 1 else value(wildcards, nodes)

        return of

    def cpus(wildcards: object, threads: int) -> int | None:
        nodes = needs.nodes(wildcards)
        return None if nodes == 1 else threads // nodes

    def on_each(wildcards: object, nodes: int) -> str:
        gpus = f" --gpus-per-node={needs.processes(wildcards) // nodes}" if needs.gpu else ""
        return f"--ntasks-per-node=1{gpus}"

    return {
        "nodes": needs.nodes,
        "tasks": several(lambda _, nodes: nodes),
        "cpus_per_task": cpus,
        "mpi": several(lambda *_: "srun"),
        "slurm_extra": several(on_each),
    }
