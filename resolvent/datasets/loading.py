"""Read samples for training and evaluation: one split of one group, from a store or newly solved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from resolvent.common.cards import WHOLE_CARD
from resolvent.common.files import read_json
from resolvent.common.records import checked
from resolvent.datasets.errors import DatasetError, damaged
from resolvent.datasets.gradients import central_differences, gradient
from resolvent.datasets.noise import Noise, pointwise_standard_deviation
from resolvent.datasets.storage.addresses import located
from resolvent.datasets.storage.layout import grid_from_facts, group_facts, group_name, resolution_of
from resolvent.datasets.storage.reading import StoredArray, open_store, read_array
from resolvent.datasets.tasks.registry import build_task, settings_on
from resolvent.datasets.tasks.settings import DatasetSettings
from resolvent.solvers.common.grid import AnyGrid, Grid

BATCH = 32  # samples on the finest grid that are read at once
BLOCK_VALUES = 2**26  # values per block in `blocks`: 512 MB in double precision
# Largest |mean| / deviation that float32 may hold: its rounding is then below 1e-5 deviations.
FAR = 100.0
Members = range | np.ndarray  # indices in a split


@dataclass(frozen=True)
class Samples:
    """Pairs of functions: `inputs` on `grid` and `targets`, in physical units.

    Both are (samples, ...space), or (samples, channels, ...space) for several functions. Scalar inputs, such
    as initial values, are constant functions and come last.

    gradients    gradients of the targets, (samples, dimension, ...space), if they are known more accurately
                 than from the targets on this grid (`Split.target_gradients`).
    target_grid  grid of the targets, by default the grid of the inputs.
    """

    grid: AnyGrid
    inputs: np.ndarray
    targets: np.ndarray
    gradients: np.ndarray | None = None
    target_grid: AnyGrid = None  # type: ignore[assignment]  # never None after __post_init__

    def __post_init__(self) -> None:
        if self.target_grid is None:
            object.__setattr__(self, "target_grid", self.grid)

    def __len__(self) -> int:
        return len(self.inputs)

    def read(self, members: Members) -> Samples:
        """Return the samples at `members`; views for a range."""
        here = slice(members.start, members.stop) if isinstance(members, range) else members
        gradients = None if self.gradients is None else self.gradients[here]
        return Samples(self.grid, self.inputs[here], self.targets[here], gradients, self.target_grid)

    def unlabelled(self) -> Samples:
        """Return the samples with targets that are NaN, in the same shape."""
        unknown = np.broadcast_to(np.nan, self.targets.shape)
        return Samples(self.grid, self.inputs, unknown, target_grid=self.target_grid)


def read_card(path: Path) -> dict:
    """Read the dataset card at `path`, and check that it belongs to the store next to it.

    Raises `DatasetError` if there is no card (the dataset is not finished), or the store does not match it;
    `FileError` if the card is damaged.
    """
    try:
        card: Any = checked(WHOLE_CARD, read_json(path, "the dataset card"), str(path))
    except FileNotFoundError:
        raise DatasetError(f"no dataset card at {path}: the dataset is not finished; run snakemake") from None
    store = Path(path).with_suffix(".zarr")
    stored = dict(open_store(store).attrs)
    inside, outside = (str(facts.get("content_hash", "none")) for facts in (stored, card))
    if inside != outside:
        raise damaged(
            located(store),
            f"does not match the card {path}: content hash {inside[:12]} against {outside[:12]}",
        )
    for key in {**stored, **card}:
        if stored.get(key) != card.get(key):
            raise damaged(located(store), f"does not match the card {path} in '{key}'")
    return card


def places_of(card: dict, split: str, count: int = 0) -> range:
    """Return the positions of a split's samples; raise `DatasetError` if it has fewer than `count`."""
    start = 0
    for stored, size in card["samples"].items():
        if stored == split:
            if count > size:
                raise DatasetError(f"{count} {split} samples requested; {card['dataset']} has {size}")
            return range(start, start + size)
        start += size
    raise DatasetError(f"{card['dataset']} has no split '{split}'; it has {', '.join(card['samples'])}")


def load_arrays(
    card_path: Path, group: str, split: str, count: int | None = None, names: list[str] | None = None
) -> dict[str, np.ndarray]:
    """Load variables of `group` (all, or `names`): the first `count` samples of `split`, by default all.

    Raises `DatasetError` if the dataset is missing, damaged or has no such samples.
    """
    card = read_card(card_path)
    if group not in card["groups"]:
        raise DatasetError(f"{card['dataset']} has no group '{group}'; it has {', '.join(card['groups'])}")
    places = places_of(card, split, count or 0)
    count = len(places) if count is None else count
    names = card["groups"][group]["variables"] if names is None else names
    store = Path(card_path).with_suffix(".zarr")
    members = places[:count]
    return {name: read_array(store, f"{group}/{name}", members) for name in names}


class Split:
    """The first samples of a split at one resolution, read on demand.

    path        path of the card; if `card` is given, the address of its store.
    resolution  points along each axis, or the name of a set of times.
    count       number of samples.
    grids       grids of input and target in an inverse problem: `stored` is fine to coarse, `fine` and
                `coarse` are one grid for both. On the coarse grid the input is the data at its nodes.
    noise       noise added to the input at every point of the fine grid; None: the stored values.
    labelled    whether to read (or solve for) the targets; if not, they are NaN.

    Raises `DatasetError` if the dataset is missing, damaged or has no such samples.
    """

    def __init__(
        self,
        path: Path | str,
        resolution: int | str,
        name: str,
        count: int,
        *,
        grids: str = "stored",
        noise: Noise | None = None,
        labelled: bool = True,
        card: dict | None = None,
    ):
        self.name, self.count, self.noise, self.labelled = name, count, noise, labelled
        self.store = Path(path).with_suffix(".zarr") if card is None else path
        self.card = card = read_card(Path(path)) if card is None else card
        self.opened: dict[str, StoredArray] = {}
        stored = [group for group, facts in card["groups"].items() if card["inputs"][0] in facts["variables"]]
        if group_name(resolution) not in stored:
            resolutions = ", ".join(str(resolution_of(group)) for group in stored)
            raise DatasetError(f"{card['dataset']} is not stored at {resolution}; it has {resolutions}")
        places_of(card, name, count)
        settings, target = card["settings"], resolution
        if "coarse" in settings and grids != "fine":  # inverse problems
            target = dict(zip(settings["resolutions"], settings["coarse"], strict=True))[resolution]
        self.group, self.target_group = group_name(resolution), group_name(target)
        self.stored_grid, self.target_grid = (
            grid_from_facts(card["groups"][group]["grid"]) for group in (self.group, self.target_group)
        )
        self.grid = self.target_grid if grids == "coarse" else self.stored_grid

    def __len__(self) -> int:
        return self.count

    @property
    def far(self) -> bool:
        """Return whether an input or target has a mean more than FAR deviations from zero."""
        names = [f"{self.group}/{name}" for name in self.card["inputs"]]
        names += [f"{self.target_group}/{name}" for name in self.card["targets"]]
        statistics = [self.card["statistics"][name] for name in names]
        return any(abs(numbers["mean"]) > FAR * numbers["std"] > 0 for numbers in statistics)

    def read(self, members: Members, dtype: DTypeLike | None = None) -> Samples:
        """Read the samples at these indices of the split, in this order, in the stored or given precision."""
        return self._read(members, dtype, labelled=self.labelled)

    def unlabelled(self) -> Samples:
        """Read the inputs of all samples; their targets are not read, and NaN."""
        return self._read(range(self.count), None, labelled=False)

    def _read(self, members: Members, dtype: DTypeLike | None, *, labelled: bool) -> Samples:
        inputs = [f"{self.group}/{name}" for name in self.card["inputs"]]
        targets = [f"{self.target_group}/{name}" for name in self.card["targets"]]
        names = [*inputs, *targets] if labelled else inputs
        arrays = self._arrays(names, members, None if self.noise else dtype)
        functions = stacked({name: arrays[name] for name in inputs}, self.stored_grid)
        if self.noise is not None:
            functions = self.noise.added(functions, self.name, members)
        if self.grid is not self.stored_grid:
            stride = (self.stored_grid.points - 1) // (self.grid.points - 1)
            functions = functions[:, ::stride, ::stride].copy()
        if labelled:
            answers = stacked({name: arrays[name] for name in targets}, self.target_grid)
        else:
            channels = (len(targets),) if len(targets) > 1 else ()
            answers = np.broadcast_to(np.nan, (len(members), *channels, *self.target_grid.shape))
        return Samples(self.grid, functions, answers, target_grid=self.target_grid)

    def all(self) -> Samples:
        """Read all samples."""
        return self.read(range(self.count))

    def target_gradients(self, samples: Samples, members: Members, *, as_coded: bool = False) -> np.ndarray:
        """Return the gradients of the targets of `samples` (at `members`), (samples, dimension, ...space).

        On nodes and cell centres the gradients are second-order differences on the finest stored grid with
        identical values at these points, as in Cao 2021, section C.1; otherwise they are computed on the
        samples' own grid. With `as_coded`, as in the public code, they are `central_differences`, and use the
        finest grid on periodic grids too.

        Raises `DatasetError` for unevenly spaced points.
        """
        card, own = self.card, samples.grid
        if not own.even:
            raise DatasetError(f"{card['dataset']} is on uneven points; gradients need evenly spaced points")
        if not isinstance(own, Grid):
            return gradient(samples.targets, own)
        (target,) = card["targets"]
        differentiate = central_differences if as_coded else gradient
        grid = self._finest(own, target, as_coded)
        if grid == own:
            return differentiate(samples.targets, own)
        strided: Any = (..., *[slice(None, None, round(own.spacing / grid.spacing))] * own.dimension)
        name, parts = f"{group_name(grid.points)}/{target}", []
        for start in range(0, len(samples), BATCH):
            here = slice(start, start + BATCH)
            values = self._arrays([name], members[here])[name]
            same = np.array_equal(values[strided], samples.targets[here])
            if own.kind != "periodic" and not same:
                return differentiate(samples.targets, own)  # each grid has its own solutions
            parts.append(differentiate(values, grid)[strided].copy())
        return np.concatenate(parts)

    def _finest(self, own: Grid, target: str, as_coded: bool) -> Grid:
        """Return the grid for differentiating targets, of which `own` has every k-th point."""
        if own.kind == "periodic" and not as_coded:
            return own
        groups = [group for group in self.card["groups"].values() if target in group["variables"]]
        finest = own
        for facts in (group["grid"] for group in groups if "points" in group["grid"]):
            stored = grid_from_facts(facts)
            assert isinstance(stored, Grid)
            try:
                nested = stored.restricted(own.points) == own
            except ValueError:
                continue
            if nested and stored.points > finest.points:
                finest = stored
        return finest

    def _arrays(
        self, names: list[str], members: Members, dtype: DTypeLike | None = None
    ) -> dict[str, np.ndarray]:
        """Return the arrays `names` ("n512/u") at the indices `members` of the split."""
        places = places_of(self.card, self.name).start + np.asarray(members)
        return {name: self.stored(name).read(places, dtype) for name in names}

    def stored(self, name: str) -> StoredArray:
        """Return the array `name` ("n512/u") of all splits; opened only once."""
        if name not in self.opened:
            self.opened[name] = StoredArray(self.store, name)
        return self.opened[name]


class FreshSplit(Split):
    """New samples from the distribution and solver of a dataset, beyond the samples in its store.

    Sample k is identical to sample k after the stored samples in a larger dataset with the same settings.
    `count` is the number of samples per epoch; epoch k uses the samples from (k - 1) · count on.
    """

    def __init__(self, *given, **options):
        super().__init__(*given, **options)
        self.task = build_task(settings_on(self.card))
        self.solving = Lock()

    @classmethod
    def of(cls, settings: DatasetSettings, resolution: int | str, name: str, count: int) -> FreshSplit:
        """Return `count` samples of a split of a dataset with these settings, which need not exist.

        They are those that follow the samples of the settings in this split.
        """
        task = build_task(settings)
        card = {
            "dataset": settings.equation,
            "inputs": list(task.inputs),
            "targets": list(task.targets),
            "groups": {group.name: group_facts(group) for group in task.layout.groups},
            "samples": settings.samples.model_dump(),
            "settings": settings.model_dump(mode="json"),
        }
        split = cls("", resolution, name, 0, card=card)
        split.count = count
        return split

    def _finest(self, own: Grid, target: str, as_coded: bool) -> Grid:
        return own  # solving on a finer grid only for gradients is too expensive

    def _arrays(
        self, names: list[str], members: Members, dtype: DTypeLike | None = None
    ) -> dict[str, np.ndarray]:
        first = self.card["samples"][self.name]
        samples = [(self.name, first + int(member)) for member in members]
        only_inputs = all(name.partition("/")[2] in self.task.inputs for name in names)
        with self.solving:  # solvers are not thread-safe
            arrays = self.task.inputs_of(samples) if only_inputs else self.task.compute(samples)
        return {name: arrays[name].astype(self.task.layout.dtype) for name in names}


Source = Samples | Split


def blocks(source: Source) -> Iterator[Samples]:
    """Yield all samples in order, in blocks of at most BLOCK_VALUES values, or of a single sample."""
    grids = source.grid, source.target_grid
    size = max(1, BLOCK_VALUES // max(grid.size for grid in grids))
    for start in range(0, len(source), size):
        members = range(start, min(start + size, len(source)))
        yield source.read(members)


def load_samples(card_path: Path, resolution: int | str, split: str, count: int, **options: Any) -> Samples:
    """Load the first `count` samples of `split` at `resolution`, with the `options` of `Split`."""
    return Split(card_path, resolution, split, count, **options).all()


def stacked(arrays: dict[str, np.ndarray], grid: AnyGrid) -> np.ndarray:
    """Stack variables on `grid` in the layout of `Samples`; scalars become constant functions at the end."""
    functions = [values for values in arrays.values() if values.ndim > 1]
    constants = [values for values in arrays.values() if values.ndim == 1]
    channels = [
        *functions,
        *(np.broadcast_to(v.reshape(-1, *[1] * grid.dimension), (len(v), *grid.shape)) for v in constants),
    ]
    return channels[0] if len(channels) == 1 else np.stack(channels, axis=1)


def training_noise(card_path: Path, resolution: int | str, count: int, level: float) -> Noise | None:
    """Return noise of level ε, in units of the pointwise deviation of `count` training inputs; None at 0."""
    if not level:
        return None
    train = Split(card_path, resolution, "train", count)
    unit = pointwise_standard_deviation(block.inputs for block in blocks(train))
    return Noise(level, unit, train.card["seed"])
