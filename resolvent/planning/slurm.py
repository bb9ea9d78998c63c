"""Work around failures of snakemake-executor-plugin-slurm 2.8: a report of each, and what is done here.

1. **Jobs are forgotten.** When `query_job_status` returns no states five times in a row, the plugin drops the
   jobs, and Snakemake waits for ever. With SLURM's controller away that takes twenty seconds; where `sacct`
   has no database behind it, one look. Expected: jobs keep the states last known. Here: `_States`.
2. **A refusal for the moment fails the job.** `sbatch` refuses while the controller is away or the user has
   as many jobs as are allowed. The retries are used up within seconds, each asking for more memory and time
   than the last. Expected: the submission waits. Here: `submit`, in place of `subprocess.Popen`.
3. **A late answer runs a job twice.** When the controller answers late, `sbatch` says that it failed, and the
   job runs all the same. Submitted again, it would run twice and write the same files. Expected: the job is
   looked for before it is submitted again. Here: each submission has a mark in its comment, and `submit`
   looks for it.
4. **A cluster without accounting is not usable.** Without an account and without `sacct` every submission
   fails, and when that of a group does, Snakemake waits for ever. Where the cluster allows no job arrays, the
   plugin does not start, although it needs none. Expected: no account is guessed, a group that was not
   submitted has failed, arrays are not asked for. Here: the rest of `be_patient_with_slurm`.

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
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import chain, repeat
from typing import Any

from snakemake.logging import logger

PLUGIN = "snakemake_executor_plugin_slurm"
ASKED_FOR = 60  # seconds for an answer that changes nothing; the plugin gives `squeue` as long
SUBMITTED_FOR = 300  # seconds for an answer of sbatch, which tries several times by itself
PATIENCE = 3600  # seconds for a controller that is away
PAUSES = (5, 10, 20, 30, 60)  # seconds; the last one again and again
NO_ANSWER = "no answer"
AWAY = re.compile(
    r"unable to contact slurm controller|socket timed out|zero bytes were transmitted|"
    rf"connection (refused|reset)|temporarily un(available|able)|controller in standby|^{NO_ANSWER}$",
    re.IGNORECASE,
)
# What sbatch says of every limit, and the line before it, which newer versions say of the one that was met.
LIMIT, WHICH_LIMIT = re.compile(r"job submit limit"), re.compile(r"\b(?:Assoc|QOS)\w*Limit\b")
OWN_JOBS = ("squeue", "--noheader", "--me", "--format=%i")
MARKED_JOBS = ("squeue", "--noheader", "--me", "--states=all", "--format=%i %k")

_given_up = threading.Event()  # Snakemake cancels its jobs and ends


def be_patient_with_slurm() -> None:
    """Let the plugin, where there is one in this process, survive what is listed above."""
    plugin: Any = sys.modules.get(PLUGIN)
    if plugin is None or hasattr(plugin.Executor.run_job, "__wrapped__"):
        return
    states = _States(plugin)
    plugin.query_job_status = states.query
    plugin.Executor.get_status_command = states.command
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
        except Exception as error:  # also the plugin's own, when it says what failed in a group
            executor._report_job_error_threadsafe(
                plugin.SubmittedJobInfo(job), f"The submission failed: {error.__context__ or error}"
            )

    @wraps(cancel)
    def give_up(executor) -> None:
        _given_up.set()
        cancel(executor)

    plugin.get_submit_command, plugin.get_account = marked, guess
    # The plugin wants arrays of two jobs to be allowed even where it is to make none.
    plugin.get_max_array_size = wraps(size)(lambda: max(2, size()))
    plugin.Executor.run_job, plugin.Executor.cancel = run, give_up


def submit(call: str, script: str | None = None) -> subprocess.CompletedProcess:
    """Run a call of sbatch until it is answered for good; returns the answer.

    A controller that is away is waited for, up to an hour, and so is room below a limit of the user's jobs,
    as long as the user has any. What may have been submitted without an answer is looked for before it is
    submitted again.
    """
    reported = ""
    for pause in chain(PAUSES, repeat(PAUSES[-1])):
        answer = _run(shlex.split(call), SUBMITTED_FOR, script or "")
        if answer.returncode == 0 or not _may_pass(answer.stderr):
            return answer
        if (reason := _last_line(answer.stderr)) != reported:
            logger.warning(f"SLURM takes no job for now, and is asked again: {reason}")
            reported = reason
        if _given_up.wait(pause) or (listed := until_slurm_answers(MARKED_JOBS)) is None:
            return answer
        if job := _job_marked_as(call, listed):
            logger.warning(f"SLURM had taken the job, as {job}.")
            return subprocess.CompletedProcess(call, 0, job, "")
    raise AssertionError("pauses never end")


def until_slurm_answers(words: Sequence[str]) -> str | None:
    """Ask the controller until it answers; returns what it says, or None after an hour without an answer."""
    reported, end = False, time.monotonic() + PATIENCE
    for pause in chain(PAUSES, repeat(PAUSES[-1])):
        answer = _run(words, ASKED_FOR)
        if answer.returncode == 0 and reported:
            logger.warning("SLURM answers again.")
            reported = False
            _given_up.wait(PAUSES[0])  # while it looks at what it was sent before
            answer = _run(words, ASKED_FOR)
        if answer.returncode == 0:
            return answer.stdout
        if not reported:
            logger.warning(
                f"SLURM does not answer; submissions wait for it, up to an hour: {_last_line(answer.stderr)}"
            )
            reported = True
        if time.monotonic() > end or _given_up.wait(pause):
            return None
    raise AssertionError("pauses never end")


def _may_pass(refusal: str) -> bool:
    """Say whether sbatch may say otherwise later; of a limit, when there are jobs of the user to end."""
    if not LIMIT.search(refusal):
        return bool(AWAY.search(refusal))
    own = _run(OWN_JOBS, ASKED_FOR)
    some = own.returncode != 0 or bool(own.stdout.strip())
    return some and all("Submit" in limit for limit in WHICH_LIMIT.findall(refusal))


def _job_marked_as(call: str, listed: str) -> str | None:
    """Return the number of the job that this call of sbatch has submitted, if it is listed."""
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
    """Stand for the module `subprocess` in the plugin, which starts only calls of sbatch by `Popen`."""

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
    """Ask `squeue` how jobs are where `sacct` fails; where both do, nothing new is known of any job."""

    def __init__(self, plugin: Any):
        self._query, self._by_squeue = plugin.query_job_status, plugin.query_job_status_squeue
        self._command = plugin.Executor.get_status_command
        self._sacct_fails = self._silent = False

    async def query(self, command: str, logger) -> tuple[dict[str, str], float]:
        answer = await self._query(command, logger)
        if answer[0] is None and command.startswith("sacct"):
            answer = await self._query(self._by_squeue(command.split()[-1]), logger)
            if answer[0] is not None and not self._sacct_fails:
                logger.warning("`sacct` fails; `squeue` is asked how jobs are.")
                self._sacct_fails = True
        if (answer[0] is None) != self._silent:
            self._silent = not self._silent
            logger.warning(
                "SLURM does not say how jobs are; they are left alone, and asked after again."
                if self._silent
                else "SLURM says again how jobs are."
            )
        return ({}, 0.0) if self._silent else answer

    @property
    def command(self) -> Callable:
        """Name the command, in place of the executor's method: once `sacct` has failed, the other one."""
        return lambda executor: "squeue" if self._sacct_fails else self._command(executor)
