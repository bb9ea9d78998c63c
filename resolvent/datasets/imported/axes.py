"""Read which axis of an array is which: by the names of its axes, by the lengths of coordinates, by order.

What a file says decides before what is usual. Where neither does, there are several readings, and a person
has to choose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from resolvent.datasets.imported.coordinates import axis_of
from resolvent.datasets.storage.layout import SPACE

FEW = 8  # at most so many entries along an axis of channels
UNNAMED = ("dim_", "phony_dim_", "fakeDim")  # names that libraries give to axes without a name
COORDINATED = ("time", *SPACE)  # axes that coordinates in a file have lengths for

Axes = tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """What the axes of an array seem to be.

    axes     in their order in the file.
    certain  whether the file says so; else it is what is usual.
    asks     whether the file names an axis by a word that is not known, so that what is usual says little.
    """

    axes: Axes
    certain: bool = False
    asks: bool = False


def readings(
    shape: tuple[int, ...],
    dims: Axes | None = None,
    lengths: Mapping[str, set[int]] | None = None,
    x_first: bool = False,
) -> list[Reading]:
    """Return what the axes of an array may be: one reading, several that a person chooses from, or none.

    dims     names that the file gives the axes.
    lengths  of the coordinates in the file, by axis: an axis has the length of its coordinates.
    x_first  whether arrays of this layout have x before y where nothing else says so.
    """
    named = not all(name.startswith(UNNAMED) for name in dims or ())
    fixed = {at: axis for at, name in enumerate(dims or ()) if (axis := axis_of(name)) is not None}
    if len(set(fixed.values())) < len(fixed):
        return []
    lengths = {axis: some for axis, some in (lengths or {}).items() if axis not in fixed.values()}
    found: dict[Axes, Reading] = {}
    placed, one_way = _placed(shape, fixed, lengths)
    for places in placed:
        free = len(shape) - len(places)
        first = next((size for at, size in enumerate(shape) if at not in places), 0)
        certain = one_way and bool(places) and (not free or (free == 1 and first > FEW))
        for axes in _completed(shape, places):
            if x_first and "y" in axes and not dims:
                axes = tuple({"x": "y", "y": "x"}.get(one, one) for one in axes)
            if _agrees(axes, shape, lengths):
                found.setdefault(axes, Reading(axes, certain and not (named and free), named and free > 0))
    return list(found.values())


def _placed(
    shape: tuple[int, ...], fixed: dict[int, str], lengths: Mapping[str, set[int]]
) -> tuple[list[dict[int, str]], bool]:
    """Place the axes that have coordinates where their lengths fit, as many as possible.

    Returns every way to do so, and whether there was one only before what is usual chose among them: the
    first axis is of samples, and z, y and x follow each other.
    """
    axes = [axis for axis in COORDINATED if axis in lengths]
    choices = [
        [None, *(at for at, size in enumerate(shape) if at not in fixed and size in lengths[axis])]
        for axis in axes
    ]
    ways = []
    for chosen in product(*choices):
        taken = [at for at in chosen if at is not None]
        if len(set(taken)) == len(taken):
            ways.append({at: axis for at, axis in zip(chosen, axes, strict=True) if at is not None})
    most = max(map(len, ways))
    ways = [way for way in ways if len(way) == most]
    one_way = len(ways) == 1
    if "sample" not in fixed.values():
        ways = [way for way in ways if 0 not in way] or ways
    ordered = [way for way in ways if _in_order({**fixed, **way})] or ways
    timed = {axis: at for way in ordered for at, axis in way.items() if axis == "time"}
    if "time" not in timed or all(timed["time"] in way and way[timed["time"]] == "time" for way in ordered):
        ordered = ordered[-1:]  # of equal lengths the last is x
    return [{**fixed, **way} for way in ordered], one_way


def _in_order(places: dict[int, str]) -> bool:
    space = [places[at] for at in sorted(places) if places[at] in SPACE]
    return space == [axis for axis in SPACE if axis in space]


def _completed(shape: tuple[int, ...], places: dict[int, str]) -> Iterator[Axes]:
    """Yield what all axes may be, beside those in `places`."""
    free = [at for at in range(len(shape)) if at not in places]
    side = next((shape[at] for at, axis in places.items() if axis in SPACE), 0)
    if len(shape) == 2 and places == {1: "time"}:
        yield "sample", "x"  # functions of time
    if free and "sample" not in places.values() and not _single_series(shape, places, free, side):
        places = {**places, free[0]: "sample"}
        free = free[1:]
    if len(free) == 1 < len(shape) - 1 and not side and shape[free[0]] <= FEW:
        return  # few channels of no function
    for rest in _by_size([shape[at] for at in free], side, set(places.values())):
        axes = {**places, **dict(zip(free, rest, strict=True))}
        if any(axis in SPACE for axis in axes.values()):
            yield tuple(axes[at] for at in range(len(shape)))


def _single_series(shape: tuple[int, ...], places: dict[int, str], free: list[int], side: int) -> bool:
    """Say whether the free axes are all of space, and none of samples.

    They are where there is no other, and where times come first and equal sides follow.
    """
    if "time" in places.values() and not side and len(free) == 1:
        return True
    sides = {shape[at] for at in free} | ({side} if side else set())
    return places.get(0) == "time" and len(sides) == 1 and len(free) + bool(side) in (2, 3)


def _by_size(sizes: list[int], side: int, taken: set[str]) -> list[Axes]:
    """Return what axes of these sizes may be, in order, beside those `taken`; a side of space has `side`.

    Equal sizes are sides of a square or a cube, few entries are channels, and what is left is time. Two
    lengths that differ may be time and space in either order.
    """
    left = [axis for axis in SPACE if axis not in taken]
    if side:
        sides = [at for at, size in enumerate(sizes) if size == side][-len(left) :] if left else []
    else:
        repeated = [size for size in set(sizes) if 2 <= sizes.count(size) <= len(left)]
        large = [at for at, size in enumerate(sizes) if size > FEW]
        if repeated:
            size = max(repeated, key=lambda one: (sizes.count(one), one))
            sides = [at for at, one in enumerate(sizes) if one == size]
        elif len(large) == 2 and "time" not in taken:
            return [axes for first in (1, 0) for axes in _rest(sizes, [large[first]], taken)]
        elif large:
            sides = large
        else:
            sides = [sizes.index(max(sizes))] if len(sizes) == 1 else []
    together = not sides or sides == list(range(sides[0], sides[-1] + 1))
    return _rest(sizes, sides, taken) if together and len(sides) <= len(left) else []


def _rest(sizes: list[int], sides: list[int], taken: set[str]) -> list[Axes]:
    """Return the reading with these sides of space; none where the rest are no channels and no time."""
    if len({sizes[at] for at in sides}) > 1:
        return []
    space = [axis for axis in SPACE if axis not in taken]
    axes = dict(zip(sides, space[len(space) - len(sides) :], strict=True))
    others = sorted((at for at in range(len(sizes)) if at not in axes), key=lambda at: sizes[at])
    square = len(sides) + len(taken & set(SPACE)) == 2
    for at in others:
        behind = not sides or at > max(sides)
        few = FEW if not square or behind or len(others) > 1 or "time" in taken else FEW // 2
        free = [axis for axis in ("channel", "time") if axis not in {*taken, *axes.values()}]
        if "channel" in free and sizes[at] <= few:
            axes[at] = "channel"
        elif "time" in free:
            axes[at] = "time"
        else:
            return []
    return [tuple(axes[at] for at in range(len(sizes)))]


def _agrees(axes: Axes, shape: tuple[int, ...], lengths: Mapping[str, set[int]]) -> bool:
    """Say whether no axis contradicts its coordinates, which may be of edges: one more than of cells."""
    sizes = dict(zip(axes, shape, strict=True))
    return all(
        axis not in sizes or sizes[axis] in some or sizes[axis] + 1 in some for axis, some in lengths.items()
    )
