"""What every task says of itself, for some settings: the table `task_facts.txt`.

These facts reach cards, pages and plans, and change on purpose only: then write the table again, with
`PYTHONPATH=tests/helpers python tests/datasets/test_task_facts.py`, and read what has changed. It has every
fact of an equation in its default form, and of another case those that differ.
"""

import json
from pathlib import Path

import pytest
from dataset_fixtures import small

from resolvent.datasets.tasks.registry import build_task, settings_of

TABLE = Path(__file__).parent / "task_facts.txt"
DEFAULTS = ("burgers", "darcy", "darcy_inverse", "lorenz63", "controlled_ode", "kolmogorov")
CASES = {equation: {} for equation in DEFAULTS} | {
    "burgers by steps": {"method": "etdrk4", "restriction": "stride", "viscosity": 0.05, "final_time": 0.5},
    "burgers printed": {"final_time": 1.0, "initial_distribution": {"name": "cao_burgers_printed"}},
    "burgers exactly": {
        "method": "cole-hopf",
        "initial_distribution": {"name": "cao_burgers", "zero_mean": False},
    },
    "darcy lognormal": {"push_forward": "lognormal", "face_mean": "harmonic", "seed": 3},
    "darcy on cells": {"grid": "cell_centres", "pressure": "solved_on_each_grid", "finest": 40},
    "darcy_inverse solved there": {"distribution": {"name": "cao_darcy", "sigma": 2.0}},
    "lorenz63 y": {"targets": "y", "rho": 20.0, "observations": {"even": {"step": 0.1}}},
    "lorenz63 times": {
        "observations": {
            "listed": {"kind": "explicit", "times": [0.0, 0.1, 0.3]},
            "two_rates": {"kind": "two_rates", "step": 0.05},
        }
    },
    "controlled_ode plain": {"control_decay": "none", "initial_value": 0.5, "num_terms": 3},
    "kolmogorov window": {"method": "split-step", "frames": 3, "forcing_wavenumber": 2, "viscosity": 0.1},
    "kolmogorov exponentials": {
        "initial_distribution": {"name": "calvello_kolmogorov", "orthonormal": False, "zero_mean": False}
    },
}
IMPORTED = {
    "imported burgers": {"equation": "burgers", "finest": 128, "resolutions": [64, 128]},
    "imported darcy": {"equation": "darcy", "finest": 33, "resolutions": [17], "face_mean": "harmonic"},
    "imported darcy cells": {"equation": "darcy", "finest": 33, "resolutions": [33], "grid": "cell_centres"},
}  # of files that are not there: nothing is read for these facts
PLANNED = (
    "dimension", "inverse", "grid_kind", "in_channels", "initial_channels", "out_channels", "largest_array",
    "num_shards", "quantities",
)  # fmt: skip
SAID = ("inputs", "targets", "input_answers", "dtype")
PREDICTED = ("seconds_per_sample", "seconds_of_checks", "bytes_of_solving", "bytes_of_checks")


def facts_of(case: str) -> dict:
    """Gather what planning asks of the settings of a case, and what the task says."""
    if case in IMPORTED:
        settings = settings_of({"source": "missing.mat"} | IMPORTED[case])
    else:
        settings = small(case.split()[0], **CASES[case])
    task = build_task(settings)
    return {
        "plan": {name: getattr(settings, name) for name in PLANNED}
        | {name: float(f"{getattr(settings, name)():.6g}") for name in PREDICTED},
        "task": {name: getattr(task, name) for name in SAID},
        "stored": {
            group.name: {
                "grid": repr(group.grid)[:200],
                "axes": {
                    axis.name: [axis.long_name, axis.units, float(f"{axis.coordinates.sum():.10g}")]
                    for axis in group.axes
                },
                "variables": {one.name: [one.long_name, one.units, *one.axes] for one in group.variables},
            }
            for group in task.groups()
        },
        "answers": {"baselines": list(task.baselines()), "solvers": list(task.classical_solvers())},
        "precision": task.precision,
        "description": task.description(),
    }


def lines_of(facts: dict, path: str = "") -> dict[str, str]:
    """Return the leaves of nested facts by their path, "stored n512 grid"."""
    lines = {}
    for key, one in facts.items():
        name = f"{path} {key}".strip()
        lines |= (
            lines_of(one, name)
            if isinstance(one, dict) and one
            else {name: json.dumps(one, ensure_ascii=False, default=float)}
        )
    return lines


def text_of(case: str) -> str:
    """Return the facts of a case, of one that is no default those that its equation's default has not."""
    lines = lines_of(facts_of(case))
    (equation,) = {*case.split()} & {*DEFAULTS}
    usual = {} if case == equation else lines_of(facts_of(equation))
    different = [f"{name}: {one}" for name, one in lines.items() if usual.get(name) != one]
    return "\n".join([f"[{case}]", *different, *(f"{name}: absent" for name in usual if name not in lines)])


@pytest.mark.parametrize("case", CASES | IMPORTED)
def test_a_task_says_of_itself_what_it_said(case):
    cases = TABLE.read_text(encoding="utf-8").rstrip("\n").split("\n\n")
    assert text_of(case) == {text.partition("]")[0][1:]: text for text in cases}[case]


if __name__ == "__main__":
    TABLE.write_text("\n\n".join(map(text_of, CASES | IMPORTED)) + "\n", encoding="utf-8")
