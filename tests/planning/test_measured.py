"""Jobs ask for what the records say of others that have ended."""

import json
import math

import pytest
from merged_configuration import planned

from resolvent.common.records import CostRecord, write_record
from resolvent.planning.prediction.costs import megabytes_requested, minutes_requested
from resolvent.planning.prediction.needs import Needs

RUN = "burgers", "fno", 128
SEEDS = {"experiments": {"burgers": {"models": ["fno"], "resolutions": [128], "seeds": [1, 2, 3]}}}
TOOK, HELD = 6000.0, 3_000_000_000  # seconds, bytes


def needs_in(folder, gpu: bool = False, **of_experiment) -> Needs:
    changes = SEEDS, {"results_root": str(folder), "experiments": {"burgers": of_experiment}}
    return Needs(planned(*changes), gpu)


def leave_record(needs: Needs, seed: int = 1, **changes):
    run = needs.plan.training("burgers", "fno", 128)
    folder = needs.plan.results / f"burgers/fno/n128/seed{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "resolution": 128, "seed": seed, "config_hash": run.config_hash, "status": "finished",
        "diverged_epoch": None, "epochs": 1, "steps": 1, "best_epoch": 1, "best_validation_relative_l2": 0.1,
        "best_test_epoch": None, "best_test_relative_l2": None, "parameters": 1, "parameters_complex_once": 1,
        "forward_flop": 1, "train_seconds": TOOK, "seconds_per_step": 0.1, "peak_memory_bytes": HELD,
        "device": "Xeon (CPU)", "processes": 1, "threads": needs.plan.configuration.training_threads,
        "micro_batch_size": 8,
    }  # fmt: skip
    write_record(folder / "cost.json", CostRecord(**content | changes))
    return folder / "cost.json"


def test_a_training_asks_for_twice_the_time_and_a_quarter_more_memory_than_the_longest_of_other_seeds(
    tmp_path,
):
    needs = needs_in(tmp_path)
    predicted = needs.train(*RUN)
    leave_record(needs)
    leave_record(needs, seed=3, train_seconds=TOOK / 2, peak_memory_bytes=HELD // 2)
    asked = needs.train(*RUN)
    assert minutes_requested(predicted, attempt=1) == 10
    assert [minutes_requested(asked, attempt) for attempt in (1, 2)] == [201, 402]  # 6 s to start
    assert [megabytes_requested(asked, attempt) for attempt in (1, 2)] == [4250, 8500]  # Snakemake's own 500
    assert asked.disk == predicted.disk


def test_a_training_that_was_not_alike_counts_for_nothing(tmp_path):
    needs = needs_in(tmp_path)
    predicted = needs.train(*RUN)
    for changes in (
        {"config_hash": "0" * 12},
        {"status": "diverged"},
        {"processes": 2},
        {"threads": 64},
        {"device": "NVIDIA H100"},
        {"train_seconds": -7.0, "peak_memory_bytes": 0},
    ):
        leave_record(needs, **changes)
        assert needs.train(*RUN) == predicted


def test_a_damaged_or_altered_record_counts_for_nothing(tmp_path):
    needs = needs_in(tmp_path)
    predicted = needs.train(*RUN)
    file = leave_record(needs)
    for content in ("", "{}", json.dumps(json.loads(file.read_text()) | {"train_seconds": 7.0})):
        file.write_text(content)
        assert needs.train(*RUN) == predicted


def test_of_a_gpu_the_time_counts_and_the_main_memory_stays_predicted(tmp_path):
    needs = needs_in(tmp_path, gpu=True)
    predicted = needs.train(*RUN)
    leave_record(needs, device="NVIDIA H100")
    asked = needs.train(*RUN)
    assert minutes_requested(asked, attempt=1) == 201
    assert megabytes_requested(asked, attempt=1) == megabytes_requested(predicted, attempt=1)


def test_processes_hold_as_often_what_one_did(tmp_path):
    needs = needs_in(tmp_path, processes=4, nodes=2)
    leave_record(needs, processes=4)
    assert megabytes_requested(needs.train(*RUN), attempt=1) == 500 + 1.25 * (2 * 3000 + 500)


BENCHMARK = "s\th:m:s\tmax_rss\tmax_vms\n{seconds}\t0:00:12\t{megabytes}\t1784.21\n"


@pytest.fixture
def of_shards(tmp_path):
    """Return what a shard of a dataset asks for, after others have left these files."""
    needs = needs_in(tmp_path)
    dataset = needs.plan.datasets["burgers"]

    def asked(*contents: str):
        for shard, content in enumerate(contents):
            (tmp_path / f"x-{shard}.tsv").write_text(content)
        need = needs.solve(dataset, f"{tmp_path}/x-{{shard}}.tsv")
        return minutes_requested(need, attempt=1), megabytes_requested(need, attempt=1)

    assert dataset.settings.num_shards > 1
    return asked


def test_a_shard_asks_for_what_the_longest_of_others_took(of_shards):
    predicted = of_shards()
    measured = [BENCHMARK.format(seconds=s, megabytes=m) for s, m in ((1500.0, 2000.0), (900.0, 100.0))]
    assert of_shards(*measured) == (50, math.ceil(500 + 1.25 * 2000 * 1.048576))
    assert predicted != of_shards()


def test_a_benchmark_that_says_nothing_counts_for_nothing(of_shards):
    predicted = of_shards()
    for content in ("", "s\n", BENCHMARK.format(seconds="-", megabytes="-"), "a\tb\n1\t2\n"):
        assert of_shards(content) == predicted
