"""The graph of jobs of Snakemake 9.27: what its plans leave out, and a list of all jobs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from snakemake.dag import DAG
from snakemake.exceptions import MissingRuleException


def mend_planning() -> None:
    """Plan what is missing, or of other code, behind `ancient` inputs.

    Snakemake asks no job behind one that must run for reasons of its own, for it expects to come to it from
    there; but from there it does not go on through `ancient` inputs that exist. So where a solver was edited,
    it would leave the trainings that are to follow to a second run, and show old runs on new data after the
    first. No other way was found: a dataset's card that is no `ancient` input would have everything trained
    again where a store was deleted or is made again by the same code, and no setting of Snakemake's, nor of
    its plugins, reaches this walk.
    """
    DAG.bfs = _bfs


def _bfs(dag, direction, *jobs, stop=lambda job: False) -> Iterator:
    """Walk as `DAG.bfs` does, but not to jobs that need of one before them only that its files exist."""
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
    """Return the jobs that make what a rule without wildcards takes, whether or not they are done.

    No job is asked whether it has to run again, for which Snakemake takes longer than for all else.
    """
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
