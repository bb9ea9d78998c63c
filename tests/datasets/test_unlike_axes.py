"""Own data on rectangles, on uneven points and in boxes: stored, trained, tested, exported and refused."""

import numpy as np
import pandas
import pytest
import torch
from array_files import write_npz
from dataset_fixtures import make_dataset
from model_variants import SMALL
from training_fixtures import finished_run

import resolvent
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.exports import LAYOUTS, Content
from resolvent.datasets.gradients import gradient
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.loading import load_samples, read_card
from resolvent.datasets.spectra import powers, wavenumbers
from resolvent.datasets.tasks.registry import settings_of
from resolvent.datasets.verify import faults_of_dataset
from resolvent.models.registry import ARCHITECTURES, settings_class
from resolvent.planning.configuration.settings import given_by_data
from resolvent.solvers.common.grid import Grid, Nodes, Product, product
from resolvent.training.losses import build_loss, weights_of
from resolvent.training.settings import TrainingSettings

COUNTS = {"train": 12, "validation": 4, "test": 4}
WALLS = (1 - np.cos(np.linspace(0, np.pi, 12))) / 2  # denser at both ends
# Of each kind: the axes of the files, z, y and x, and what the settings say of them.
KINDS: dict[str, tuple[list[np.ndarray], dict]] = {
    "rectangle": (
        [(np.arange(12) + 0.5) / 12, np.arange(16) * 3 / 16],
        {"grid": {"y": "cell_centres", "x": "periodic"}, "length": {"y": 1.0, "x": 3.0}},
    ),
    "uneven rectangle": (
        [2 + WALLS, np.arange(16) * 3 / 16],
        {"grid": {"y": "uneven", "x": "periodic"}, "length": {"x": 3.0}},
    ),
    "uneven line": ([WALLS**2 * 5], {"grid": "uneven"}),
    "uneven circle": ([np.arange(12) / 12 + 0.03 * (np.arange(12) % 3)], {"grid": "uneven_periodic"}),
    "box": (
        [np.linspace(0, 1, 9), (np.arange(10) + 0.5) / 5, np.arange(12) * 3 / 12],
        {"grid": {"z": "nodes", "y": "cell_centres", "x": "periodic"}, "length": {"z": 1, "y": 2, "x": 3}},
    ),
}
NAMES = ("z", "y", "x")
OWN = {"vit_no": {"patches": [2, 4]}, "fano": {"patches": [3, 4]}}


def takes(kind: str, architecture: str) -> bool:
    one = settings_class(architecture)
    fits = one.dimension == len(KINDS[kind][0]) and not one.coarse_output
    return fits and ("uneven" not in kind or one.any_nodes)


def cases() -> list[tuple[str, str]]:
    """Pair each kind with the first and the last architecture that take it."""
    pairs = []
    for kind in KINDS:
        first, *_, last = [name for name in ARCHITECTURES if takes(kind, name)]
        pairs += [(kind, first), (kind, last)]
    return pairs


def functions(axes: list[np.ndarray], count: int = sum(COUNTS.values())) -> np.ndarray:
    grids = np.meshgrid(*axes, indexing="ij")
    phases = np.random.default_rng(0).uniform(0, 6, size=(count, *[1] * len(axes)))
    waves = np.cos(2 * np.pi * grids[-1] / (3 if len(axes) > 1 else 1) + phases)
    for grid in grids[:-1]:
        waves = waves * np.cos(np.pi * grid)
    return waves


def settings(folder, kind: str, **changes):
    axes, stated = KINDS[kind]
    names = NAMES[-len(axes) :]
    u = functions(axes)
    coordinates = dict(zip(names, axes, strict=True))
    path = write_npz(folder / "own.npz", {"a": u, "u": u + 0.5 * u**2, **coordinates})
    given = {
        "equation": "arrays", "source": str(path), "input": "a", "target": "u", "samples": COUNTS,
        "axes": ["sample", *names], "finest": {name: len(axis) for name, axis in coordinates.items()},
    }  # fmt: skip
    return settings_of(given | stated | changes).with_contents()


@pytest.fixture(scope="module")
def cards(tmp_path_factory):
    made = {}

    def card_of(kind: str):
        if kind not in made:
            folder = tmp_path_factory.mktemp(kind.replace(" ", "_"))
            made[kind] = make_dataset(folder / "own", settings(folder, kind), name="own")
        return made[kind]

    return card_of


def weights_by_hand(kind: str) -> list[np.ndarray]:
    """The quadrature of each axis, from the coordinates as they were written."""
    axes, stated = KINDS[kind]
    found = []
    for name, x in zip(NAMES[-len(axes) :], axes, strict=True):
        how = stated["grid"] if isinstance(stated["grid"], str) else stated["grid"][name]
        w = np.zeros(len(x))
        if how == "cell_centres" or how == "periodic":
            w[:] = x[1] - x[0]
        else:
            for j in range(len(x) - 1):
                w[j] += (x[j + 1] - x[j]) / 2
                w[j + 1] += (x[j + 1] - x[j]) / 2
        if how == "uneven_periodic":
            w[0] += (1 + x[0] - x[-1]) / 2
            w[-1] += (1 + x[0] - x[-1]) / 2
        found.append(w)
    return found


@pytest.mark.parametrize(("kind", "architecture"), cases())
def test_what_takes_a_grid_is_trained_on_it_and_tested_with_its_weights(cards, tmp_path, kind, architecture):
    card = cards(kind)
    data = settings_of(read_card(card)["settings"])
    points = data.resolutions[0]
    own = SMALL[architecture] | OWN.get(architecture, {}) | given_by_data(architecture, points, data)
    uneven = {} if "uneven" not in kind else {"loss": "h1"}
    settings_class(architecture).model_validate(own).check_grid(data.sides(points))
    folder = finished_run(
        card, tmp_path / "run", points, (points,), architecture, own, COUNTS,
        epochs=1, gradient_weight=0.0 if uneven else 0.1, **uneven,
    )  # fmt: skip
    test = load_samples(card, points, "test", COUNTS["test"])
    run = resolvent.load_run(folder)
    with pytest.warns(UserWarning, match="data"):
        predicted = run.predict(test.inputs)
    assert predicted.shape == test.targets.shape
    grids = np.ix_(*weights_by_hand(kind))
    weights = grids[0]
    for other in grids[1:]:
        weights = weights * other
    expected = [
        np.sqrt((weights * (p - u) ** 2).sum() / (weights * u**2).sum())
        for p, u in zip(predicted, test.targets, strict=True)
    ]
    found = pandas.read_csv(folder / "errors.csv")["relative_l2"]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    history = pandas.read_csv(folder / "history.csv")
    assert np.isfinite(history["train_loss"]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_store_has_the_coordinates_and_values_of_the_file(cards, kind):
    card, (axes, _) = cards(kind), KINDS[kind]
    assert list(faults_of_dataset(card)) == []
    points = len(axes[-1])
    test = load_samples(card, points, "test", COUNTS["test"])
    np.testing.assert_array_equal(test.inputs, functions(axes)[-COUNTS["test"] :])
    uneven = settings_of(read_card(card)["settings"]).uneven
    for name, axis, written in zip(NAMES[-len(axes) :], test.grid.axes, axes, strict=True):
        expected = written if name in uneven else written - written[0] + axis.coordinates[0]
        np.testing.assert_allclose(axis.coordinates, expected, atol=1e-12)
    for axis, by_hand in zip(test.grid.axes, weights_by_hand(kind), strict=True):
        np.testing.assert_allclose(axis.weights, by_hand, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", ["netcdf", "well"])
def test_exports_have_the_coordinates_of_each_axis(cards, tmp_path, kind, layout):
    axes, _ = KINDS[kind]
    (path, *_) = LAYOUTS[layout](Content(cards(kind)), tmp_path / f"own.{layout}")
    path = path.rename(path.with_suffix({"netcdf": ".nc"}.get(layout, ".hdf5")))
    report = check_file(path)
    (block,) = report.configuration["datasets"].values()
    asked = block["finest"] if isinstance(block["finest"], dict) else {"x": block["finest"]}
    assert asked == {name: len(axis) for name, axis in zip(NAMES[-len(axes) :], axes, strict=True)}


def test_every_second_point_is_taken_along_each_axis(tmp_path):
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=(20, 13, 16)), np.linspace(0, 1, 13) ** 2
    path = write_npz(tmp_path / "own.npz", {"a": u, "u": 2 * u, "height": y[::-1]})
    given = {
        "equation": "arrays", "source": str(path), "input": "a", "target": "u", "samples": COUNTS,
        "axes": ["sample", "y", "x"], "finest": {"y": 13, "x": 16}, "resolutions": [16, 8, 4],
        "grid": {"y": "uneven", "x": "periodic"}, "coordinates": {"y": "height"},
    }  # fmt: skip
    card = make_dataset(tmp_path / "own", settings_of(given).with_contents(), name="own")
    coarse = load_samples(card, 4, "train", 12)
    np.testing.assert_array_equal(coarse.inputs, u[:12, ::-1][:, ::4, ::4])  # the heights fall in the file
    assert coarse.grid == Product((Nodes(tuple(y[::4])), Grid("periodic", 4)))
    with pytest.raises(ValueError, match="2 does not divide the 11 intervals along y"):
        settings_of(given | {"finest": {"y": 12, "x": 16}})


REFUSED = {
    "an axis that functions do not have": (
        {"finest": {"z": 3, "x": 16}}, "finest has values for z, x, but functions have the axes y, x;"),
    "another number of points": (
        {"finest": {"y": 12, "x": 18}}, r"with y: 12, x: 16; expected: y: 12, x: 18; "
        r"set finest: {y: 12, x: 16}"),
    "another length": ({"length": {"y": 1.0, "x": 2.0}}, "expected: grid: periodic, length: 2; as periodic"),
    "uneven points without coordinates": (
        {"grid": {"y": "uneven", "x": "periodic"}, "coordinates": {"y": "heights"}}, "heights"),
    "a period that points reach over": (
        {"grid": {"y": "cell_centres", "x": "uneven_periodic"}, "length": {"y": 1, "x": 2}},
        "length: positions reach over 2.8125, which is not below the period 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_the_file_is_one_line(case, tmp_path):
    changes, words = REFUSED[case]
    with pytest.raises((DatasetError, ValueError), match=words):
        settings(tmp_path, "rectangle", **changes).task().groups()


UNLIKE = product([Grid("nodes", 9), Grid("cell_centres", 10, 2.0), Grid("periodic", 12, 3.0)])


@pytest.mark.parametrize(
    "grid", [UNLIKE, product(UNLIKE.axes[1:]), product(UNLIKE.axes[:2]), Grid("nodes", 8, 2.0, 3)]
)
def test_powers_of_unlike_axes_add_up_to_the_mean_square(grid):
    values = np.random.default_rng(0).normal(size=(3, *grid.shape))
    volume = np.prod([axis.length for axis in grid.axes])
    mean = (grid.weights * values**2).sum(tuple(range(1, values.ndim))) / volume
    np.testing.assert_allclose(powers(values, grid).sum(axis=1), mean, rtol=1e-12)
    assert powers(values, grid).shape[1] == len(wavenumbers(grid))


def test_a_wave_is_in_the_shell_of_its_wavelength_whatever_its_direction():
    grid = product([Grid("periodic", 16, 1.0), Grid("periodic", 32, 2.0)])
    y, x = np.meshgrid(*(axis.coordinates for axis in grid.axes), indexing="ij")
    along_x, along_y = (powers(np.cos(2 * np.pi * 3 * along)[None], grid)[0] for along in (x, y))
    assert (wavenumbers(grid)[along_x.argmax()], wavenumbers(grid)[along_y.argmax()]) == (6, 6)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "uneven" in kind])
def test_losses_on_uneven_points_have_the_weights_and_derivatives_of_the_grid(cards, kind):
    train = load_samples(cards(kind), len(KINDS[kind][0][-1]), "train", 4)
    target = torch.from_numpy(train.targets)
    prediction = target + 0.1 * torch.randn(target.shape, generator=torch.Generator().manual_seed(0))
    weights = weights_of(train.grid)
    loss = build_loss(train.grid, TrainingSettings(gradient_weight=0.0), weights)
    by_hand = np.sqrt(
        (train.grid.weights * (prediction - target).numpy() ** 2).reshape(4, -1).sum(1)
        / (train.grid.weights * train.targets**2).reshape(4, -1).sum(1)
    )
    assert float(loss(prediction, target)) == pytest.approx(by_hand.mean(), rel=1e-6)
    h1 = build_loss(train.grid, TrainingSettings(gradient_weight=0.0, loss="h1"), weights)
    if all(axis.kind == "explicit" for axis in train.grid.axes):  # elsewhere x has a spectral derivative
        squares = train.targets**2 + (gradient(train.targets, train.grid) ** 2).sum(axis=1)
        expected = (train.grid.weights * squares).reshape(4, -1).sum(axis=1)
        np.testing.assert_allclose(h1._norm(target) ** 2, expected, rtol=1e-6)
