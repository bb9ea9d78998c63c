"""The rooms of the house: data flows one way, and each room imports only what it may."""

import ast
import graphlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# The picture of docs/architecture.md says which room imports which, but for what follows from other arrows.
ARROWS = re.findall(r'<path id="(\w+)-(\w+)"', (ROOT / "docs/images/house.svg").read_text(encoding="utf-8"))
ROOMS = {room for arrow in ARROWS for room in arrow}
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
    "judging": {"snakemake"},
}
WITHOUT = {"measurements": {"datasets"}}  # whatever the arrows say
# The one reader whose format is another room's.
EXCEPT = {"resolvent/datasets/imported/readers/formats.py": {"torch"}}
FORMER = {"solvers", "models", "datasets", "training", "figures", "workflow"}  # top-level names of the past


def folder_of(room: str) -> Path:
    return ROOT / "resolvent" / room


def reached(room: str) -> set[str]:
    direct = {below for above, below in ARROWS if above == room}
    return direct.union(*map(reached, direct))


def names_of(nodes) -> set[str]:
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"a relative import of {node.module}"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def imported_modules(path: Path) -> set[str]:
    return names_of(ast.walk(ast.parse(path.read_text())))


def imported_at_once(path: Path) -> set[str]:
    """Return what is imported when the module is: not the types, nor what a function imports."""
    return names_of(ast.parse(path.read_text()).body)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_imports_only_the_rooms_that_arrows_lead_to(room):
    found = set()
    for path in folder_of(room).rglob("*.py"):
        modules = imported_modules(path)
        found |= {module.split(".")[1] for module in modules if module.startswith("resolvent.")}
        packages = {module.partition(".")[0] for module in modules}
        allowed = EXCEPT.get(path.relative_to(ROOT).as_posix(), set())
        assert not packages & (NEVER[room] - allowed | FORMER), path
    assert found <= reached(room) - WITHOUT.get(room, set()) | {room}
    assert {below for above, below in ARROWS if above == room} <= found  # each arrow is an import


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_no_modules_of_a_room_import_each_other(room):
    """Hold that there is no circle; of types alone, and within functions, two modules may name each other."""
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path
        for path in folder_of(room).rglob("*.py")
        if path.name != "__init__.py"
    }
    imports = {
        name: {one for module in imported_at_once(path) for one in (module, module.rpartition(".")[0])}
        for name, path in paths.items()
    }
    graph = {name: found & set(paths) - {name} for name, found in imports.items()}
    graphlib.TopologicalSorter(graph).prepare()  # raises a CycleError that names them


def test_pages_know_only_pages_below_them():
    """Hold that data flow one way between the folders of figures: the page of a run imports the report."""
    folders: dict[str, set[str]] = {}
    for path in folder_of("figures").rglob("*.py"):
        modules = {module for module in imported_modules(path) if module.startswith("resolvent.figures.")}
        folders.setdefault(path.parent.name, set()).update(module.split(".")[2] for module in modules)
    graph = {name: below & set(folders) - {name} for name, below in folders.items()}
    graphlib.TopologicalSorter(graph).prepare()


def test_every_room_is_known():
    assert {path.name for path in (ROOT / "resolvent").iterdir() if path.is_dir()} - {"__pycache__"} == ROOMS


def test_no_file_has_outgrown_one_idea():
    paths = [path for room in ROOMS for path in folder_of(room).rglob("*.py")]
    for path in [*paths, *(ROOT / "workflow").rglob("*.smk"), *(ROOT / "workflow").rglob("*.py")]:
        assert len(path.read_text().splitlines()) <= 700, path
