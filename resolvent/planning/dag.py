"""Correct how Snakemake 9.27 walks its graph of jobs, and list all jobs behind a rule."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from snakemake.dag import DAG
from snakemake.exceptions import MissingRuleException


def mend_planning() -> None:
    """Make Snakemake also plan jobs that are outdated for their own reasons behind `ancient` inputs.

    Snakemake does not check the jobs downstream of a job that must run: it expects to reach them from that
    job. But its walk downstream stops at `ancient` inputs that exist. After an edit of a solver, the first
    run would therefore regenerate the dataset and skip the trainings, which only a second run would start.
    The card of a dataset has to be an `ancient` input: otherwise regenerating a deleted store by the same
    code would retrain everything. No setting of Snakemake or its plugins reaches this walk.
    """
    DAG.bfs = _bfs


def _bfs(dag, direction, *jobs, stop=lambda job: False) -> Iterator:
    """Walk as `DAG.bfs`, but skip downstream jobs whose inputs from this job are `ancient` and exist."""
    queue, visited = deque(jobs), set(jobs)
    while queue:
        if stop(job := queue.popleft()):
            continue
        yield job
        for other, files in direction[job].items():
            behind = direction is dag.depending and all(
                file.is_ancient and Path(file).exists() for file in files
            )
            if other not in visited and not behind:
                visited.add(other)
                queue.append(other)


def jobs_behind(workflow, rule: str) -> list:
    """Return all jobs upstream of a rule. Whether they must run again is not asked, which is slow."""
    graph, known, seen = type(workflow.dag)(workflow, workflow.rules), set(), set()

    async def reached() -> list:
        waiting = [await graph.rule2job(workflow.get_rule(rule))]
        for job in waiting:
            for file in (one for one in job.input if one not in seen):
                seen.add(file)
                with suppress(MissingRuleException):  # no rule makes it
                    if (maker := max(await graph.file2jobs(file))) not in known:
                        known.add(maker)
                        waiting.append(maker)
        return waiting[1:]

    return workflow.async_run(reached())
