"""Use names of Snakemake that it does not document. Each comment says what a name buys with Snakemake 9.27.

tests/planning/test_dag.py holds them against the installed version. Nothing else of the project may use them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from snakemake.dag import DAG
from snakemake.exceptions import MissingRuleException
from snakemake.io import _IOFile, sourcecache_entry


def of_data(file: str) -> Any:
    """Return a file next to a store, as an input that Snakemake records without the folder of all data.

    Moved data then run 0 jobs; recorded by its path, the input would make everything behind it run.
    """
    return sourcecache_entry(file, f"data_root/{Path(file).parent.name}/{Path(file).name}")


def mend_planning() -> None:
    """Let jobs behind `ancient` inputs run for their own reasons, and for no others.

    Two faults: Snakemake does not check the jobs downstream of a job that must run, since it expects to reach
    them from that job; but its walk downstream stops at `ancient` inputs that exist. And where they do not
    exist, it walks on: data that were deleted, and are made again with the same bytes, would train everything
    again. So such inputs count as existing while jobs are selected.
    """
    # In the chain card, result, page of the test, a changed check of the card and a changed version of the
    # result plan all three jobs in one run; without this, only the card.
    DAG.bfs = _bfs
    update_needrun, exists, selecting = DAG.update_needrun, _IOFile.exists, False

    async def select(dag, create_inventory: bool = False) -> None:
        nonlocal selecting
        # Reads the times of files that exist, so before.
        if create_inventory and dag.workflow.is_main_process:
            await dag.workflow.iocache.mtime_inventory(dag.jobs)
        # Of the same chain, a card that was deleted plans the card alone; without this, all three jobs.
        selecting = True
        try:
            await update_needrun(dag)
        finally:
            selecting = False

    async def exists_or_is_made_again(file: _IOFile) -> bool:
        return (selecting and _is_regenerated(file)) or await exists(file)

    DAG.update_needrun, _IOFile.exists = select, exists_or_is_made_again


def _is_regenerated(file: _IOFile) -> bool:
    return file.is_ancient and "sourcecache_entry" in file.flags


def _bfs(dag, direction, *jobs, stop=lambda job: False) -> Iterator:
    """Walk as `DAG.bfs`, but skip downstream jobs whose inputs from this job do not make them run."""
    queue, visited = deque(jobs), set(jobs)
    while queue:
        if stop(job := queue.popleft()):
            continue
        yield job
        for other, files in direction[job].items():
            behind = direction is dag.depending and all(
                _is_regenerated(file) or (file.is_ancient and os.path.exists(file)) for file in files
            )
            if other not in visited and not behind:
                visited.add(other)
                queue.append(other)


def settings_of_config(workflow) -> Any:
    """Return the files and values of the configuration, as given on the command line."""
    return workflow.config_settings


def force(workflow, rule: str) -> None:
    """Let a rule run, as `-R` does. Without this, 0 jobs make a deleted store, whose receipts remain."""
    workflow.dag.forcerules.add(workflow.get_rule(rule))


def jobs_behind(workflow, rule: str) -> list:
    """Return all jobs upstream of a rule. Whether they must run again is not asked, which is slow."""
    graph = type(workflow.dag)(workflow, workflow.rules)
    files, makers = set[Any](), dict[Any, None]()

    async def reached() -> list:
        waiting = [await graph.rule2job(workflow.get_rule(rule))]
        for job in waiting:
            for file in sorted(set(job.input) - files):
                files.add(file)
                with suppress(MissingRuleException):  # no rule makes it
                    if (maker := max(await graph.file2jobs(file))) not in makers:
                        makers[maker] = None
                        waiting.append(maker)
        return list(makers)

    return workflow.async_run(reached())


def planned_jobs(workflow) -> list:
    """Return the jobs of a plan that write files; none without a plan. A dry run counts all as finished."""
    planned = workflow.dag.needrun_jobs(exclude_finished=False) if workflow.dag else []
    return [job for job in planned if job.output]


def names_of_targets(workflow) -> set[str]:
    return {job.name for job in workflow.dag.targetjobs}


def lift_rate_limit(workflow) -> None:
    """Remove the default limit on jobs started per second.

    With it Snakemake visits all ready jobs every second, once for each finished job: after 100 jobs this
    takes a third of a core, and it grows.
    """
    limiter = workflow.scheduler.job_rate_limiter
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == (100, 1):
        workflow.scheduler.job_rate_limiter = None


def failed_jobs(workflow) -> Iterator:
    """Yield every job that failed, also those of failed groups."""
    for failed in workflow.scheduler.failed:
        yield from failed.jobs if failed.is_group() else [failed]
