"""A plan with what is missing behind `ancient` inputs.

Snakemake 9.27 looks at no job downstream of one that must run, for it expects to come to it from there; but
from there it does not go on through `ancient` inputs that exist. So where a dataset is made again it would
leave out the missing results that use it, and end well without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path

from snakemake.dag import DAG


def plan_behind_ancient_inputs() -> None:
    """Let jobs behind `ancient` inputs that exist run, in this process, for reasons of their own alone.

    `--omit-from` walks the same way, and so leaves such jobs in the plan.
    """
    traverse = DAG.bfs
    if hasattr(traverse, "__wrapped__"):
        return

    @wraps(traverse)
    def bfs(dag, direction, *jobs, **options):
        followed = _Followed(direction) if direction is dag.depending else direction
        return traverse(dag, followed, *jobs, **options)

    DAG.bfs = bfs


@dataclass(frozen=True)
class _Followed:
    """The jobs that depend on a job and that run again after it."""

    depending: Mapping

    def __getitem__(self, job) -> dict:
        return {
            other: files
            for other, files in self.depending[job].items()
            if not all(file.is_ancient and Path(file).exists() for file in files)
        }
