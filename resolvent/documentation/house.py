"""The picture of docs/architecture.md: rooms and the imports between them, drawn from the code itself."""

from __future__ import annotations

import ast
from html import escape
from pathlib import Path

from resolvent.documentation.pages import ROOT

WORDS = {
    "solvers": "equations and random fields → arrays",
    "models": "neural operators (torch)",
    "common": "files, locks, errors, settings, records",
    "datasets": "tasks, Zarr stores, cards, loading",
    "training": "fit, losses, checkpoints, several GPUs",
    "evaluation": "metrics, conditions, baselines, rollouts",
    "measurements": "theory and costs, without data",
    "figures": "tables, plots, pages, from result files only",
    "public": "data, runs, solvers for other programs",
    "planning": "configuration, DAG, reruns, prediction, GPUs",
    "documentation": "pages of docs/ that a command writes",
}
# Columns in which no arrow crosses a box.
COLUMNS = {"models": 1, "common": 2, "training": 0.5, "measurements": 1, "figures": 2, "planning": 1}
COLUMNS |= {"documentation": 1, "public": 2}
WIDTH, HEIGHT, GAP, RISE, MARGIN = 288, 58, 26, 62, 16


def imports_between_rooms(root: Path = ROOT) -> dict[str, set[str]]:
    """Find, for each room of the package, the other rooms that its modules import."""
    arrows: dict[str, set[str]] = {}
    for room in WORDS:
        arrows[room] = set()
        for file in (root / "resolvent" / room).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom):
                    names = [f"{node.module}.{alias.name}" for alias in node.names]
                arrows[room] |= {name.split(".")[1] for name in names if name.startswith("resolvent.")}
        arrows[room] &= WORDS.keys() - {room}
    return arrows


def without_implied(arrows: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave out each arrow that follows from two or more others."""

    def reached(room: str) -> set[str]:
        return arrows[room].union(*map(reached, arrows[room]))

    return {room: to - set().union(*map(reached, to)) for room, to in arrows.items()}


def floors(arrows: dict[str, set[str]]) -> dict[str, int]:
    """Find a floor for each room: above all that it imports, and as near to its importers as can be."""

    def least(room: str) -> int:
        return max((least(below) + 1 for below in arrows[room]), default=0)

    def floor(room: str) -> int:
        above = [floor(other) for other, to in arrows.items() if room in to]
        return min(above) - 1 if above and arrows[room] else least(room)

    return {room: floor(room) for room in arrows}


def house() -> str:
    """Draw the house as SVG, the ground floor below."""
    arrows = imports_between_rooms()
    storeys = floors(arrows)
    top = max(storeys.values())
    width = 2 * MARGIN + 3 * WIDTH + 2 * GAP
    height = 2 * MARGIN + (top + 1) * HEIGHT + top * RISE
    places = {
        room: (
            MARGIN + COLUMNS.get(room, 0) * (WIDTH + GAP),
            height - MARGIN - HEIGHT - floor * (HEIGHT + RISE),
        )
        for room, floor in storeys.items()
    }
    lines = [
        _arrow(places[room], places[below])
        for room, to in without_implied(arrows).items()
        for below in sorted(to)
    ]
    boxes = [_box(room, *places[room]) for room in WORDS]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        'aria-label="Rooms of Resolvent and the imports between them" '
        'font-family="system-ui, sans-serif">\n'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="#5b6b7b"/></marker></defs>\n'
        f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>\n'
        + "\n".join([*lines, *boxes])
        + "\n</svg>\n"
    )


def _arrow(above: tuple[float, float], below: tuple[float, float]) -> str:
    """Draw an arrow from a room down to one that it imports."""
    start, end = (above[0] + WIDTH / 2, above[1] + HEIGHT), (below[0] + WIDTH / 2, below[1])
    bend = (end[1] - start[1]) / 2
    path = f"M{start[0]:g} {start[1]:g}C{start[0]:g} {start[1] + bend:g} {end[0]:g} {end[1] - bend:g} "
    return f'<path d="{path}{end[0]:g} {end[1]:g}" fill="none" stroke="#5b6b7b" marker-end="url(#tip)"/>'


def _box(room: str, x: float, y: float) -> str:
    middle = x + WIDTH / 2
    return (
        f'<g><rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#eef3f8" '
        'stroke="#2f6b9a"/>\n'
        f'<text x="{middle:g}" y="{y + 23:g}" text-anchor="middle" font-size="15" font-weight="600" '
        f'fill="#17324a">{room}</text>\n'
        f'<text x="{middle:g}" y="{y + 43:g}" text-anchor="middle" font-size="12" fill="#33475b">'
        f"{escape(WORDS[room])}</text></g>"
    )
