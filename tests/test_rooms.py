"""The house: data flows one way, and each room imports only what it may."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {"solvers", "datasets", "models", "training", "figures", "workflow"}
MAY_IMPORT = {
    "solvers": set(),
    "datasets": {"solvers"},
    "models": set(),
    "training": {"solvers", "datasets", "models"},
    "figures": set(),
    "workflow": ROOMS,
}
NEVER = {
    "solvers": {"torch", "xarray", "zarr", "snakemake", "pydantic", "yaml"},
    "datasets": {"torch", "snakemake"},
    "models": {"jax", "xarray", "zarr", "snakemake"},
    "training": {"jax", "snakemake"},
    "figures": {"torch", "jax", "zarr", "snakemake"},
    "workflow": set(),
}


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_imports_only_the_rooms_before_it(room):
    files = list((ROOT / room).rglob("*.py"))
    assert files
    for path in files:
        imports = imports_of(path)
        assert imports & ROOMS <= MAY_IMPORT[room] | {room}, path
        assert not imports & NEVER[room], path


def test_no_file_has_outgrown_one_idea():
    for room in ROOMS:
        for path in [*(ROOT / room).rglob("*.py"), *(ROOT / room).rglob("*.smk")]:
            assert len(path.read_text().splitlines()) <= 400, path
