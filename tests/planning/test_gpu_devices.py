"""Which GPUs there are, and which of them a job may use."""

import re

import pytest

from resolvent.planning.gpus import GpuError, devices_for, remark_without_gpu

WHOLE = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-f2b2ef2f-0f6e-b9ac-1f0c-6f7e9d1d5a41)
"""
CUT = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)
  MIG 3g.20gb     Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)
  MIG 2g.10gb     Device  1: (UUID: MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb)
Unable to determine the device handle for gpu 0000:41:00.0: GPU is lost.  Reboot the system
GPU 2: NVIDIA A100-SXM4-40GB (UUID: GPU-f2b2ef2f-0f6e-b9ac-1f0c-6f7e9d1d5a41)
"""
OLD = """\
GPU 0: A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)
  MIG 1g.5gb Device 0: (UUID: MIG-GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77/7/0)
"""
FIRST, SECOND = re.findall(r"GPU-[-\w]+", WHOLE)
SLICES = re.findall(r"MIG-[-\w]+", CUT)
OLD_SLICE = f"MIG-{FIRST}/7/0"


@pytest.fixture
def nvidia_smi(monkeypatch, tmp_path):
    for name in ("RESOLVENT_GPUS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    def prints(text: str, code: int = 0):
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\n[ \"$*\" = -L ] || exit 9\necho '{text}'\nexit {code}\n")
        program.chmod(0o755)

    return prints


@pytest.mark.parametrize(
    ("text", "visible", "devices"),
    [
        (WHOLE, None, [FIRST, SECOND]),
        (WHOLE, "1", [SECOND]),
        (WHOLE, "1, 0", [SECOND, FIRST]),
        (WHOLE, SECOND, [SECOND]),
        (WHOLE, "1,-1,0", [SECOND]),
        (WHOLE, "-1", []),
        (WHOLE, "", []),
        (CUT, None, [*SLICES, SECOND]),
        (CUT, f"{SLICES[1]},2", [SLICES[1], SECOND]),
        (OLD, None, [OLD_SLICE]),
        (OLD, OLD_SLICE, [OLD_SLICE]),
        ("", "0", []),
    ],
)
def test_devices_are_those_listed_and_visible(nvidia_smi, monkeypatch, text, visible, devices):
    nvidia_smi(text)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert devices_for(1, pytest.fail) == devices


def test_a_visible_device_that_there_is_not_is_refused(nvidia_smi, monkeypatch):
    nvidia_smi(WHOLE)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,2")
    message = f"CUDA_VISIBLE_DEVICES names '2', which is not a GPU of this host: 0, {FIRST}, 1, {SECOND}"
    with pytest.raises(GpuError, match=f"^{re.escape(message)}$"):
        devices_for(1, pytest.fail)


def test_a_job_of_several_devices_takes_no_instances(nvidia_smi):
    nvidia_smi(CUT + "GPU 3: NVIDIA A100-SXM4-40GB (UUID: GPU-3)")
    assert devices_for(2, pytest.fail) == [SECOND, "GPU-3"]
    nvidia_smi(CUT)
    message = (
        f"asks for 2 GPUs, but only {', '.join([*SLICES, SECOND])} are visible; a job can have only one MIG"
    )
    with pytest.raises(GpuError, match=f"^{re.escape(message)} instance$"):
        devices_for(2, pytest.fail)


def test_a_host_without_nvidia_smi_has_no_gpu(nvidia_smi, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert devices_for(2, pytest.fail) == []


def test_a_failing_nvidia_smi_is_reported(nvidia_smi):
    nvidia_smi("NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.", code=9)
    messages = []
    assert devices_for(1, messages.append) == []
    assert messages == [
        "computes on the CPU: nvidia-smi finds no GPU (NVIDIA-SMI has failed because it could not "
        "communicate with the NVIDIA driver.)\n"
    ]


def test_devices_can_be_named_instead_of_listed(nvidia_smi, monkeypatch):
    nvidia_smi(WHOLE)
    monkeypatch.setenv("RESOLVENT_GPUS", "left, right,left")
    assert devices_for(2, pytest.fail) == ["left", "right"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert devices_for(1, pytest.fail) == ["right"]


def test_a_command_that_asks_for_gpus_where_there_is_none_gets_one_line(nvidia_smi, monkeypatch):
    words = ["snakemake", "--cores", "4", "--resources", "gpu=2"]
    line = "gpu=2: no GPU is visible, so trainings run on the CPU (gpu=0: one on each core)\n"
    assert remark_without_gpu(words) == line
    assert remark_without_gpu([*words[:-1], "gpu=0"]) == remark_without_gpu(words[:3]) == ""
    nvidia_smi(WHOLE)
    assert remark_without_gpu(words) == ""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "nothing")  # the jobs say so
    assert remark_without_gpu(words) == ""
