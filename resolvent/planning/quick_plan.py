"""Plans of thousands of jobs in less time, with the same jobs.

Snakemake 9.27 looks for the job that makes a file once for every job that takes the file, and each time
compares the file with all inputs of the job it finds, lest there be a circle. Where a job has thousands of
inputs and outputs, such as the pages of all runs of an experiment, these are millions of comparisons.
"""

from __future__ import annotations

from functools import lru_cache, wraps

from snakemake.dag import DAG
from snakemake.output_index import OutputIndex


def plan_quickly() -> None:
    """Let each file be looked for once in this process, and no job be planned twice."""
    if not hasattr(DAG.update, "__wrapped__"):
        OutputIndex.match_producers = lru_cache(maxsize=None)(OutputIndex.match_producers)
        DAG.update = _update_once(DAG.update)


def _update_once(update):
    """Return the method `update`, which plans the jobs that may make a file and returns the one that does.

    The only candidate, where it has its place in the plan already, is that job. A circle through it has been
    found when it was given its place, unless it is being given now: then it is among the jobs visited.
    """

    @wraps(update)
    async def update_once(dag, jobs, file=None, visited=None, **options):
        if len(jobs) == 1:
            (job,) = jobs
            if job in dag._dependencies and job not in (visited or ()):
                return job
        return await update(dag, jobs, file=file, visited=visited, **options)

    return update_once
