"""New samples beside the public test, shifts, calibration, symmetries, and remarks on what was judged."""

import hashlib

import numpy as np
import pytest
import scipy
from judged_tasks import write_task

import resolvent
from resolvent.common.errors import EvaluationError
from resolvent.common.files import read_json
from resolvent.datasets.loading import Samples
from resolvent.datasets.tasks.registry import build_task
from resolvent.judging import beyond, tasks
from resolvent.judging.board import read_board
from resolvent.judging.child import Child
from resolvent.judging.judge import judge
from resolvent.judging.oddities import remarks_on
from resolvent.judging.report import in_words
from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.common.fourier import coefficients_of, observe
from resolvent.solvers.common.grid import Grid


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "FOLDER", folder)
        patch.setattr("resolvent.evaluation.inference.SHORTEST", 1e-3)
        patch.setattr(beyond, "FRESH_SAMPLES", 24)
        patch.setattr(beyond, "SHIFTED_SAMPLES", 4)
        patch.setattr(beyond, "CALIBRATION_SAMPLES", 20)
        yield write_task(folder, "burgers-v0", "burgers", 64)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


class Damped:
    """The identity, which is a poor model; on samples that it has seen, the labels."""

    def __init__(self, inputs=(), labels=()):
        self.seen = {values.tobytes(): label for values, label in zip(inputs, labels, strict=True)}

    def predict(self, inputs, coordinates):
        return np.stack([self.seen.get(values.tobytes(), 0.9 * values) for values in inputs])


def test_a_model_that_saw_the_public_test_is_found(place, data):
    inputs, labels = place["n64/initial_velocity"], place["n64/final_velocity"]
    honest, cheat = (
        resolvent.evaluate(model, "burgers-v0", data=data, fresh=True).record
        for model in (Damped(), Damped(inputs, labels))
    )
    assert honest["fresh"]["verdict"] == "no sign of a leak"
    assert cheat["fresh"]["verdict"] == "better on the public test than on new samples"
    assert cheat["fresh"]["p_value"] <= 1e-3 < honest["fresh"]["p_value"]
    assert cheat["fresh"]["public"] < 1e-6 < cheat["fresh"]["new"]
    assert any("as accurate as the labels" in remark for remark in cheat["remarks"])
    assert (honest["identified"], honest["fresh"]["of"]) == (False, "predictions")
    assert "whose seed is from the SHA-256 of its predictions" in "\n".join(in_words(honest))


def test_new_samples_depend_on_the_hash_alone_and_their_labels_are_exact(place):
    """Their seed is the hash: nobody could have had them before."""
    settings = tasks.read_task("burgers-v0").dataset
    digest = hashlib.sha256(b"weights").hexdigest()
    new, again = (beyond.fresh_samples(settings, 64, digest).all() for _ in range(2))
    other = beyond.fresh_samples(settings, 64, hashlib.sha256(b"others").hexdigest()).all()
    np.testing.assert_array_equal(new.inputs, again.inputs)
    assert abs(new.inputs - other.inputs).max() > 0.1
    closed = observe(
        cole_hopf(coefficients_of(new.inputs), viscosity=settings.viscosity, final_time=settings.final_time),
        64,
    )
    np.testing.assert_allclose(new.targets, closed, atol=20 * settings.accuracy)


def test_predictions_for_inputs_made_from_a_stated_hash_are_judged(place, data, tmp_path):
    digest = hashlib.sha256(b"weights").hexdigest()
    new = beyond.fresh_samples(tasks.read_task("burgers-v0").dataset, 64, digest).all()
    np.savez(tmp_path / "mine.npz", n64=0.9 * place["n64/initial_velocity"], fresh_n64=0.9 * new.inputs)
    record = judge(str(tmp_path / "mine.npz"), "burgers-v0", tmp_path / "out", data=data, fresh_for=digest)
    assert record["fresh"]["made_from"] == digest
    assert record["fresh"]["of"] == "commitment"
    assert record["fresh"]["verdict"] == "no sign of a leak"
    assert "On 24 new samples on n64, whose seed is from the SHA-256 that was stated" in (
        tmp_path / "out/index.html"
    ).read_text().replace("\n", " ")
    (test,) = read_board([tmp_path / "out"])
    assert test.entries[0].record["fresh"] == record["fresh"]
    with pytest.raises(EvaluationError, match="'1234' is no SHA-256; expected: 64 digits"):
        judge(str(tmp_path / "mine.npz"), "burgers-v0", tmp_path / "no", data=data, fresh_for="1234")
    np.savez(tmp_path / "some.npz", n64=place["n64/initial_velocity"])
    with pytest.raises(EvaluationError, match=r"some\.npz has no predictions on fresh_n64"):
        judge(str(tmp_path / "some.npz"), "burgers-v0", tmp_path / "no", data=data, fresh_for=digest)
    with pytest.raises(EvaluationError, match="--stress needs a model"):
        judge(str(tmp_path / "mine.npz"), "burgers-v0", tmp_path / "no", data=data, stress=True)


def test_a_model_is_asked_for_all_that_ours_are(place, data, tmp_path):
    """The identity commutes with shifts and reflections, so its mean over them is itself."""
    result = resolvent.evaluate(
        Damped(), "burgers-v0", data=data, stress=True, calibrate=True, symmetrise=True, label="Damped"
    )
    rows = {(row["who"], row["metric"]): row["mean"] for row in result.record["rows"]}
    damped, averaged = (rows[who, "relative_l2"] for who in ("Damped", "Damped, averaged over symmetries"))
    assert averaged == pytest.approx(damped, rel=1e-9)
    shifts = {(row["shift"], row["factor"]): row for row in result.record["stress"]}
    assert set(shifts) == {
        (name, factor)
        for name in ("amplitude", "length_scale", "viscosity", "horizon")
        for factor in (0.5, 2.0)
    }
    assert shifts["horizon", 2.0]["mean"] > shifts["horizon", 2.0]["unshifted"] > 0
    ball = result.record["calibration"]
    assert 0 < ball["radius"] < 1
    assert 0 <= ball["covered"] <= 1
    assert result.table.loc["Damped", "n64", "relative_l2"]["mean"] == damped
    assert "amplitude times 0.5" in result.page
    assert "drawSpectrum" in result._repr_html_()
    result.save(tmp_path / "out")
    assert read_json(tmp_path / "out/evaluation.json", "")["stress"] == result.record["stress"]
    with pytest.raises(EvaluationError, match="correct 3: burgers has no iterative solver"):
        resolvent.evaluate(Damped(), "burgers-v0", data=data, correct=3)


def test_the_p_value_is_that_of_exchangeable_errors():
    """It is uniform if the errors are equally distributed, and falls with a share of smaller errors."""
    random = np.random.default_rng(0)
    values = [beyond.p_value(*random.lognormal(size=(2, 40))) for _ in range(60)]
    assert scipy.stats.kstest(values, "uniform").pvalue > 0.01
    public, new = random.lognormal(size=(2, 256))
    public[:26] *= 1e-3
    assert beyond.p_value(public, new) < 1e-3
    assert beyond.p_value(new, public) > 0.99


GRID = Grid("nodes", 17, dimension=2)
LABELS = np.random.default_rng(1).normal(size=(6, 17, 17))
NEAR = LABELS + 0.01 * np.random.default_rng(2).normal(size=LABELS.shape)


@pytest.mark.parametrize(
    ("prediction", "expected"),
    [
        (NEAR, []),
        (LABELS, ["as accurate as the labels"]),
        (-NEAR, ["with the other sign"]),
        (1000 * NEAR, ["times 0.001, as if they had another unit"]),
        (NEAR[:, :, ::-1], ["mirrored in x"]),
        (NEAR[:, ::-1], ["mirrored in y"]),
        (NEAR.swapaxes(1, 2), ["x and y exchanged"]),
        (NEAR[::-1], ["6 predictions on n17 are closest to the labels of other samples (0 to label 5"]),
        (NEAR[[0, 2, 1, 3, 4, 5]], ["2 predictions on n17"]),
        (np.random.default_rng(3).normal(size=LABELS.shape), []),
        (0 * NEAR, []),
    ],
)
def test_what_fits_better_otherwise_is_remarked_on(prediction, expected):
    found = list(remarks_on(prediction, Samples(GRID, LABELS, LABELS), "n17", 1e-9))
    assert len(found) == len(expected)
    for remark, words in zip(found, expected, strict=True):
        assert words in remark


def test_labels_of_new_samples_do_not_exist_while_a_program_runs(place, data, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zeros.py").write_text("class Model:\n    def predict(self, inputs, _): return 0 * inputs\n")
    judge("zeros:Model", "burgers-v0", tmp_path / "first", data=data)  # makes the labels of the public test
    events, solver, ends = [], type(build_task(tasks.read_task("burgers-v0").dataset)), Child.__exit__
    monkeypatch.setattr(solver, "solve", recorded(events, "solve", solver.solve))
    monkeypatch.setattr(Child, "__exit__", recorded(events, "ended", ends))
    options = {"fresh": True, "stress": True, "calibrate": True, "symmetrise": True}
    record = judge("zeros:Model", "burgers-v0", tmp_path / "out", data=data, **options)
    assert events[0] == "ended"
    assert events.count("solve") == 10  # new samples, those for calibration, and eight shifts
    assert record["identified"]
    assert list(record["files"]) == ["zeros.py"]
    assert record["fresh"]["made_from"] == hashlib.sha256((tmp_path / "zeros.py").read_bytes()).hexdigest()


def recorded(events, name, function):
    def call(*given):
        events.append(name)
        return function(*given)

    return call
