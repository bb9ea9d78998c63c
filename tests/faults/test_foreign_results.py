"""Results of others, and results that were altered: nothing runs without consent, and each is named.

`tests/public/test_consent.py` has the same for every place that a run can name code in. Here a run of the
pipeline is exported and downloaded.
"""

import json
import shutil
import sys

import pytest
from small_pipeline import EXPERIMENT, NAME, RUN

from resolvent.common.errors import ResolventError
from resolvent.common.files import OWN_DIGEST, read_json, write_json
from resolvent.planning.verify import faults_below, files_below, not_verified
from resolvent.public.runs import load_run
from resolvent.public.verification import leaderboard, verify_run
from resolvent.public.weights import read_weights, write_weights

pytestmark = [pytest.mark.faults, pytest.mark.filterwarnings("ignore::resolvent.common.digests.Unverified")]
OWN, ADDRESS = "evil:Own", "http://127.0.0.1:9/test.npz"


@pytest.fixture
def given(project, tmp_path, monkeypatch):
    """Return a downloaded run, in a folder whose module `evil` leaves a mark where it is executed."""
    folder = load_run(project.folder / RUN, data=project.folder / "data").export(tmp_path / "given")
    for place in (tmp_path, folder):
        (place / "evil.py").write_text(f"open({str(tmp_path / 'EXECUTED')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    assert "evil" not in sys.modules
    assert not (tmp_path / "EXECUTED").exists()


def record(folder, name="run.json", **changes):
    write_json(folder / name, read_json(folder / name, "the record") | changes)


def weights(folder, **changes):
    write_weights(read_weights(folder / "model.safetensors") | changes, folder / "model.safetensors")


def data(folder, **changes):
    settings = read_json(folder / "dataset.json", "the card")["settings"] | changes
    record(folder, "dataset.json", settings=settings)


FOREIGN = {
    "code named in the weights": lambda f: weights(f, architecture=OWN),
    "code named in run.json": lambda f: record(f, architecture=OWN),
    "code named in both": lambda f: (weights(f, architecture=OWN), record(f, architecture=OWN)),
    "code named as an equation": lambda f: data(f, equation=OWN),
    "a loss named in the weights": lambda f: weights(f, training={"loss": OWN}),
    "an address in the dataset": lambda f: data(f, equation="arrays", source=ADDRESS),
    "weights of another architecture": lambda f: record(f, architecture="transformer1d"),
    "weights of other settings": lambda f: record(f, settings={}),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_downloaded_run_executes_and_contacts_nothing(given, kind, fault):
    FOREIGN[kind](given)
    fault(kind)
    with pytest.raises(ResolventError) as refused:
        verify_run(given)
    assert str(given) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert leaderboard([given]).empty


def edited(path, **changes):
    content = json.loads(path.read_text()) | changes
    content.pop(OWN_DIGEST)
    path.write_text(json.dumps(content))


def one_digit(path):
    text = path.read_text()
    place = max(text.rfind(digit) for digit in "123456789")
    path.write_text(text[:place] + ("1" if text[place] != "1" else "2") + text[place + 1 :])


STUDY = f"results/{NAME}"
ALTERED = {
    "a number of leaderboard.csv": (f"{STUDY}/leaderboard.csv", one_digit),
    "a number of table.csv": (f"{EXPERIMENT}/table.csv", one_digit),
    "a number of table.tex": (f"{EXPERIMENT}/table.tex", one_digit),
    "cost.json without its digest": (f"{RUN}/cost.json", lambda p: edited(p, train_seconds=1.0)),
    "baselines without their digest": (f"{EXPERIMENT}/baselines/cost.json", edited),
    "study.json without its digest": (f"{STUDY}/study.json", edited),
    "comparison.csv without its digest": (
        f"{EXPERIMENT}/comparison.csv",
        lambda p: p.with_name(f"{p.name}.sha256").unlink(),
    ),
    "table.html without its digest": (
        f"{EXPERIMENT}/table.html",
        lambda p: p.with_name(f"{p.name}.sha256").unlink(),
    ),
    "a run of another model": (f"{RUN}/run.json", lambda p: record(p.parent, model="transformer")),
    "a run of another experiment": (f"{RUN}/run.json", lambda p: record(p.parent, experiment="darcy")),
    "baselines of another experiment": (
        f"{EXPERIMENT}/baselines/cost.json",
        lambda p: record(p.parent, p.name, experiment="darcy"),
    ),
}


@pytest.mark.parametrize("kind", ALTERED)
def test_altered_results_are_named_by_verify(project, kind, fault):
    results = project.folder / "results"
    assert list(faults_below([results])) == []
    name, damage = ALTERED[kind]
    damage(project.folder / name)
    fault(kind)
    assert any(str(project.folder / name).removesuffix("/run.json") in one for one in faults_below([results]))


@pytest.mark.parametrize("name", [f"{EXPERIMENT}/report.html", f"{EXPERIMENT}/figures/cost_scatter.svg"])
def test_what_cannot_be_verified_is_listed(project, name, fault):
    one_digit(project.folder / name)
    fault(f"an altered {name.rpartition('.')[2]}")
    lines = list(not_verified(files_below([project.folder / "results"])))
    assert any(name.rpartition("/")[2] in line for line in lines)


def test_a_run_of_another_model_is_named_by_the_pipeline_and_its_remedy_works(project, fault):
    record(project.folder / RUN, model="transformer")
    fault("a run of another model, when it is compared")
    said = project.build(f"{EXPERIMENT}/comparison.csv", "-R", "compare", succeeds=False)
    assert "is of the run burgers/transformer/n64/" in said
    assert "delete this folder and run snakemake" in said
    assert "Traceback" not in said
    shutil.rmtree(project.folder / RUN)
    project.assert_undisturbed()
