"""Small files with the layout of the public ones of Li et al. (2021): names, order and types of variables."""

from pathlib import Path

import h5py
import numpy as np
import scipy.io

from resolvent.datasets.tasks.burgers import Burgers, BurgersDataset
from resolvent.datasets.tasks.darcy import Darcy, DarcyDataset

FORMATS = ("MAT 5", "MAT 7.3")
SMOOTHED = {"burgers": ("a_smooth", "a_smooth_x", "a_x"), "darcy": ("Kcoeff", "Kcoeff_x", "Kcoeff_y")}


def write_mat(path: Path, variables: dict[str, np.ndarray], version: str = "MAT 5") -> Path:
    """Write `variables` as MATLAB does: version 7.3 is HDF5 after 512 bytes, with the axes in reverse."""
    if version == "MAT 5":
        scipy.io.savemat(path, variables, do_compression=True)
        return path
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in variables.items():
            values = np.asarray(values)
            if np.iscomplexobj(values):
                parts = np.empty(values.shape, dtype=[("real", "<f8"), ("imag", "<f8")])
                parts["real"], parts["imag"] = values.real, values.imag
                values = parts
            stored = file.create_dataset(
                name, data=values.transpose().copy(), chunks=True, compression="gzip"
            )
            kind = {"f4": "single", "u1": "uint8", "b1": "logical"}.get(values.dtype.str[1:], "double")
            stored.attrs["MATLAB_class"] = np.bytes_(kind)
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\0\2IM")
    return path


def burgers_variables(count: int, points: int = 128, **settings) -> dict[str, np.ndarray]:
    """Initial values and solutions, (count, points), of our own solver, and what else the public file has."""
    given = {"finest": points, "resolutions": [points], "method": "cole-hopf", "num_modes": 31}
    task = Burgers(BurgersDataset(equation="burgers", **given, **settings))
    made = task.compute([("train", index) for index in range(count)])
    initial = made[f"n{points}/initial_velocity"]
    others = {name: np.zeros_like(initial) for name in SMOOTHED["burgers"]}
    return {"a": initial, **others, "u": made[f"n{points}/final_velocity"]}


def darcy_variables(count: int, points: int = 33, split: str = "train", **settings) -> dict[str, np.ndarray]:
    """Coefficients and pressures, (count, points, points), of our solver, and what else is in the files."""
    given = {"grid": "cell_centres", "finest": points, "resolutions": [points]} | settings
    task = Darcy(DarcyDataset(equation="darcy", **given))
    made = task.compute([(split, index) for index in range(count)])
    coefficient = made[f"n{points}/coefficient"]
    others = {name: np.zeros_like(coefficient) for name in SMOOTHED["darcy"]}
    return {**others, "coeff": coefficient, "sol": made[f"n{points}/pressure"]}
