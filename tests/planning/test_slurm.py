"""Each failure of the plugin that `resolvent.planning.slurm` reports, with scripts in place of SLURM.

A real SLURM: tests/slurm.
"""

import asyncio
import sys
from types import ModuleType, SimpleNamespace

import pytest
from snakemake.resources import Resources

from resolvent.planning import slurm
from resolvent.planning.job import NO_GPU, hand_down_no_gpu

MARK = "#0123456789ab"
CALL = f"sbatch --comment 'rule_train{MARK}' --wrap='true'"
AWAY = "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)"
POLICY = (
    "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy "
    "(job submit limit, user's size and/or time limits)"
)
PLAYED = """#!/bin/sh
echo asked >> {folder}/{name}.asked
for answer in {folder}/{name}.*.answer; do
    mv $answer $answer.given
    . $answer.given
    exit
done
"""


@pytest.fixture
def played(tmp_path, monkeypatch):
    """Say how `sbatch` and `squeue` answer, in turn; returns how often each was asked."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(slurm, "PAUSES", (0.01,))

    def play(name, *answers):
        for number, answer in enumerate(answers):
            (tmp_path / f"{name}.{number}.answer").write_text(f"{answer}\n")
        program = tmp_path / name
        program.write_text(PLAYED.format(folder=tmp_path, name=name))
        program.chmod(0o755)
        return lambda: (tmp_path / f"{name}.asked").read_text().count("asked")

    return play


def refused(text):
    return f"echo '{text.replace(chr(39), '')}' >&2; exit 1"


def test_a_refusal_for_good_is_handed_on_at_once(played):
    asked = played("sbatch", refused("sbatch: error: invalid partition specified: cpus"))
    answer = slurm.submit(CALL)
    assert answer.returncode == 1
    assert "invalid partition" in answer.stderr
    assert asked() == 1


def test_a_controller_that_is_away_is_asked_again(played):
    asked = played("sbatch", refused(AWAY), refused(AWAY), "echo 17")
    played("squeue", refused(AWAY), *["true"] * 4)
    assert slurm.submit(CALL).stdout == "17\n"
    assert asked() == 3


def test_a_job_that_was_taken_without_an_answer_is_not_submitted_again(played):
    late = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
    asked = played("sbatch", refused(late))
    played("squeue", f"echo '16 rule_train#ba9876543210'; echo '17 rule_train{MARK}'")
    answer = slurm.submit(CALL)
    assert (answer.returncode, answer.stdout) == (0, "17")
    assert asked() == 1


def test_a_silent_sbatch_is_ended(played, monkeypatch):
    monkeypatch.setattr(slurm, "SUBMITTED_FOR", 0.2)
    asked = played("sbatch", "exec sleep 30", "echo 17")
    played("squeue", "true", "true")
    assert slurm.submit(CALL).stdout == "17\n"
    assert asked() == 2


@pytest.mark.parametrize(("says", "own_jobs", "submitted"), [
    (POLICY, "echo 16", True),
    (f"sbatch: error: QOSMaxSubmitJobPerUserLimit\n{POLICY}", "echo 16", True),
    (POLICY, "true", False),  # no job of the user is there to end
    (f"sbatch: error: QOSMaxCpuPerUserLimit\n{POLICY}", "echo 16", False),
])  # fmt: skip
def test_a_limit_is_waited_for_where_it_may_pass(played, says, own_jobs, submitted):
    played("sbatch", refused(says), "echo 17")
    played("squeue", own_jobs, own_jobs, own_jobs)
    assert (slurm.submit(CALL).stdout == "17\n") == submitted


def test_a_cancelled_run_does_not_wait(played, monkeypatch):
    asked = played("sbatch", refused(AWAY))
    played("squeue")
    monkeypatch.setattr(slurm, "PAUSES", (3600,))
    monkeypatch.setattr(slurm._given_up, "wait", lambda seconds: True)
    assert slurm.submit(CALL).returncode == 1
    assert asked() == 1


def test_jobs_know_that_the_run_has_no_gpu(monkeypatch):
    monkeypatch.delenv(NO_GPU, raising=False)
    of_run, of_job = Resources(), Resources()
    for allowed in (0, 1):
        of_run["gpu"] = allowed
        hand_down_no_gpu(of_run, to_jobs=True)
        of_job["gpu"] = 7
        hand_down_no_gpu(of_job, to_jobs=False)
        assert (of_job["gpu"].value == 0) == (allowed == 0)


@pytest.fixture
def plugin(monkeypatch):
    """A module with the names of the plugin, patched; `states` is what `sacct` and `squeue` say, in turn."""
    module = ModuleType(slurm.PLUGIN)
    module.states, module.reported, module.cancelled = [], [], []

    async def query_job_status(command, logger):
        return module.states.pop(0)

    class Executor:
        def get_status_command(self):
            return "sacct"

        def run_job(self, job):
            raise RuntimeError(f"sbatch refuses {job}")

        def cancel(self):
            module.cancelled.append(self)

        def _report_job_error_threadsafe(self, info, message):
            module.reported.append((info, message))

    def get_account(logger):
        raise FileNotFoundError("sacct")

    module.query_job_status, module.Executor, module.get_account = query_job_status, Executor, get_account
    module.query_job_status_squeue = lambda name: f"squeue {name}"
    module.get_submit_command = lambda job, params: f"sbatch --comment '{params['comment_str']}'"
    module.get_max_array_size, module.SubmittedJobInfo = lambda: 0, lambda job: job
    monkeypatch.setitem(sys.modules, slurm.PLUGIN, module)
    monkeypatch.setattr(slurm, "_given_up", SimpleNamespace(set=lambda: module.cancelled.append("set")))
    slurm.be_patient_with_slurm()
    return module


def test_jobs_keep_their_states_where_nobody_says_how_they_are(plugin):
    def asked():
        return asyncio.run(plugin.query_job_status("sacct --name run", slurm.logger))

    unknown, running = (None, 0.1), ({"17": "RUNNING"}, 0.1)
    executor = plugin.Executor()
    plugin.states += [unknown, unknown]
    assert asked() == ({}, 0.0)  # nothing new is known, and no job is forgotten
    assert executor.get_status_command() == "sacct"
    plugin.states += [unknown, running]
    assert asked() == running  # by squeue, which is asked alone from now on
    assert executor.get_status_command() == "squeue"


def test_every_submission_has_a_mark_of_its_own(plugin):
    calls = [plugin.get_submit_command(None, {"comment_str": "rule_train"}) for _ in range(2)]
    assert len(set(calls)) == 2
    assert all(slurm._job_marked_as(call, f"17 {call.split(chr(39))[1]}") == "17" for call in calls)
    assert slurm._job_marked_as(calls[0], f"17 {calls[1].split(chr(39))[1]}") is None


def test_a_submission_that_fails_fails_its_job_and_a_cancelled_run_gives_up_first(plugin, played):
    played("squeue", "true")
    executor = plugin.Executor()
    executor.run_job("group")
    assert plugin.reported == [("group", "The submission failed: sbatch refuses group")]
    executor.cancel()
    assert plugin.cancelled == ["set", executor]


def test_a_cluster_without_accounts_and_arrays_is_usable(plugin):
    assert plugin.get_account(None) is None
    assert plugin.get_max_array_size() >= 2
