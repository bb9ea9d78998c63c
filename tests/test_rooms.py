"""The rooms of the house: data flows one way, and each room imports only what it may."""

import ast
import graphlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {
    "solvers",
    "models",
    "common",
    "datasets",
    "training",
    "evaluation",
    "measurements",
    "figures",
    "public",
    "planning",
    "documentation",
}
MAY_IMPORT = {
    "solvers": set(),
    "models": {"common"},
    "common": set(),
    "datasets": {"common", "solvers"},
    "training": {"common", "solvers", "models", "datasets"},
    "evaluation": {"common", "solvers", "models", "datasets", "training"},
    "measurements": {"common", "solvers", "models", "training"},
    "figures": {"common"},
    "public": {"common", "solvers", "models", "datasets", "training", "evaluation", "figures"},
    "planning": ROOMS - {"documentation"},
    "documentation": ROOMS,
}
NEVER = {
    "solvers": {"torch", "xarray", "zarr", "snakemake", "pydantic", "yaml"},
    "models": {"jax", "xarray", "zarr", "snakemake"},
    "common": {"torch", "jax", "zarr", "snakemake"},
    "datasets": {"torch", "snakemake"},
    "training": {"jax", "snakemake"},
    "evaluation": {"jax", "snakemake"},
    "measurements": {"jax", "snakemake"},
    "figures": {"torch", "jax", "zarr", "snakemake"},
    "public": {"snakemake"},
    "planning": set(),
    "documentation": set(),
}
# The one reader whose format is another room's.
EXCEPT = {"resolvent/datasets/imported/readers/formats.py": {"torch"}}
FORMER = {"solvers", "models", "datasets", "training", "figures", "workflow"}  # top-level names of the past


def folder_of(room: str) -> Path:
    return ROOT / "resolvent" / room


def imported_modules(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_imports_only_the_rooms_before_it(room):
    files = list(folder_of(room).rglob("*.py"))
    assert files
    for path in files:
        modules = imported_modules(path)
        rooms = {module.split(".")[1] for module in modules if module.startswith("resolvent.")}
        assert rooms <= MAY_IMPORT[room] | {room}, path
        packages = {module.partition(".")[0] for module in modules}
        allowed = EXCEPT.get(path.relative_to(ROOT).as_posix(), set())
        assert not packages & (NEVER[room] - allowed | FORMER), path


@pytest.mark.parametrize("folder", ["datasets/imported"])
def test_no_modules_import_each_other(folder):
    """Hold that there is no circle, of imports within functions and for types among them."""
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path
        for path in folder_of(folder).rglob("*.py")
        if path.name != "__init__.py"
    }
    imports = {
        name: {one for module in imported_modules(path) for one in (module, module.rpartition(".")[0])}
        for name, path in paths.items()
    }
    graph = {name: found & set(paths) - {name} for name, found in imports.items()}
    graphlib.TopologicalSorter(graph).prepare()  # raises a CycleError that names them


def test_every_room_is_known():
    assert {path.name for path in (ROOT / "resolvent").iterdir() if path.is_dir()} - {"__pycache__"} == ROOMS


def test_no_file_has_outgrown_one_idea():
    for path in [*all_files("*.py"), *(ROOT / "workflow").rglob("*.smk"), *(ROOT / "workflow").rglob("*.py")]:
        assert len(path.read_text().splitlines()) <= 700, path


def all_files(pattern: str) -> list[Path]:
    return [path for room in ROOMS for path in folder_of(room).rglob(pattern)]
