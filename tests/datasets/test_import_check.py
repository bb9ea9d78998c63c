"""All that `resolvent import --check` prints of files of several layouts: the texts of `import_checks/`."""

from pathlib import Path

import numpy as np
import pytest
import zarr
from array_files import write_hdf5, write_npz

from resolvent.datasets.imported.check import check_file

TEXTS = Path(__file__).parent / "import_checks"


def waves(count: int, *shape: int, seed: int = 0) -> np.ndarray:
    """Return periodic functions (count, *shape), a wave along each axis."""
    rng = np.random.default_rng(seed)
    values = np.zeros((count, *shape))
    for along in np.meshgrid(*[np.arange(n) / n for n in shape], indexing="ij"):
        phase, amplitude = rng.uniform(0, 6, (count, *[1] * len(shape))), rng.normal(size=count)
        values += amplitude.reshape(phase.shape) * np.cos(2 * np.pi * along + phase)
    return values


def pair(*shape: int, seed: int = 0) -> dict[str, np.ndarray]:
    return {"a": waves(*shape, seed=seed), "u": waves(*shape, seed=seed + 1)}


def single(*shape: int, times: int) -> dict[str, np.ndarray]:
    return {"t": np.arange(float(times)), "u": waves(*shape).astype("float32")}


def square_with_numbers() -> dict[str, np.ndarray]:
    functions = pair(12, 9, 9)
    return {
        "x": np.linspace(0, 2, 9), "coeff": functions["a"], "sol": functions["u"],
        "kappa": np.arange(12.0), "amplitudes": np.ones((12, 1)), "name": np.array(["k"] * 12),
    }  # fmt: skip


SPLIT = np.array(["train"] * 5 + ["validation"] * 2 + ["test"] * 3)
FILES = {
    "line": lambda: {"line.npz": pair(40, 32)},
    "evolution": lambda: {"my data-2.h5": single(600, 9, 32, times=9)},
    "few_series": lambda: {"series.h5": single(3, 200, 32, times=200)},
    "one_series": lambda: {"series.h5": single(1, 200, 32, times=200)},
    "square_with_numbers": lambda: {"square.npz": square_with_numbers()},
    "input_and_target": lambda: {"in.npz": {"a": waves(30, 32)}, "out.npz": {"u": waves(30, 32, seed=2)}},
    "train_and_test": lambda: {"one.npz": pair(40, 20, 20), "two.npz": pair(14, 20, 20, seed=3)},
    "cube": lambda: {"cube.npz": pair(6, 8, 8, 8)},
    "splits": lambda: {"splits.npz": pair(10, 32) | {"split": SPLIT}},
    "channels": lambda: {"fields.npz": {"fields": waves(200, 3, 24)}},
}


@pytest.mark.parametrize("case", FILES)
def test_the_whole_text_of_a_check(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = FILES[case]()
    for name, values in files.items():
        (write_npz if name.endswith(".npz") else write_hdf5)(Path(name), values)
    report = check_file(*files)
    assert (report.problem is None) == (case != "channels")
    assert report.text() == (TEXTS / f"{case}.txt").read_text(encoding="utf-8")


def test_too_few_samples_and_unequal_sides_are_problems(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_npz(Path("few.npz"), pair(2, 32))
    assert check_file("few.npz").problem == "few.npz: has 2 samples; expected: at least 3, one for each split"
    np.savez("numbers.npz", name=np.array("k"))
    found = "no variable is an array of functions; found: name ()"
    assert check_file("numbers.npz").problem.endswith(found)
    zarr.create_group("empty.zarr")
    assert check_file("empty.zarr").problem.endswith("found: nothing")
    root = zarr.create_group("unequal.zarr")
    for name, values in pair(3, 20, 10).items():
        root.create_array(name, data=values, dimension_names=["sample", "y", "x"])
    report = check_file("unequal.zarr")
    assert report.problem == (
        "unequal.zarr: rectangular grids are not supported: crop or interpolate 'a' (3 × 20 × 10) to as many "
        "points along every axis of space; its axes are sample, y, x"
    )
    assert "#   a: 3 × 20 × 10, double precision (sample, y, x)\n" in report.text()
