"""Compute the golden numbers of each part: small, in seconds, and by all code that the part's jobs reach.

Numbers of one part must not depend on another part that has a version of its own: inputs are formulas, and
trainings and evaluations use the dataset and the network of `resolvent.planning.golden.study`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from resolvent.common.records import ESTIMATE_COLUMNS, INFERENCE_COLUMNS, CostRecord, write_record
from resolvent.datasets.loading import load_samples, read_card
from resolvent.datasets.making import make_dataset
from resolvent.datasets.tasks.registry import EQUATIONS, build_task, settings_class, settings_of
from resolvent.models.registry import ARCHITECTURES
from resolvent.models.registry import settings_class as architecture_class
from resolvent.models.settings import Settings
from resolvent.planning.versions import BASELINES, CHECKS, DATASETS, METRICS, SOLVED
from resolvent.solvers.common.errors import SolverError
from resolvent.solvers.common.grid import AnyGrid, Grid, Nodes

Numbers = dict[str, Any]  # arrays, numbers, and lists of text
SAMPLES = [("train", 0), ("train", 1), ("test", 0)]
STUDY = "resolvent.planning.golden.study"
SCRATCH = tempfile.TemporaryDirectory()  # removed when the process ends
FEW = {"train": 8, "validation": 2, "test": 4}

# Settings beside an example, so that together they reach all of its code. Other equations have the example.
CASES: dict[str, list[dict]] = {
    "burgers": [
        {},
        {"num_modes": 96, "num_steps": 64},
        {"method": "etdrk4"},
        {"method": "cole-hopf", "restriction": "stride", "final_time": 0.5, "viscosity": 0.02},
    ],
    "darcy": [
        {"accuracy": 1e-11},
        {"accuracy": 1e-11, "push_forward": "lognormal", "face_mean": "harmonic"},
        {"tolerance": 1e-12, "grid": "cell_centres", "pressure": "solved_on_each_grid"},
    ],
    "darcy_inverse": [
        {"accuracy": 1e-11},
        {"accuracy": 1e-11, "grid": "cell_centres", "finest": 45, "resolutions": [23], "coarse": [12]},
    ],
    "lorenz63": [
        {},
        {"targets": "y", "step": 0.01, "observations": {"normal": {"kind": "normal", "count": 12}}},
    ],
    "controlled_ode": [{}, {"control_decay": "none", "initial_value": 0.5}],
    "kolmogorov": [
        {"accuracy": 0.01},
        {"method": "split-step", "initial_distribution": {"name": "calvello_kolmogorov_printed"}},
        {"num_modes": None, "step": None, "frames": 2, "spin_up_time": 0.1, "accuracy": 0.01},
    ],
}
# Training settings that together reach all of the loop; each trains two epochs of four steps.
TRAININGS: list[dict] = [
    {},
    {"loss": "squared_norms", "schedule": "plateau", "plateau_patience": 0, "gradient_clip": None},
    {"loss": "h1", "gradient_weight": 0.0, "weight_decay": 1e-2, "batch_reduction": "sum"},
    {
        "loss": "h1_unit_spacing",
        "normalisation": "scalar",
        "loss_units": "standardised",
        "gradient_weight": 0.0,
    },
    {"normalisation": "pointwise", "selection": "last", "shuffle": False, "gradient_clip_by": "value"},
    {"target_gradient": "public_code", "loader_seed": 5},
    {"fresh_samples": True, "record_test_error": True, "peak_fraction": 0.5, "final_division": 10.0},
    {"precision": "bfloat16", "early_stopping": 1, "train_samples": 4},
    {"optimiser": "adam_torch_1_8", "weight_decay": 1e-3},
]
ON_THE_SQUARE: list[dict] = [
    {
        "normalisation": "pointwise",
        "boundary": "zero",
        "gradient_coefficient": "input",
        "gradient_weight": 0.5,
    },
    {"target_gradient": "public_code", "loss": "h1_unit_spacing", "gradient_weight": 0.0},
]
SIDES = {1: (32, 17, 45, 128), 2: (18, 17, 32, 45), 3: (14, 11, 16)}  # grids tried for an architecture


def numbers_of(part: str) -> Numbers:
    """Return the golden numbers of a part, a name of `resolvent.planning.versions.PARTS`."""
    equation = part.removesuffix(CHECKS)
    if equation in DATASETS:
        return checks(equation) if part.endswith(CHECKS) else samples(equation)
    if part in ARCHITECTURES:
        return steps(part)
    if part in METRICS:
        return metric(part)
    if part in BASELINES:
        return baseline(part)
    return MEASURED[part]()


def defaults_of(part: str) -> dict[str, Any]:
    """Return the defaults of a part's settings: a changed default is a new version."""
    from resolvent.measurements.settings import ArchitectureCostSettings, CostSettings
    from resolvent.training.settings import TrainingSettings

    others: dict[str, type[BaseModel]] = {
        "training": TrainingSettings,
        "step_cost": CostSettings,
        "architecture_costs": ArchitectureCostSettings,
    }
    settings = others.get(part, BaseModel)
    if part in DATASETS:
        settings = class_of(part)
    elif part in ARCHITECTURES:
        settings = architecture_class(part)
    return {
        name: to_jsonable_python(field.get_default(call_default_factory=True))
        for name, field in settings.model_fields.items()
        if not field.is_required()
    }


def class_of(part: str) -> Any:
    """Return the settings class of a part of `DATASETS`."""
    name = part.removeprefix("imported_")
    return settings_class(name, imported=name != part)


def new_folder() -> Path:
    return Path(tempfile.mkdtemp(dir=SCRATCH.name))


def smooth(grid: AnyGrid, count: int = 3) -> np.ndarray:
    """Return functions of a few waves on any grid, (count, *shape), between -1.6 and 1.6."""
    axes = grid.positions if isinstance(grid, Nodes) else grid.coordinates  # type: ignore[union-attr]
    space = np.meshgrid(*[np.asarray(axes, dtype=float)] * len(grid.shape), indexing="ij")
    phase = sum((axis + 1) * 2 * np.pi * x for axis, x in enumerate(space))
    waves = [np.cos(phase + n) + 0.6 * np.sin(2 * np.pi * space[-1] * (n + 1)) for n in range(count)]
    return np.stack(waves)


# Equations


def cases_of(equation: str) -> Iterator[tuple[str, Any]]:
    """Yield a name and the settings of each case of an equation."""
    if equation not in EQUATIONS:
        yield "file", settings_of(written(equation, new_folder())).with_contents()
        return
    for number, changes in enumerate(CASES.get(equation, [{}])):
        settings = {"equation": equation, **settings_class(equation).example, **changes}
        stated = {name: value for name, value in settings.items() if value is not None}
        yield f"case {number}", settings_of(stated)


def written(equation: str, folder: Path) -> dict:
    """Write a file of 48 samples by formulas; return the settings that import it."""
    import scipy.io

    sizes = {"train": 40, "validation": 4, "test": 4}
    line, square = Grid("periodic", 64), Grid("nodes", 17, dimension=2)
    if equation in ("imported_arrays", "imported_burgers"):
        a = smooth(line, 48)
        values = {"a": a, "u": 0.5 * a + 0.1 * a**2}
    else:
        u = smooth(square, 48)
        x, y = square.coordinates[None, :], square.coordinates[:, None]
        bump = np.sin(np.pi * x) * np.sin(np.pi * y)
        values = {"coeff": np.where(u > 0, 12.0, 3.0), "sol": bump * (0.01 + 0.002 * u)}
    path = folder / "golden.mat"
    scipy.io.savemat(path, values)
    if equation == "imported_arrays":
        own = {"input": "a", "target": "u", "axes": ["sample", "x"], "grid": "periodic"}
        return {"equation": "arrays", "source": str(path), "finest": 64, "samples": sizes, **own}
    common = {"equation": equation.removeprefix("imported_"), "source": str(path), "samples": sizes}
    if equation == "imported_burgers":
        return common | {"finest": 64, "resolutions": [64, 16]}
    return common | {"finest": 17, "resolutions": [17, 9]}


def samples(equation: str) -> Numbers:
    """Return stored arrays of a few samples in every case."""
    numbers: Numbers = {}
    for case, settings in cases_of(equation):
        arrays = build_task(settings).compute(SAMPLES)
        numbers |= {f"{case}: {name}": values for name, values in arrays.items()}
    return numbers


def checks(equation: str) -> Numbers:
    """Return error budget, estimates of errors, answers of the timed solvers, and film, in the first case.

    Cheap solvers and bounds of errors get slightly wrong predictions.
    """
    _, settings = next(cases_of(equation))
    card, task = make_dataset(settings, new_folder() / "made", {}), build_task(settings)
    numbers: Numbers = {}
    for check, entry in read_card(card)["error_budget"].items():
        # Fits of an imported file's parameters end where a search ends.
        if isinstance(entry, dict) and "largest_relative_l2" in entry and "_fit" not in check:
            # Beside 1, as rounding moves small errors.
            errors = [1.0, entry["median_relative_l2"], entry["largest_relative_l2"]]
            numbers[f"error budget: {check}"] = np.array(errors)
    stored = load_samples(card, settings.resolutions[0], "test", 2)
    inputs, targets = stored.inputs.astype(np.float64), stored.targets.astype(np.float64)
    prediction = 1.01 * targets
    for number, symmetry in enumerate(settings.symmetries()):
        numbers[f"symmetry {number}"] = symmetry.inputs(inputs)
    for name, solver in task.classical_solvers().items():
        try:
            numbers[f"solver: {name}"] = solver(inputs, stored.grid)
        except SolverError as error:
            numbers[f"solver: {name}"] = [error.finding]
    cheap = settings.cheap_answer(inputs, prediction, stored.target_grid)
    if cheap is not None:
        numbers["cheap answer"] = cheap
    if bounds := settings.error_bounds(inputs, prediction):
        numbers |= {f"bounds: {name}": values for name, values in bounds.items()}
        numbers["energy error"] = settings.energy_error(inputs, prediction, targets)
        numbers["corrected"] = settings.corrected(inputs, prediction, 2)
    if settings.moves:
        numbers["film"] = task.motion(SAMPLES[0]).values
    return numbers


# Architectures


def sides_of(settings: Settings) -> tuple[int, ...]:
    """Return the first grid that an architecture takes; rectangular, unless it takes one grid only."""
    if settings.one_grid:
        points = settings.points  # type: ignore[attr-defined]
        return tuple(points) if isinstance(points, list) else (points,) * settings.dimension
    for points in SIDES[settings.dimension]:
        sides = (points, *[points - 2] * (settings.dimension - 1))
        with suppress(ValueError):
            settings.check_grid(sides)
            return sides
    raise ValueError(f"{type(settings).__name__} takes no grid of {SIDES[settings.dimension]}")


def steps(architecture: str) -> Numbers:
    """Return outputs of every variant before and after three steps of gradient descent, and its loss."""
    import torch

    from resolvent.models.build import build, parameter_counts
    from resolvent.models.registry import resolve

    known, numbers = architecture_class(architecture), {}
    for name, changes in known.variants.items():
        settings = resolve(architecture, known.example | changes)
        operator = build(architecture, settings.model_dump(), seed=0)
        numbers[f"{name} parameters"] = np.array(parameter_counts(operator), dtype=float)
        axes = [torch.arange(n, dtype=torch.float32) / n for n in sides_of(settings)]
        x = torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1)
        phase = 2 * torch.pi * (x @ torch.arange(1.0, len(axes) + 1))
        u = torch.stack([torch.cos(phase), torch.sin(2 * phase) + 0.3])[..., None]
        with torch.no_grad():
            before = operator.eval()(u, x)
        target, losses = torch.roll(before, 1, dims=1) + 0.1, []
        optimiser = torch.optim.SGD(operator.parameters(), lr=1e-2)
        torch.manual_seed(0)  # for dropout
        operator.train()
        for _ in range(3):
            optimiser.zero_grad()
            loss = ((operator(u, x) - target) ** 2).mean() / (target**2).mean()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        with torch.no_grad():
            after = operator.eval()(u, x)
        numbers[f"{name} forward"], numbers[f"{name} losses"] = before.numpy(), np.array(losses)
        numbers[f"{name} after three steps"] = after.numpy()
    return numbers


# Training and evaluation, on waves by a narrow network


@cache
def made(name: str = "Waves") -> Path:
    """Return the card of a dataset of `resolvent.planning.golden.study`."""
    return make_dataset(settings_named(name), new_folder() / name, {})


def settings_named(name: str = "Waves") -> Any:
    return settings_of({"equation": f"{STUDY}:{name}Dataset", "samples": FEW, "seed": 7})


def trainings() -> Numbers:
    """Return histories and weights of trainings of a narrow network, every other one with noise."""
    import torch

    from resolvent.training.checkpoints import load
    from resolvent.training.train import train_run

    numbers: Numbers = {}
    cases = [("Waves", 32, 6, changes) for changes in TRAININGS]
    cases += [("Bumps", 9, 7, changes) for changes in ON_THE_SQUARE]
    for number, (dataset, points, width, changes) in enumerate(cases):
        run = {
            "architecture": f"{STUDY}:NarrowSettings",
            "settings": {"width": width},
            "grids": "stored",
            "noise": 0.1 * (number % 2),
            "noise_samples": FEW["train"],
            "training": {"epochs": 2, "batch_size": 2, **changes},
            "samples": FEW,
        }
        folder = new_folder()
        train_run(made(dataset), folder, points, 3, run, {}, torch.get_num_threads(), gpus=0)
        history = pandas.read_csv(folder / "history.csv")
        numbers[f"case {number}: history"] = history.to_numpy(dtype=float)
        state = load(folder / "checkpoint.pt")["operator"]
        weights = [values.flatten().double() for values in state.values() if values.is_floating_point()]
        numbers[f"case {number}: weights"] = torch.cat(weights).numpy()
    return numbers


def tuning() -> Numbers:
    """Return the choice among four short runs: two are equally good, and the best one diverged."""
    from resolvent.training.tuning import choose_settings

    folder, short_runs = new_folder(), {}
    cost: dict[str, Any] = dict.fromkeys((field.name for field in fields(CostRecord)), 1)
    cost |= {"status": "finished", "device": "cpu", "best_test_relative_l2": 1.0}
    cost |= {"train_seconds": 1.0, "seconds_per_step": 1.0}
    for number, (error, diverged) in enumerate(((0.3, None), (0.1, None), (0.1, None), (0.05, 2))):
        known = {"config_hash": str(number), "best_validation_relative_l2": error, "diverged_epoch": diverged}
        write_record(folder / f"{number}/cost.json", CostRecord(**cost | known))
        short_runs[f"{folder}/{number}"] = {"settings": {"number": number}, "config_hash": str(number)}
    choose_settings(short_runs, resolution=1, seed=1, epochs=1, output=folder / "tuned.json")
    record = json.loads((folder / "tuned.json").read_text())
    errors = [candidate["validation_relative_l2"] for candidate in record["candidates"]]
    return {"chosen": np.array([record["chosen"]["number"]]), "errors": np.array(errors, dtype=float)}


def evaluation() -> Numbers:
    import torch

    from resolvent.evaluation.evaluate import evaluate_operator
    from resolvent.planning.golden.study import Narrow

    description = {
        "training": {"noise_samples": FEW["train"], "test_samples": FEW["test"], "normalisation": "none"},
        "resolution": 32,
        "grids": "stored",
        "test_resolutions": [32, 16],
        "test_noise": [0.0, 0.1],
        "noise_realisations": 2,
    }
    operator, device = Narrow(1, 1, 6), torch.device("cpu")
    errors, predictions = evaluate_operator(operator, made(), description, device, seed=7)
    numbers: Numbers = {str(name): errors[name].to_numpy(dtype=float) for name in errors}
    for group in predictions.subtree:
        for name, values in group.to_dataset().data_vars.items():
            if values.dtype.kind == "f":
                numbers[f"{group.path} {name}"] = values.to_numpy()
    return numbers | {"spread": np.array(predictions.attrs["prediction_spread"])}


def estimates() -> Numbers:
    from resolvent.evaluation.estimates import errors_beside

    def answer(inputs: np.ndarray) -> np.ndarray:
        return np.tanh(inputs) + 0.1 * np.roll(inputs, 1, axis=-1)

    errors = errors_beside(settings_named(), answer, load_samples(made(), 32, "test", FEW["test"]))
    numbers: Numbers = {name: np.asarray(values, dtype=float) for name, values in errors.items()}
    return numbers | {"columns": list(ESTIMATE_COLUMNS)}


def inference() -> Numbers:
    from resolvent.evaluation.inference import SAMPLES as BATCH
    from resolvent.evaluation.inference import beside_the_fastest

    model = {"error": 0.1, "many_seconds": 1e-3, "train_seconds": 60.0, "data_seconds": 5.0, "device": "cpu"}
    model["search_seconds"] = 0.0
    solvers = [
        {"label": str(error), "error": error, "many_seconds": seconds, "one_seconds": 1.0, "device": "cpu"}
        for error, seconds in ((0.2, 1e-4), (0.1, 1e-2), (0.01, 2e-2))
    ]
    beside = beside_the_fastest(model, solvers, "cpu")
    queries = np.array([BATCH, beside["queries"]], dtype=float)
    return {"columns": list(INFERENCE_COLUMNS), "fastest": [beside["solver"]], "queries": queries}


def rollout() -> Numbers:
    import torch

    from resolvent.evaluation.rollout import rolled_out
    from resolvent.planning.golden.study import Narrow

    initial = load_samples(made(), 32, "test", 2)
    return {"frames": np.stack(list(rolled_out(Narrow(1, 1, 6), initial, 3, torch.device("cpu"))))}


def latent_basis() -> Numbers:
    from resolvent.evaluation.latent_basis import leading_functions, roughness
    from resolvent.solvers.darcy.eigenfunctions import eigenfunctions

    functions = smooth(Grid("nodes", 9, dimension=2), 5)
    basis, shares = leading_functions(functions, 2)
    eigenvalues, own = eigenfunctions(1 + 0.1 * functions[0, :-1, :-1] ** 2, 2)
    numbers: Numbers = {"basis": basis, "shares": shares, "roughness": roughness(functions)}
    return numbers | {"eigenvalues": eigenvalues, "eigenfunctions": own}


def preview() -> Numbers:
    from resolvent.datasets.preview import write_motion, write_preview

    numbers: Numbers = {}
    for name, write in (("preview", write_preview), ("motion", write_motion)):
        path = new_folder() / f"{name}.npz"
        write(made(), path)
        with np.load(path) as arrays:
            for key, values in arrays.items():
                text = values.dtype.kind == "U"
                numbers[f"{name} {key}"] = list(map(str, values.ravel())) if text else values.astype(float)
    return numbers


# Metrics and baselines, on fixed arrays


def metric(name: str) -> Numbers:
    from resolvent.evaluation.metrics import METRICS as KNOWN
    from resolvent.evaluation.metrics import measure

    (chosen,) = (metric for metric in KNOWN if metric.name == name)
    scale, numbers = (np.array([0.5]), np.array([0.7])), {}
    for kind, dimension in product(("periodic", "nodes", "cell_centres"), (1, 2)):
        if (kind, dimension) != ("cell_centres", 1):
            grid = Grid(kind, 12, dimension=dimension)
            target = smooth(grid) + 0.5
            prediction = target + 0.1 * np.tanh(2 * target)
            numbers[f"{kind} {dimension}"] = measure(prediction, target, grid, scale, (chosen,))[name]
    return numbers


def baseline(name: str) -> Numbers:
    from resolvent.evaluation.baselines import RidgeRegression, baselines
    from resolvent.evaluation.conditions import Condition

    numbers: Numbers = {}
    if name in SOLVED:
        for equation in EQUATIONS:
            task = build_task(settings_of({"equation": equation, **settings_class(equation).example}))
            if solver := task.baselines().get(name):
                numbers[equation] = solver(*inputs_for(equation, task))
        return numbers
    loaded = {split: load_samples(made(), 32, split, count) for split, count in FEW.items()}
    task = build_task(settings_named())
    task.input_answers = True
    tests: list = [(Condition(32), loaded["test"])]
    errors, _ = baselines(loaded["train"], tests, task)
    errors = errors[errors["baseline"] == name].filter(regex="^relative")
    numbers = {str(key): errors[key].to_numpy(dtype=float) for key in errors}
    if name == "ridge_regression":
        fitted = RidgeRegression(loaded["train"].inputs, loaded["train"].targets)
        numbers["predictions"] = fitted(loaded["test"].inputs)
    return numbers


def inputs_for(equation: str, task: Any) -> tuple[np.ndarray, AnyGrid]:
    """Return inputs by a formula that a solver of the equation takes, and their grid."""
    name = task.inputs[0]
    group = next(group for group in task.groups() if name in [stored.name for stored in group.variables])
    values = smooth(group.grid)
    if equation.startswith("darcy"):
        values = np.where(values > 0, 12.0, 3.0)
    if equation == "lorenz63":
        values = np.stack([values, np.full_like(values, 0.5), np.full_like(values, 20.0)], axis=1)
    return values, group.grid


# Measurements


def step_cost() -> Numbers:
    import torch

    from resolvent.measurements.step_cost import CASES as KNOWN
    from resolvent.measurements.step_cost import SCOPES, learner_of, training_step
    from resolvent.training.operations import counted

    numbers: Numbers = {}
    for scope, (attention, contraction) in product(SCOPES, KNOWN):
        learner = learner_of(scope, attention, contraction, 32, 1, torch.device("cpu"))
        flop = counted(training_step(learner, update=False))
        numbers[f"{scope} {attention} {contraction}"] = np.array([flop], dtype=float)
    return numbers


def architecture_costs() -> Numbers:
    """Return counted and stated costs of each architecture at its smallest sizes."""
    from resolvent.measurements.architecture_costs import COLUMNS, cases, counted_costs
    from resolvent.measurements.architecture_formulas import MEASURED as KNOWN
    from resolvent.measurements.settings import ArchitectureCostSettings

    settings = ArchitectureCostSettings()
    numbers: Numbers = {"columns": list(COLUMNS)}
    smallest = {name: (width, points) for name, width, points in reversed(list(cases(settings)))}
    for name, (width, points) in smallest.items():
        case = KNOWN[name].case(settings, width, points)
        counts = counted_costs(KNOWN[name].architecture, case.settings, points)
        formulas = (case.parameters, case.products, case.transforms)
        numbers[name] = np.array([*counts, *formulas], dtype=float)
    return numbers


MEASURED: dict[str, Callable[[], Numbers]] = {
    "training": trainings,
    "tuning": tuning,
    "preview": preview,
    "step_cost": step_cost,
    "architecture_costs": architecture_costs,
    "evaluation": evaluation,
    "estimates": estimates,
    "inference": inference,
    "rollout": rollout,
    "latent_basis": latent_basis,
}
