"""Versions of everything that computes, and which of them each job uses.

A job's parameters are the settings that differ from their defaults, the versions of the parts that it uses,
and the SHA-256 of a user's own modules (docs/jobs.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from typing import Any

from resolvent.datasets.tasks.registry import EQUATIONS, IMPORTED
from resolvent.models.registry import ARCHITECTURES, missing_packages, settings_class
from resolvent.planning.edits import digest_behind, digest_of, edited, file_of, table
from resolvent.planning.places import PACKAGE

DATASETS = EQUATIONS | {f"imported_{name}": location for name, location in IMPORTED.items()}
CHECKS = "_checks"  # after an equation's name: its error budget, estimates of errors, timed solvers and film
METRICS = ("relative_l2", "relative_h1", "standardised_relative_l2")
SOLVED = ("constant_coefficient", "interpolation_oracle", "coarse_solve")  # by the solvers of the equations
BASELINES = ("mean_predictor", "identity", *SOLVED, "ridge_regression")
# Modules with the VERSION (or VERSIONS) of a part; classes of equations and architectures have their own.
MODULES = {
    "training": "resolvent.training.train",
    "tuning": "resolvent.training.tuning",
    "preview": "resolvent.datasets.preview",
    "step_cost": "resolvent.measurements.step_cost",
    "architecture_costs": "resolvent.measurements.architecture_costs",
    "evaluation": "resolvent.evaluation.evaluate",
    **dict.fromkeys(METRICS, "resolvent.evaluation.metrics"),
    **dict.fromkeys(BASELINES, "resolvent.evaluation.baselines"),
    "estimates": "resolvent.evaluation.estimates",
    "inference": "resolvent.evaluation.inference",
    "rollout": "resolvent.evaluation.rollout",
    "latent_basis": "resolvent.evaluation.latent_basis",
}
PARTS = (*DATASETS, *(name + CHECKS for name in DATASETS), *ARCHITECTURES, *MODULES)
PAGES = "pages"  # the version of the package, and the digest of the code and templates of all pages

# Parts that each job uses, in addition to the equations, architectures and own modules that its rule names.
USES: dict[str, tuple[str, ...]] = {
    "solve_dataset": (),
    "finalise_dataset": (),
    "preview_dataset": ("preview",),
    "motion": ("preview",),
    "train": ("training",),
    "choose_settings": ("tuning",),
    "evaluate": ("evaluation", *METRICS),
    "predict": ("evaluation",),
    "baselines": (*BASELINES, *METRICS),
    "inference": ("inference",),
    "estimates": ("estimates",),
    "rollout": ("rollout",),
    "latent_basis": ("latent_basis",),
    "measure_cost": ("step_cost",),
    "measure_architectures": ("architecture_costs",),
    **dict.fromkeys(
        (
            "compare", "report", "run_pages", "dataset_page", "show",
            "paper_page", "page_assets", "plan_study", "study_page",
        ),
        (PAGES,),
    ),
}  # fmt: skip


def does(job: str, *parts: Any) -> dict[str, object]:
    """Return the parameters `job` and `versions` of a rule.

    `parts` are names, or one function that returns them for the rule's wildcards.
    """
    if parts and callable(of_wildcards := parts[0]):
        return {"job": job, "versions": lambda wildcards: versions_of(*USES[job], *of_wildcards(wildcards))}
    return {"job": job, "versions": versions_of(*USES[job], *parts)}


def versions_of(*parts: str) -> dict[str, int | str]:
    """Return the version of each part by name.

    A part is a name of `PARTS`, `PAGES`, a package with its version ("name==1.0"), or a user's own
    "module:name", whose version is the SHA-256 of the files of the module and of the own modules it imports.
    """
    versions: dict[str, int | str] = {}
    for part in dict.fromkeys(parts):
        module, of_user, _ = part.partition(":")
        package, is_package, number = part.partition("==")
        if is_package:
            versions[package] = number
        elif of_user:
            versions[module] = digest_behind(module)
        else:
            versions[part] = _version_of(part)
    return versions


@cache
def _version_of(part: str) -> int | str:
    if part == PAGES:
        pages = [path for path in (PACKAGE / "figures").rglob("*") if path.suffix not in (".pyc", "")]
        digest = digest_of({path.relative_to(PACKAGE).as_posix(): path for path in pages})
        return f"{version('resolvent')}-{digest[:12]}"
    edit = edited({part: modules_of(part)}).get(part)
    return edit["version"] if edit else table()["versions"][part]


def of_class(settings: type, names: dict[str, str], suffix: str = "") -> Iterator[str]:
    """Yield the parts of a class of settings: the registered classes and own modules that it derives from."""
    parts = {location: name for name, location in names.items()}
    for base in settings.__mro__:
        location = f"{base.__module__}:{base.__qualname__}"
        if location in parts:
            yield parts[location] + suffix
        elif file_of(base.__module__) and not base.__module__.startswith("resolvent."):
            yield location


@cache
def of_architecture(architecture: str) -> tuple[str, ...]:
    """Return the parts of an architecture: registered or own, and the packages whose code is the network."""
    settings = settings_class(architecture)
    own = () if settings.operator.startswith("resolvent.") else (settings.operator,)
    # The job that builds it reports missing packages: planning must not fail for rules that nobody requests.
    installed = () if missing_packages(architecture) else settings.packages
    return *of_class(settings, ARCHITECTURES), *own, *(f"{name}=={version(name)}" for name in installed)


def modules_of(part: str) -> tuple[str, ...]:
    """Return the modules from which the imports of a part begin."""
    if part in ARCHITECTURES:
        settings = settings_class(part)
        return settings.__module__, settings.operator.partition(":")[0], "resolvent.models.build"
    if location := DATASETS.get(part.removesuffix(CHECKS)):
        return (location.partition(":")[0],)
    module = MODULES[part]
    if part in SOLVED:
        return (module, *(location.partition(":")[0] for location in EQUATIONS.values()))
    return (module,)
