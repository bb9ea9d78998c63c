"""Nothing of a run is executed, and no address of it is contacted, before it was allowed by name."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import zarr
from serving import answering, serving

import resolvent
from resolvent.__main__ import main
from resolvent.common.errors import FileError, ResolventError
from resolvent.common.files import read_json, write_json
from resolvent.common.records import file_digests
from resolvent.figures.common.commands import loading
from resolvent.figures.common.results import read_runs
from resolvent.judging.board import read_board, table_of
from resolvent.judging.judge import judge
from resolvent.public.runs import load_run
from resolvent.public.weights import read_weights, write_weights
from resolvent.training import checkpoints

ROOT = Path(resolvent.__file__).resolve().parents[1]
EVIL = "from pathlib import Path\nPath({mark!r}).touch()\n"
OWN = "folder.evil:Own"
FNO_WITH_A_NAME = (
    "from resolvent.models.other_works.settings import FNO1dSettings\nclass Own(FNO1dSettings): pass\n"
)


@pytest.fixture(scope="module")
def exported(study, tmp_path_factory):
    run = load_run(study / "results/tiny/burgers/fno/n64/seed3", data=study / "data")
    return run.export(tmp_path_factory.mktemp("exported") / "folder")


@pytest.fixture
def folder(exported, tmp_path, monkeypatch):
    """Return `folder`, a run that was downloaded into the working folder, with code beside its weights."""
    shutil.copytree(exported, tmp_path / "folder")
    (tmp_path / "folder/evil.py").write_text(EVIL.format(mark=str(tmp_path / "EXECUTED")))
    (tmp_path / "folder/__init__.py").write_text(EVIL.format(mark=str(tmp_path / "EXECUTED")))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # as `python -m resolvent` and Python itself have it
    yield Path("folder")
    for name in [one for one in sys.modules if one.partition(".")[0] == "folder"]:
        del sys.modules[name]
    assert not [one for one in sys.path if one.startswith(str(tmp_path / "folder"))]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr("resolvent.evaluation.inference.SHORTEST", 1e-3)  # times may be inexact


def evaluate(**allow):
    """Measure the errors of the run again, on its own test samples."""
    return judge("folder", None, Path("judged"), data=Path("made"), **allow)


def in_weights(folder, **changes):
    path = folder / "model.safetensors"
    write_weights(read_weights(path) | changes, path)


def in_record(folder, name="run.json", **changes):
    write_json(folder / name, read_json(folder / name, "the record") | changes)


def in_settings(folder, **changes):
    settings = read_json(folder / "dataset.json", "the card")["settings"]
    in_record(folder, "dataset.json", settings=settings | changes)


def in_checkpoint(folder, **changes):
    """Give the run as its training left it, with a checkpoint."""
    checkpoints.save(read_weights(folder / "model.safetensors") | changes, folder / "checkpoint.pt")
    (folder / "model.safetensors").unlink()
    record = read_json(folder / "run.json", "the record")
    record["files"].pop("checkpoint.pt", None)
    in_record(folder, files=record["files"])


def loss(folder, record=True):
    training = read_json(folder / "run.json", "the record")["training"]
    in_weights(folder, training=read_weights(folder / "model.safetensors")["training"] | {"loss": OWN})
    if record:
        in_record(folder, training=training | {"loss": OWN})


PLACES = {
    "the header of the weights": lambda f: in_weights(f, architecture=OWN),
    "the header and run.json": lambda f: (in_weights(f, architecture=OWN), in_record(f, architecture=OWN)),
    "run.json alone": lambda f: in_record(f, architecture=OWN),
    "the loss in the header": lambda f: loss(f, record=False),
    "the loss in the header and run.json": loss,
    "a checkpoint": lambda f: in_checkpoint(f, architecture=OWN),
    "a checkpoint and run.json": lambda f: (
        in_checkpoint(f, architecture=OWN),
        in_record(f, architecture=OWN),
    ),
    "the equation of the data": lambda f: in_settings(f, equation=OWN),
    "the equation of imported data": lambda f: in_settings(f, equation=OWN, source="mine.npz"),
}


# All read weights and records in one way; each is tried where these agree on a network or an equation.
USES = [
    *product(PLACES, ("operator",)),
    *product(("the header and run.json",), ("predict", "export", "evaluate", "task")),
    *product(("the equation of the data",), ("predict", "export", "evaluate", "certify", "calibrate")),
]


@pytest.mark.parametrize(("name", "use"), USES)
def test_code_that_a_run_names_is_not_executed(name, use, folder, tmp_path, monkeypatch):
    PLACES[name](folder)
    np.save("in.npy", np.zeros((1, 64)))
    commands = {
        "predict": ["predict", "folder", "in.npy", "out.npy"],
        "export": ["export-run", "folder", "again"],
        "evaluate": ["evaluate", "folder"],
        "task": ["evaluate", "folder", "--task", "burgers-v1"],
    }
    uses = {
        "operator": lambda run: run.operator,
        "certify": lambda run: run.predict(np.zeros((1, 64)), certify=True),
        "calibrate": lambda run: run.calibrate(samples=9),
    }
    if use in uses:
        with suppress(ResolventError):
            uses[use](load_run("folder"))
    else:
        monkeypatch.setattr(sys, "argv", ["resolvent", *commands[use]])
        with suppress(SystemExit):
            main()
    assert not (tmp_path / "EXECUTED").exists()


def test_the_command_does_not_execute_code_beside_the_weights(folder, tmp_path):
    in_weights(folder, architecture=OWN)
    for name in ("safetensors.py", "typer.py"):  # of the working folder, which `python -m` puts first
        shutil.copy(folder / "evil.py", tmp_path / name)
    words = [sys.executable, "-m", "resolvent", "evaluate", "folder"]
    done = subprocess.run(
        words, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.returncode == 1
    assert (
        "model.safetensors belongs to another run (architecture folder.evil:Own instead of fno1d)"
        in done.stderr
    )
    assert not (tmp_path / "EXECUTED").exists()


def test_estimates_of_an_equation_of_the_authors_ask_for_consent(folder):
    PLACES["the equation of the data"](folder)
    run = load_run("folder")
    assert run.predict(np.zeros((1, 64))).shape == (1, 64)
    for ask in ({"certify": True}, {"symmetrise": True}, {"correct": 1}):
        with pytest.raises(FileError, match=r"folder needs code by its authors, folder\.evil:Own: read it"):
            run.predict(np.zeros((1, 64)), **ask)
    in_settings(folder, equation="burgerz")
    with pytest.raises(ResolventError, match="unknown equation 'burgerz'"):
        load_run("folder").calibrate()


def test_the_refusal_names_the_code_and_the_folder_to_allow(folder, capsys, monkeypatch):
    PLACES["the header and run.json"](folder)
    monkeypatch.setattr(sys, "argv", ["resolvent", "evaluate", "folder"])
    assert main() == 1
    said = capsys.readouterr().err
    assert "folder needs code by its authors, folder.evil:Own: read it, then allow" in said
    assert f"--allow {Path.cwd()}" in said
    assert said.count("\n") == 1


def test_a_card_of_a_dataset_is_exported_without_its_code(folder, study, tmp_path, monkeypatch, capsys):
    shutil.copytree(study / "data/burgers", tmp_path / "folder/data")
    card = tmp_path / "folder/data/burgers.json"
    settings = read_json(card, "the card")["settings"]
    in_record(card.parent, card.name, settings=settings | {"equation": OWN})
    zarr.open_group(card.with_suffix(".zarr"), mode="r+").attrs.put(read_json(card, "the card"))
    monkeypatch.setattr(sys, "argv", ["resolvent", "export", str(card), "out", "--to", "netcdf"])
    assert main() == 1
    assert "needs code by its authors, folder.evil:Own" in capsys.readouterr().err
    assert not (tmp_path / "EXECUTED").exists()


@pytest.fixture
def lab(folder, tmp_path):
    """Return a function that makes the run one of a module of its authors, in the folder `lab`."""
    (tmp_path / "lab").mkdir()
    written = []

    def of_module(name):
        (tmp_path / f"lab/{name}.py").write_text(FNO_WITH_A_NAME)
        in_weights(folder, architecture=f"{name}:Own")
        in_record(folder, architecture=f"{name}:Own")
        written.append(name)

    yield of_module
    sys.path[:] = [one for one in sys.path if one != str(tmp_path / "lab")]
    for name in written:
        sys.modules.pop(name, None)


def test_allowed_code_runs_and_no_other(folder, lab):
    lab("allowed_nets")
    for allow in ([], [folder], ["https://example.org/"], ["nothing"]):
        with pytest.raises(FileError, match="folder needs code by its authors, allowed_nets:Own"):
            _ = load_run("folder", allow=allow).operator
    assert load_run("folder", allow=["lab"]).predict(np.zeros((1, 64))).shape == (1, 64)


def test_a_module_of_another_place_is_not_what_was_allowed(lab):
    """A name that is found elsewhere first, such as a module of Python's own, stays refused."""
    lab("antigravity")
    with pytest.raises(FileError, match=r"antigravity is found in .*antigravity\.py, not in .*lab"):
        _ = load_run("folder", allow=["lab"]).operator
    assert "antigravity" not in sys.modules


@pytest.fixture
def server():
    """Return an address of this machine, and the list of the requests to it."""
    asked: list[str] = []
    with serving(answering(404, asked)) as address:
        yield address, asked


FROM_FILES = {"summary": "imported", "warnings": [], "files": []}
IMPORTED = {
    "equation": "arrays", "input": ["u"], "target": ["v"], "axes": ["sample", "x"], "finest": 64,
    "grid": "periodic", "samples": {"train": 1, "validation": 1, "test": 1}, "sha256": ["0" * 64],
}  # fmt: skip
SOURCES = {
    "one": lambda at: at + "/u.npz",
    "of each split": lambda at: {"train": "u.npz", "test": {"input": at + "/u.npz", "target": "v.npz"}},
}


@pytest.mark.parametrize("name", SOURCES)
def test_no_address_is_contacted_before_it_was_allowed(name, folder, server):
    at, asked = server
    settings = IMPORTED | {"source": SOURCES[name](at)}
    in_record(folder, "dataset.json", settings=settings, imported=FROM_FILES)
    with pytest.raises(FileError, match=f"folder would contact {at}/u.npz: .*--allow {at}/u.npz") as refused:
        evaluate()
    assert "nothing was run or contacted" in str(refused.value)
    assert not asked
    in_weights(folder, architecture="deeponet1d")  # other refusals come before any contact, too
    with pytest.raises(FileError, match="another run"):
        evaluate(allow=[f"{at}/u.npz"])
    assert not asked


def test_an_allowed_address_is_contacted_for_test_samples_alone(folder, server):
    at, asked = server
    settings = IMPORTED | {"source": at + "/u.npz"}
    in_record(folder, "dataset.json", settings=settings, imported=FROM_FILES)
    with pytest.raises(ResolventError, match="the dataset burgers is read from files: it has no new samples"):
        load_run("folder").calibrate()
    assert not asked
    with pytest.raises(ResolventError, match="cannot be read"):
        evaluate(allow=[f"{at}/u.npz"])
    assert asked


def test_a_file_that_samples_were_imported_from_is_held_to_its_digest_before_it_is_opened(folder):
    Path("u.h5").write_bytes(b"\x89HDF\r\n\x1a\n, which links to files of this machine")
    in_record(folder, "dataset.json", settings=IMPORTED | {"source": "u.h5"}, imported=FROM_FILES)
    with pytest.raises(ResolventError, match=r"u\.h5: its SHA-256 is .*; expected: 0000"):
        evaluate()
    settings = IMPORTED | {"source": "/dev/zero"}
    in_record(folder, "dataset.json", settings=settings)
    with pytest.raises(ResolventError, match="/dev/zero is not a regular file"):
        evaluate()
    settings = {key: one for key, one in IMPORTED.items() if key != "sha256"}
    in_record(folder, "dataset.json", settings=settings | {"source": "u.h5"})
    with pytest.raises(ResolventError, match=r"dataset\.json has no SHA-256 of u\.h5"):
        evaluate()


def test_weights_of_another_network_are_not_verified(folder):
    in_record(folder, settings={"width": 8})
    with pytest.raises(FileError, match=r"model\.safetensors belongs to another run \(settings"):
        evaluate()
    with pytest.raises(FileError, match="settings"):
        load_run("folder").predict(np.zeros((1, 64)))


@pytest.mark.parametrize("name", ["../outside", ""])
def test_samples_are_not_made_outside_of_the_folder_for_them(name, folder, tmp_path):
    in_record(folder, "dataset.json", dataset=name)
    with pytest.raises(FileError, match=r"dataset\.json: invalid dataset name .*: download the run again"):
        evaluate()
    assert not (tmp_path / "outside").exists()


def test_a_board_has_what_was_run_whatever_it_is_called(folder):
    in_record(folder, label="Galerkin transformer")
    record = evaluate()
    assert all(row["confirmed"] for row in record["recorded"])
    (test,) = read_board([Path("judged")])
    cells = [cell.text for cell in table_of(test, {}).rows[0]]
    assert cells[0] == "Galerkin transformer (fno1d), trained on 64, seed 3"
    assert "run, recorded errors confirmed" in cells
    in_record(Path("judged"), "evaluation.json", label="Another")
    with pytest.raises(FileError, match="has no relative_l2 of 'label': evaluate again"):
        read_board([Path("judged")])


def test_a_tolerance_that_the_folder_states_itself_is_not_taken(folder, tmp_path):
    in_record(folder, "dataset.json", stated_accuracy=1.0)
    errors = (folder / "errors.csv").read_text().splitlines()
    errors[1:] = [line.rpartition(",")[0] + ",0.001" for line in errors[1:]]
    (folder / "errors.csv").write_text("\n".join(errors) + "\n")
    files = read_json(folder / "run.json", "the record")["files"]
    in_record(folder, files=files | file_digests(folder, ("errors.csv",)))
    confirmed = {row["metric"]: row["confirmed"] for row in evaluate()["recorded"]}
    assert not all(confirmed.values())


def test_the_model_card_and_the_page_of_a_run_with_own_code_name_the_consent(lab, tmp_path):
    lab("card_nets")
    run = load_run("folder", allow=["lab"])
    text = (run.export(tmp_path / "again") / "README.md").read_text()
    assert 'load_run("this folder", allow=["folder of its code' in text
    (shown,) = read_runs(["folder"])
    assert 'resolvent.load_run("folder", allow=["."])' in loading(shown, run.card, "data/burgers.json")
