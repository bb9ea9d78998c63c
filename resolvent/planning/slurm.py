"""Work around failures of snakemake-executor-plugin-slurm 2.8. Each failure, and its workaround:

1. **Jobs are forgotten.** When `query_job_status` returns no states five times in a row, the plugin drops the
   jobs, and Snakemake waits forever. This takes twenty seconds if SLURM's controller is down, and one query
   if `sacct` has no database. Expected: jobs keep their last known states. Workaround: `_States`.
2. **A temporary refusal fails the job.** `sbatch` refuses jobs while the controller is down or the user has
   reached a limit on jobs. The retries are used up within seconds, each requesting more memory and time than
   the last. Expected: the submission waits. Workaround: `submit` replaces `subprocess.Popen`.
3. **A late answer runs a job twice.** When the controller answers late, `sbatch` reports a failure although
   the job was accepted. A second submission would run the job twice and write the same files. Expected: the
   plugin looks for the job before it submits again. Workaround: each submission has a unique mark in its
   comment, and `submit` looks for it.
4. **Clusters without accounting are not supported.** Without an account and without `sacct` every submission
   fails; if it is the submission of a group, Snakemake waits forever. On clusters that allow no job arrays
   the plugin does not start, although it needs none. Expected: no account is guessed, a group that could not
   be submitted fails, arrays are not required. Workaround: the rest of `be_patient_with_slurm`.

tests/planning/test_slurm.py has a test for each, with scripts in place of SLURM; tests/slurm runs a real one.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Sequence
from functools import wraps
from itertools import chain, repeat
from typing import Any

from snakemake.logging import logger

PLUGIN = "snakemake_executor_plugin_slurm"
ASKED_FOR = 60  # timeout in seconds of queries, as in the plugin
SUBMITTED_FOR = 300  # timeout in seconds of sbatch, which itself retries several times
PATIENCE = 3600  # seconds to wait for a controller that is down
PAUSES = (5, 10, 20, 30, 60)  # seconds between attempts; the last one repeats
NO_ANSWER = "no answer"
AWAY = re.compile(
    r"unable to contact slurm controller|socket timed out|zero bytes were transmitted|"
    rf"connection (refused|reset)|temporarily un(available|able)|controller in standby|^{NO_ANSWER}$",
    re.IGNORECASE,
)
# Message of sbatch for every limit, and the name of the limit, which newer versions print on the line before.
LIMIT, WHICH_LIMIT = re.compile(r"job submit limit"), re.compile(r"\b(?:Assoc|QOS)\w*Limit\b")
OWN_JOBS = ("squeue", "--noheader", "--me", "--format=%i")
MARKED_JOBS = ("squeue", "--noheader", "--me", "--states=all", "--format=%i %k")

_given_up = threading.Event()  # set when Snakemake cancels its jobs


def be_patient_with_slurm() -> None:
    """Patch the plugin, if it is loaded in this process, against the failures listed above."""
    plugin: Any = sys.modules.get(PLUGIN)
    if plugin is None or hasattr(plugin.Executor.run_job, "__wrapped__"):
        return
    states, status = _States(plugin), plugin.Executor.get_status_command
    plugin.query_job_status = states.query
    plugin.Executor.get_status_command = lambda executor: "squeue" if states.sacct_fails else status(executor)
    plugin.subprocess = _Subprocess()
    command, account, size = plugin.get_submit_command, plugin.get_account, plugin.get_max_array_size
    run_job, cancel = plugin.Executor.run_job, plugin.Executor.cancel

    @wraps(command)
    def marked(job, params: dict, **options) -> str:
        comment = f"{params['comment_str']}#{uuid.uuid4().hex[:12]}"
        return command(job, params | {"comment_str": comment}, **options)

    @wraps(account)
    def guess(logger) -> str | None:
        try:
            return account(logger)
        except FileNotFoundError:  # there is no `sacct`
            return None

    @wraps(run_job)
    def run(executor, job) -> None:
        try:
            until_slurm_answers(OWN_JOBS)
            run_job(executor, job)
        except Exception as error:  # including errors raised by the plugin's own reporting for groups
            executor._report_job_error_threadsafe(
                plugin.SubmittedJobInfo(job), f"The submission failed: {error.__context__ or error}"
            )

    @wraps(cancel)
    def give_up(executor) -> None:
        _given_up.set()
        cancel(executor)

    plugin.get_submit_command, plugin.get_account = marked, guess
    # The plugin requires a maximum array size of at least two, even if it submits no arrays.
    plugin.get_max_array_size = wraps(size)(lambda: max(2, size()))
    plugin.Executor.run_job, plugin.Executor.cancel = run, give_up


def submit(call: str, script: str | None = None) -> subprocess.CompletedProcess:
    """Call sbatch until it gives a definite answer; return the answer.

    Waits up to an hour for a controller that is down, and waits at a limit on jobs as long as the user has
    jobs that can end. Before each retry, looks for the job, which may have been accepted without an answer.
    """
    reported = ""
    for pause in chain(PAUSES, repeat(PAUSES[-1])):
        answer = _run(shlex.split(call), SUBMITTED_FOR, script or "")
        if answer.returncode == 0 or not _may_pass(answer.stderr):
            return answer
        if (reason := _last_line(answer.stderr)) != reported:
            logger.warning(f"SLURM accepts no jobs at the moment, trying again: {reason}")
            reported = reason
        if _given_up.wait(pause) or (listed := until_slurm_answers(MARKED_JOBS)) is None:
            return answer
        if job := _job_marked_as(call, listed):
            logger.warning(f"SLURM had already accepted the job as {job}.")
            return subprocess.CompletedProcess(call, 0, job, "")
    raise AssertionError("pauses never end")


def until_slurm_answers(words: Sequence[str]) -> str | None:
    """Query the controller until it answers; return its output, or None after an hour without an answer."""
    reported, end = False, time.monotonic() + PATIENCE
    for pause in chain(PAUSES, repeat(PAUSES[-1])):
        answer = _run(words, ASKED_FOR)
        if answer.returncode == 0 and reported:
            logger.warning("SLURM answers again.")
            reported = False
            _given_up.wait(PAUSES[0])  # until it has processed earlier submissions
            answer = _run(words, ASKED_FOR)
        if answer.returncode == 0:
            return answer.stdout
        if not reported:
            reason = _last_line(answer.stderr)
            logger.warning(f"SLURM does not answer; submissions wait up to an hour: {reason}")
            reported = True
        if time.monotonic() > end or _given_up.wait(pause):
            return None
    raise AssertionError("pauses never end")


def _may_pass(refusal: str) -> bool:
    """Return whether a refusal is temporary; a limit on jobs is, if the user has jobs that can end."""
    if not LIMIT.search(refusal):
        return bool(AWAY.search(refusal))
    own = _run(OWN_JOBS, ASKED_FOR)
    some = own.returncode != 0 or bool(own.stdout.strip())
    return some and all("Submit" in limit for limit in WHICH_LIMIT.findall(refusal))


def _job_marked_as(call: str, listed: str) -> str | None:
    """Return the id of the job that this call of sbatch submitted, if it is listed."""
    mark = re.search(r"#[0-9a-f]{12}\b", call)
    return next((line.split()[0] for line in listed.splitlines() if mark and mark[0] in line), None)


def _run(words: Sequence[str], seconds: float, said: str = "") -> subprocess.CompletedProcess:
    try:
        return subprocess.run(words, input=said, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, "", NO_ANSWER)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [NO_ANSWER])[-1]


class _Subprocess:
    """Replace the module `subprocess` in the plugin, which uses `Popen` only for sbatch."""

    def __getattr__(self, name: str):
        return getattr(subprocess, name)

    class Popen:
        returncode: int | None = None

        def __init__(self, call: str, **_):
            self._call = call

        def communicate(self, input: str | None = None) -> tuple[str, str]:
            answer = submit(self._call, input)
            self.returncode = answer.returncode
            return answer.stdout, answer.stderr


class _States:
    """Query `squeue` if `sacct` fails; if both fail, keep the last known job states."""

    def __init__(self, plugin: Any):
        self._query, self._by_squeue = plugin.query_job_status, plugin.query_job_status_squeue
        self.sacct_fails = self._silent = False

    async def query(self, command: str, logger) -> tuple[dict[str, str], float]:
        answer = await self._query(command, logger)
        if answer[0] is None and command.startswith("sacct"):
            answer = await self._query(self._by_squeue(command.split()[-1]), logger)
            if answer[0] is not None and not self.sacct_fails:
                logger.warning("`sacct` fails; using `squeue` for job states.")
                self.sacct_fails = True
        if (answer[0] is None) != self._silent:
            self._silent = not self._silent
            silent = "SLURM reports no job states; keeping the last known states and asking again."
            logger.warning(silent if self._silent else "SLURM reports job states again.")
        return ({}, 0.0) if self._silent else answer
