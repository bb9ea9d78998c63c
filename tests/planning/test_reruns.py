"""What the digests of the real rules cover: all that scripts import, and each module where it counts."""

import ast
import json
import os
import subprocess
import sys

import pytest

from resolvent.planning.places import HOME as ROOT
from resolvent.planning.rerun import (
    ROOTS,
    SCRIPTS,
    WITHOUT_RESULT,
    everything_reached,
    partial_modules,
)

# Plans a configuration, and prints the arguments of every digest that its rules ask for.
PLANNED = """
import json, sys
from snakemake.cli import main
from resolvent.planning import rerun

digest, calls = rerun.script_digest, set()
rerun.script_digest = lambda *names: calls.add(names) or digest(*names)
try:
    main(["--snakefile", *sys.argv[1:], "--dry-run", "--quiet", "all", "--cores", "1"])
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted(calls)))
"""
# Prints the project's modules that each of the given lists of import statements brings into a fork.
IMPORTED = """
import gc, json, os, sys
gc.disable()
import jax, jinja2, matplotlib.pyplot, neuralop.models, numba, pandas, pydantic, scipy.sparse.linalg
import torch.utils.tensorboard, xarray, zarr

for statements in json.loads(sys.argv[2]):
    if not os.fork():
        exec(statements)
        print(json.dumps([name for name in sys.modules if name.partition(".")[0] in sys.argv[1].split()]))
        sys.stdout.flush()
        os._exit(0)
    assert os.wait()[1] == 0, statements
"""
ROOT_FIRST = os.environ | {"PYTHONPATH": str(ROOT)}
EQUATIONS = {"burgers", "controlled_ode", "darcy", "darcy_inverse", "kolmogorov", "lorenz63"}
MOVING = EQUATIONS - {"darcy", "darcy_inverse"}  # they have a film
ALONE = {""}  # the script chooses nothing by name


def of_datasets(*equations: str) -> dict[str, set[str]]:
    """Return a module that computes these datasets, their films, and classical answers to them."""
    scripts = ("solve_dataset", "finalise_dataset", "baselines", "inference")
    return {script: set(equations) for script in scripts} | {"motion": set(equations) & MOVING}


def of_model(*modules: str) -> dict[str, set[str]]:
    """A module that counts for every job of a trained model of these architectures."""
    return {script: set(modules) for script in ("train", "evaluate")} | {"inference": {"burgers"}}


# By module or definition: the scripts where it counts, and there the first module chosen by name.
COUNTS = {
    "resolvent.solvers.common.observation_times": of_datasets("lorenz63", "controlled_ode")
    | {"theory": ALONE},
    "resolvent.solvers.burgers.split_step": of_datasets("burgers"),
    "resolvent.datasets.tasks.kolmogorov": of_datasets("kolmogorov"),
    "resolvent.datasets.tasks.settings:SpaceDataset": of_datasets(
        "burgers", "darcy", "darcy_inverse", "kolmogorov"
    ),
    "resolvent.datasets.storage.card": {"finalise_dataset": EQUATIONS},
    "resolvent.datasets.storage.generation": {"solve_dataset": EQUATIONS, "finalise_dataset": EQUATIONS},
    "resolvent.datasets.preview": {"preview_dataset": ALONE},
    "resolvent.models.fno.fno1d": of_model("fno1d") | {"theory": ALONE},
    "resolvent.models.fno.settings:FNO1dSettings": of_model("fno1d") | {"theory": ALONE},
    "resolvent.measurements.theory.average": {"theory": ALONE},
    "resolvent.measurements.stability": {"measure_stability": {"transformer1d"}},
    "resolvent.figures.stability.panel": {"draw_stability": ALONE},
    "resolvent.evaluation.baselines": {"baselines": EQUATIONS},
    "resolvent.measurements.architecture_formulas": {"measure_architectures": {"neuraloperator"}},
    "resolvent.figures.experiment.cost_scatter": {"draw_figures": ALONE},
    "resolvent.datasets.motion.kolmogorov": {"motion": {"kolmogorov"}},
    "resolvent.figures.dataset.gallery": dict.fromkeys(("draw_dataset", "draw_flux", "dataset_page"), ALONE),
    "resolvent.figures.dataset.film": {"dataset_film": ALONE},
    "resolvent.figures.theory.page": {"theory_page": ALONE},
    "resolvent.planning.captions": dict.fromkeys(("dataset_page", "report", "theory_page"), ALONE),
    "resolvent.planning.job": {},
    "resolvent.planning.prediction.costs": {},
}
# Modules that the lists of modules once written by hand had left out.
ONCE_MISSED = {
    "train": (
        "resolvent.training.train",
        "resolvent.training.operations",
        "resolvent.training.distributed.launch",
        "resolvent.models.parameter_counts",
    ),
    "evaluate": (
        "resolvent.evaluation.evaluate",
        "resolvent.training.checkpoints",
        "resolvent.training.devices",
    ),
    "theory": ("resolvent.common.runs",),
    "measure_cost": ("resolvent.common.runs", "resolvent.models.cao2021.transformer1d"),
    "measure_architectures": ("resolvent.common.runs",),
}


@pytest.fixture(scope="module")
def digests(tmp_path_factory) -> list[tuple[str, ...]]:
    """Arguments of all digests in the plans of the default configuration and of the study of stability."""
    folder, snakefile = tmp_path_factory.mktemp("planned"), str(ROOT / "Snakefile")
    study = ["--configfile", str(ROOT / "config/stability.yaml")]
    calls = [json.loads(printed(PLANNED, snakefile, *more, folder=folder)[-1]) for more in ([], study)]
    return sorted({tuple(call) for one in calls for call in one})


def printed(code: str, *words: str, folder=ROOT) -> list[str]:
    """Lines that the program prints."""
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, cwd=folder, env=ROOT_FIRST, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


def modules_imported(statements: list[str]) -> list[set[str]]:
    lines = printed(IMPORTED, " ".join(tuple(ROOTS)), json.dumps(statements))
    return [set(json.loads(line)) for line in lines]


def imports_of(script: str, *names: str) -> str:
    """The import statements of a script, less those that bring no result, and of what it chooses by name."""
    file = ROOT.joinpath(*SCRIPTS.split("."), f"{script}.py")
    nodes = ast.walk(ast.parse(file.read_text()))
    statements = [
        ast.unparse(node)
        for node in nodes
        if isinstance(node, ast.Import)
        or (isinstance(node, ast.ImportFrom) and node.module not in WITHOUT_RESULT)
    ]
    modules = (
        name.partition(":")[0] for name in names if "==" not in name
    )  # others are versions of packages
    return "\n".join([*statements, *(f"import {module}" for module in modules)])


def test_every_script_with_results_has_a_digest(digests):
    scripts = {file.stem for file in ROOT.joinpath(*SCRIPTS.split(".")).glob("*.py")}
    # The first leaves no file; no configuration of the project has the second (see tests/test_outside.py).
    assert {script for script, *_ in digests} == scripts - {"plan", "draw_own_figure", "predict"}


def test_the_digest_covers_all_that_a_script_imports(digests):
    """Test all but what brings no result, and what tables and settings import of what was not chosen.

    Of every script one choice is tried, and of every choice one script.
    """
    tried = {call[1].partition(":")[0]: call for call in digests if call[1:]}
    tried = {call[0]: call for call in digests if call not in tried.values()} | tried
    tried = list(tried.values())
    apart = "\n".join(f"import {module}" for module in sorted(partial_modules()))
    apart, *imported = modules_imported([apart, *(imports_of(*call) for call in tried)])
    for call, modules in zip(tried, imported, strict=True):
        covered = {name.partition(":")[0] for name in everything_reached(*call)}
        assert len(modules) > 2, call
        assert modules <= covered | apart | set(WITHOUT_RESULT), call


@pytest.mark.parametrize("script", ONCE_MISSED)
def test_what_lists_by_hand_had_left_out_counts(digests, script):
    for call in digests:
        assert call[0] != script or set(ONCE_MISSED[script]) <= everything_reached(*call)


@pytest.mark.parametrize("module", COUNTS)
def test_a_module_counts_where_it_is_used_and_nowhere_else(digests, module):
    found = {}
    for script, *names in digests:
        if module in everything_reached(script, *names):
            chosen = names[0].partition(":")[0].rpartition(".")[2] if names else ""
            found.setdefault(script, set()).add("" if script == "theory" else chosen)
    assert found == COUNTS[module]
