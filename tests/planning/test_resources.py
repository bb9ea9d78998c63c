"""What jobs are predicted to take and what they ask for; counts are held to torch's own."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import yaml
from merged_configuration import planned

from resolvent.models.build import build
from resolvent.models.registry import ARCHITECTURES, resolve, settings_class
from resolvent.planning.prediction.costs import (
    Need,
    finalising,
    megabytes_requested,
    minutes_requested,
    request,
    solving,
)
from resolvent.planning.prediction.needs import Needs, placement
from resolvent.planning.wildcards import of_wildcards
from resolvent.training.operations import forward_operations

PROFILE = Path(__file__).resolve().parents[2] / "workflow/profiles/slurm/config.yaml"
PAPERS = ("cao2021", "calvello2024")


STORED = {"burgers": {"resolutions": [128, 8192]}}


def needs_of(*changes: dict | str, gpu: bool = False) -> Needs:
    return Needs(planned(*changes), gpu)


def test_a_short_run_reads_no_test_samples_whatever_the_long_ones_do():
    both = [
        needs_of({"experiments": {"burgers_tuned": {"training": {"record_test_error": recorded}}}})
        for recorded in (False, True)
    ]
    short, long = (
        [needs.training("burgers_tuned", "fno", 128, candidate) for needs in both]
        for candidate in ("learning_rate_0.001", None)
    )
    assert short[0] == short[1]
    assert long[0].seconds < long[1].seconds


def test_every_attempt_asks_for_twice_as_much_up_to_what_the_cluster_allows():
    need = Need(seconds=3000.0, bytes=2e9)
    assert [minutes_requested(need, attempt) for attempt in (1, 2, 3)] == [150, 300, 600]
    assert [megabytes_requested(need, attempt) for attempt in (1, 2, 3)] == [3500, 7000, 14000]
    assert minutes_requested(need, 2, longest=240) == 240


def test_a_function_gets_the_wildcards_that_its_parameters_name():
    def given(experiment, resolution, seed, candidate, *files):
        return experiment, resolution, seed, candidate, files

    wildcards = SimpleNamespace(experiment="burgers", group="n128", seed="7", model="fno")
    assert of_wildcards(given, "a.csv")(wildcards) == ("burgers", 128, 7, None, ("a.csv",))


def test_a_rule_asks_for_what_its_wildcards_say():
    asked = request(lambda size: Need(size * 60.0, size * 1e9), longest=None)
    small, large = SimpleNamespace(size=5), SimpleNamespace(size=50)
    assert asked["runtime"](small, attempt=1) * 10 == asked["runtime"](large, attempt=1) == 150
    assert asked["mem_mb"](small, attempt=1) < asked["mem_mb"](large, attempt=1)


FITTING = {  # settings that a square of 32² points can carry
    "vit_no": {"patches": 4, "smoother_modes": 8},
    "fano": {"patches": 4, "smoother_modes": 8, "modes": 4},
    "afno": {"points": 32},
    "cross_attention2d_coarse": {"downsampling_factor": 0.6},
    "transformer2d_coarse": {"downsampling_factor": 0.6},
}
COUNTED = [(name, FITTING.get(name, {})) for name in ARCHITECTURES]
COUNTED += [
    ("transformer1d", {"attention": "softmax"}),
    ("transformer1d", {"attention": "none"}),
    ("transformer2d", {"attention": "softmax", "downsampling_factor": 0.7}),
]


@pytest.mark.parametrize(("architecture", "settings"), COUNTED)
def test_operations_and_weights_are_torchs_within_a_factor(architecture, settings):
    dimension = settings_class(architecture).dimension
    points = {1: 512, 2: 32, 3: 16}[dimension]
    module = build(architecture, settings, seed=0)
    inputs = torch.zeros(1, *[points] * dimension, 1)
    axes = [torch.linspace(0, 1, points)] * dimension
    coordinates = torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1)
    counted = forward_operations(module, inputs, coordinates)
    operator = resolve(architecture, settings).cost(points)
    assert operator.points == points**dimension
    assert counted / 3 < operator.forward_flop < 3 * counted
    weights = sum(parameter.numel() for parameter in module.parameters())
    assert weights / 3 < operator.weights < 8 * weights


@pytest.mark.parametrize("architecture", ["fno1d", "fno2d"])
def test_the_weights_that_more_modes_add_are_counted_exactly(architecture):
    def added(count):
        few, many = (count({"modes": modes, "width": 8, "num_layers": 2}) for modes in (4, 6))
        return many - few

    def built(settings):
        parameters = build(architecture, settings, seed=0).parameters()
        return sum((1 + one.is_complex()) * one.numel() for one in parameters)

    assert added(lambda settings: resolve(architecture, settings).cost(64).weights) == added(built)


@pytest.mark.parametrize(("attention", "forms"), [("fourier", True), ("galerkin", False), ("linear", False)])
def test_dropout_on_an_attention_matrix_is_work_for_all_pairs_of_points(attention, forms):
    def growth(dropout: float) -> float:
        operator = resolve("transformer1d", {"attention": attention, "attention_dropout": dropout})
        return operator.cost(8192).forward_flop / operator.cost(2048).forward_flop

    assert growth(0.0) == pytest.approx(4, rel=0.05)
    assert (growth(0.5) > 8) == forms


@pytest.mark.parametrize("paper", PAPERS)
def test_every_job_of_a_papers_configuration_has_a_prediction(paper):
    needs = needs_of(paper, gpu=True)
    plan = needs.plan
    found = [needs.measure_cost, needs.measure_architectures]
    for dataset in plan.datasets.values():
        found += [solving(dataset.settings), finalising(dataset.settings), needs.preview(dataset)]
    for name, experiment in plan.configuration.experiments.items():
        found.append(needs.baselines(name))
        for model in experiment.models:
            for resolution in experiment.resolutions:
                run = name, model, resolution
                found += [needs.training(*run), needs.evaluation(*run, gpu=True)]
    assert all(need.seconds > 0 and 1e8 < need.bytes < 2e11 for need in found)


def test_training_takes_time_by_epochs_samples_and_points_and_memory_by_batch():
    def burgers(**changes):
        change = {"datasets": STORED, "experiments": {"burgers": changes}}
        return needs_of(change).training("burgers", "galerkin", changes.get("resolutions", [128])[0])

    usual = burgers()
    assert burgers(training={"epochs": 240}).seconds == pytest.approx(10 * usual.seconds, rel=0.15)
    assert burgers(samples={"train": 1024}).seconds == pytest.approx(4 * usual.seconds, rel=0.25)
    assert burgers(resolutions=[8192]).seconds > 40 * usual.seconds
    assert burgers(training={"batch_size": 64}).bytes > usual.bytes


@pytest.mark.parametrize("gpu", [False, True])
def test_processes_share_the_work_and_each_holds_the_samples(gpu):
    changes = {"samples": {"train": 1024}, "training": {"batch_size": 8}, "resolutions": [8192]}
    one, four, of_another = (
        needs_of({"datasets": STORED, "experiments": {"burgers": {**changes, **more}}}, gpu=gpu).training(
            "burgers", "fno", 8192
        )
        for more in ({}, {"processes": 2, "processes_of": {"fno": 4}}, {"processes_of": {"galerkin": 4}})
    )
    assert of_another == one
    assert one.seconds / 4 < four.seconds < one.seconds
    data = 1024 * 8192 * 8  # the samples in single precision
    assert four.bytes > one.bytes + 3 * data


def test_a_training_on_several_nodes_asks_for_a_task_and_its_devices_on_each():
    change = {"experiments": {"burgers": {"processes": 4, "nodes_of": {"fno": 2}}}}
    for gpu, extra in ((True, "--ntasks-per-node=1 --gpus-per-node=2"), (False, "--ntasks-per-node=1")):
        needs = needs_of(change, gpu=gpu)
        asked = {
            model: {
                name: of(SimpleNamespace(experiment="burgers", model=model), **more)
                for name, of in placement(needs).items()
                for more in [{"threads": 8} if name == "cpus_per_task" else {}]
            }
            for model in ("fno", "galerkin")
        }
        assert asked["fno"] == {
            "nodes": 2, "tasks": 2, "cpus_per_task": 4, "mpi": "srun", "slurm_extra": extra,
        }  # fmt: skip
        assert {name for name, value in asked["galerkin"].items() if value is not None} == {"nodes"}
    here, there = (
        needs_of({"experiments": {"burgers": {"processes": 4, "nodes": nodes}}}).training(
            "burgers", "fno", 64
        )
        for nodes in (1, 2)
    )
    assert there.bytes < 0.7 * here.bytes
    assert there.seconds == here.seconds


def test_a_gpu_takes_less_time():
    on_cpu, on_gpu = (needs_of("cao2021", gpu=gpu) for gpu in (False, True))
    run = "darcy", "galerkin2d", 211
    assert on_gpu.training(*run).seconds < on_cpu.training(*run).seconds / 10
    tested = "darcy", "fourier2d", 211
    assert on_gpu.evaluate(*tested).seconds < on_cpu.evaluate(*tested).seconds / 2
    assert on_gpu.latent_basis(*tested) == on_cpu.latent_basis(*tested)


def test_the_profile_has_account_and_partitions_once_and_retries_for_all_rules():
    profile = yaml.safe_load(PROFILE.read_text())
    text = PROFILE.read_text()
    assert text.count("slurm_account") == 1
    assert text.count("slurm_partition") == 2
    assert profile["retries"] > 0
    assert {"cores", "jobs", "group-components", "keep-going", "rerun-incomplete"} <= set(profile)
    assert not any("retries" in path.read_text() for path in PROFILE.parents[2].glob("rules/*.smk"))
