"""SIGKILL of everything, at any moment: the plain command goes on, to the same bytes."""

import os
import random
import time
from collections import Counter

import psutil
import pytest
from small_pipeline import EXPERIMENT, NAME, STAGES, Meter

pytestmark = [pytest.mark.faults, pytest.mark.timeout(3600)]
KILLS = int(os.environ.get("FAULT_KILLS", "50"))
CHAINS = -(-KILLS // 9)  # pipelines, each killed some nine times
killed_in = Counter()


def kill_everything(process):
    snakemake = psutil.Process(process.pid)
    snakemake.suspend()
    tree = [snakemake, *snakemake.children(recursive=True)]
    for one in tree:
        one.kill()
    process.communicate()
    psutil.wait_procs(tree, timeout=60)


def run_and_kill(project, stage, share):
    """Kill the plain command when its jobs have worked `share` of what the stage takes, since that has begun.

    Returns the stages that had a running job: none where Snakemake was between two, None where it had ended.
    """
    process, meter, begun = project.start_build(), Meter(), None
    while process.poll() is None:
        running, worked = meter.read(process), sum(meter.work.values())
        if begun is None and stage in running:
            begun = worked
        if begun is not None and worked - begun >= share * project.work[stage]:
            kill_everything(process)
            return running
        time.sleep(0.05)
    assert process.returncode == 0, process.stdout.read()[-3000:]
    return None


@pytest.mark.parametrize("chain", range(CHAINS))
def test_kills_at_random_moments_cost_no_byte(project, chain, fault):
    moments = random.Random(chain)
    count = KILLS // CHAINS + (chain < KILLS % CHAINS)
    aims = [*STAGES][:count] + moments.choices([*STAGES], k=max(0, count - len(STAGES)))
    aims.sort(key=[*STAGES].index)
    project.forget("data", EXPERIMENT, f"results/{NAME}/datasets")
    while aims:
        stages = run_and_kill(project, aims[0], moments.random())
        if stages is None:  # all was made before the moment came: once more
            project.assert_undisturbed()
            project.forget("data", EXPERIMENT, f"results/{NAME}/datasets")
            continue
        fault(f"SIGKILL of everything in {' and '.join(stages) or 'planning'}")
        killed_in.update(stages)
        aims.pop(0)
    project.build()
    project.assert_undisturbed()
    assert project.planned() == {}


def test_every_stage_was_killed():
    assert set(killed_in) == set(STAGES)
