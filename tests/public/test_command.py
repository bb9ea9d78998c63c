"""The command `resolvent`, in this process: what it prints, what it makes, and how it fails."""

import os
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
import xarray
from pydantic import BaseModel
from rich.table import Table
from training_fixtures import RUN
from typer.testing import CliRunner

import resolvent
import resolvent.__main__ as command
from resolvent.common.errors import FileError
from resolvent.datasets.imported.check import Report
from resolvent.datasets.tasks.registry import AnyDataset, settings_of
from resolvent.figures.front import terminal
from resolvent.models.registry import settings_class
from resolvent.planning import places, start
from resolvent.public import files
from resolvent.public.describe import Terminal

NAME = "tiny/burgers/fno"


def printed(*words: str) -> str:
    done = CliRunner().invoke(command.app, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def failing(monkeypatch, capsys, *words: str) -> str:
    """Return the line that the command ends with."""
    monkeypatch.setattr(sys, "argv", ["resolvent", *map(str, words)])
    assert command.main() == 1
    return capsys.readouterr().err


def test_help_names_the_commands_and_imports_nothing_heavy():
    heavy = "{'torch', 'jax', 'numpy', 'xarray', 'pandas', 'zarr', 'pydantic', 'snakemake'}"
    code = (
        "import sys; sys.argv = ['resolvent', '--help']\n"
        "import resolvent.__main__ as command\n"
        "try: command.main()\n"
        f"except SystemExit: print(sorted({heavy} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip().endswith("[]")
    for name in (
        "demo", "plan", "check", "check-model", "run", "open", "info", "predict", "export", "export-run",
        "export-study", "verify", "evaluate", "compare", "snakemake",
    ):  # fmt: skip
        assert f" {name} " in said


@pytest.mark.parametrize("ending", [".npy", ".npz", ".nc", ".zarr"])
def test_predictions_for_files_and_stores_are_those_of_the_run(here, tmp_path, ending):
    test = resolvent.open_dataset("burgers", "test", 128)
    velocity, source = test["initial_velocity"].load(), tmp_path / f"mine{ending}"
    if ending == ".npy":
        np.save(source, velocity)
    elif ending == ".npz":
        np.savez(source, u=velocity, x=velocity["x"])
    elif ending == ".nc":
        velocity.drop_vars("split").to_netcdf(source, engine="h5netcdf")
    else:
        velocity.drop_vars("split").to_dataset().to_zarr(source, zarr_format=3, consolidated=False)
    target = tmp_path / f"out{ending}"
    assert "predictions of shape (6, 128)" in printed("predict", NAME, source, target)
    expected = resolvent.load_run(NAME).predict(velocity)
    if ending in (".npy", ".npz"):
        found = np.load(target)
        np.testing.assert_array_equal(found if ending == ".npy" else found["prediction"], expected)
    else:
        how = {"engine": "h5netcdf"} if ending == ".nc" else {"engine": "zarr", "consolidated": False}
        with xarray.open_dataset(target, **how) as found:
            np.testing.assert_array_equal(found["prediction"], expected)
            np.testing.assert_array_equal(found["x"], velocity["x"])


def test_a_store_of_ours_is_read_at_the_resolution_of_the_training(here, tmp_path):
    printed("predict", RUN, "data/burgers/burgers.zarr", tmp_path / "out.nc")
    with xarray.open_dataset(tmp_path / "out.nc", engine="h5netcdf") as found:
        assert found.sizes == {"sample": 30, "x": 64}
    printed("predict", RUN, "data/burgers/burgers.zarr", tmp_path / "fine.nc", "--group", "n128")
    with xarray.open_dataset(tmp_path / "fine.nc", engine="h5netcdf") as found:
        assert found.sizes["x"] == 128


def test_an_archive_may_have_functions_called_x_and_numbers_of_each_sample(tmp_path):
    """An export of Lorenz-63 has x(·), y(0), z(0) and times."""
    names = ("x", "y_initial", "z_initial")
    given = {"x": np.arange(10.0).reshape(2, 5), "y_initial": np.array([7.0, 8.0]), "z_initial": np.ones(2)}
    np.savez(tmp_path / "in.npz", **given, time=np.linspace(0, 1, 5), split=np.array(["test"] * 2))
    seen = []
    run = SimpleNamespace(
        inputs=[SimpleNamespace(name=name) for name in names],
        predict=lambda inputs, x, **_: seen.append((inputs, x)) or inputs[:, :2],
    )
    assert files.predict_file(run, tmp_path / "in.npz", tmp_path / "out.npz") == (2, 2, 5)
    inputs, times = seen[0]
    np.testing.assert_array_equal(inputs[:, 0], given["x"])
    np.testing.assert_array_equal(inputs[:, 1:, -1], [[7, 1], [8, 1]])
    np.testing.assert_array_equal(times, np.linspace(0, 1, 5))
    np.savez(tmp_path / "in.npz", **given | {"z_initial": np.ones((2, 4))})
    with pytest.raises(FileError, match=r"unlike shapes: x \(2, 5\), y_initial \(2,\), z_initial \(2, 4\)"):
        files.predict_file(run, tmp_path / "in.npz", tmp_path / "out.npz")


def test_a_long_file_is_predicted_in_pieces(here, tmp_path, monkeypatch):
    velocity = resolvent.open_dataset("burgers").numpy("train", 64)[0]
    np.save(tmp_path / "in.npy", velocity)
    monkeypatch.setattr(files, "PIECE", 3 * 64)
    printed("predict", NAME, tmp_path / "in.npy", tmp_path / "out.npy")
    np.testing.assert_allclose(
        np.load(tmp_path / "out.npy"), resolvent.load_run(NAME).predict(velocity), rtol=1e-5, atol=1e-6
    )


def test_values_outside_of_the_training_data_are_said(here, tmp_path, capsys):
    np.save(tmp_path / "in.npy", np.full((1, 64), 9.0))
    command.predict(NAME, tmp_path / "in.npy", tmp_path / "out.npy")
    assert "warning: initial_velocity has the value 9, outside the range" in capsys.readouterr().err


STORE = "data/burgers/burgers.zarr"
FAULTS = {
    f"predict {NAME} in.csv out.npy": "in.csv is not a supported file; accepted: .npy, .npz, .nc, .zarr",
    f"predict {NAME} in.npy out.npy": "in.npy does not exist",
    f"predict {NAME} {STORE} out.nc --variable u": "has no variable 'u'; it has",
    f"predict {NAME} {STORE} out.nc --group n65": "cannot be opened at n65",
    "predict tiny/burgers/net in.npy out.npy": "no finished run tiny/burgers/net",
    "info nothing": "'nothing' is not a study, run or dataset",
    "open tiny": "no front page of the study 'tiny'; studies with one in results: none",
}


@pytest.mark.parametrize("words", FAULTS)
def test_a_fault_is_one_line(here, monkeypatch, capsys, words):
    said = failing(monkeypatch, capsys, *words.split())
    assert said.startswith("resolvent: ")
    assert FAULTS[words] in said
    assert said.count("\n") == 1


def test_info_of_a_run_and_of_a_dataset(here):
    run = resolvent.load_run(NAME)
    said = printed("info", NAME)
    assert f"{run.errors.query('resolution == 128')['relative_l2'].mean():.4g}" in said
    velocity = run.inputs[0]
    assert f"velocity at time 0 (unit 1), from {velocity.low:.4g} to {velocity.high:.4g} in the data" in said
    assert "20 train, 4 validation, 6 test" in printed("info", "burgers")


class OneDataset(BaseModel):
    dataset: AnyDataset


OVERLAY = """
name: mine
build: {experiments: [mine]}
models: {net: {label: N, architecture: "lab_here.nets:NetSettings"}}
experiments: {mine: {title: M, dataset: burgers, models: [net], resolutions: [128]}}
"""


NETS = """
import torch
from resolvent.models.settings import Settings

class NetSettings(Settings):
    operator = "lab_here.nets:Net"
    dimension = 1

class Net(torch.nn.Module):
    pass
"""


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """Return the working folder, which is not on the path, as of an installed command."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one not in ("", str(tmp_path))])
    return tmp_path


def test_modules_of_ones_own_are_found_in_the_working_folder(own_folder):
    (own_folder / "mine.yaml").write_text(OVERLAY)
    (own_folder / "lab_here").mkdir()
    (own_folder / "lab_here/nets.py").write_text(NETS)
    try:
        assert "the configuration 'mine' is valid" in printed("check", "mine.yaml")
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "lab_here"]:
            del sys.modules[name]


@pytest.mark.parametrize(
    "make",
    [
        lambda: settings_class("lab_gone.nets:NetSettings"),
        lambda: settings_of({"equation": "lab_gone.heat:Heat"}),
        lambda: OneDataset(dataset={"equation": "lab_gone.heat:Heat"}),
    ],
)
def test_a_module_that_is_nowhere_is_one_line(monkeypatch, capsys, make):
    monkeypatch.setattr(command, "app", lambda **_: make())
    said = failing(monkeypatch, capsys)
    assert "no module lab_gone" in said
    assert said.count("\n") == 1


def test_what_runs_is_snakemake_with_the_options_that_it_is_given(monkeypatch):
    started = []
    monkeypatch.setattr(command, "start_snakemake", lambda words, **_: started.append(words) or 0)
    printed("run", "finalise_burgers", "--cores", "2", "--configfile", "demo", "-n", "--keep-going")
    printed("plan", "--cores", "4", "--configfile", "cao2021")
    printed("snakemake", "--help", "-n")
    # Without the dashes, Snakemake would take the targets for values of the option before them.
    printed("run", "--resources", "gpu=2", "--cores", "16", "--", "burgers", "darcy")
    assert started == [
        ["finalise_burgers", "-n", "--keep-going", "--cores", "2", "--configfile", "demo"],
        ["plan", "--cores", "4", "--configfile", "cao2021"],
        ["--help", "-n"],
        ["--resources", "gpu=2", "--cores", "16", "--", "burgers", "darcy"],
    ]


@pytest.mark.parametrize(
    ("words", "status", "written", "shown"),
    [
        ("", 0, False, True),  # nothing to do
        ("", 1, True, False),
        ("-n", 0, False, False),
        ("--resources gpu=0 -- burgers", 0, True, True),  # the page was updated
        ("-- burgers", 0, False, False),
    ],
)
def test_a_run_ends_with_the_leaderboard_of_its_study(words, status, written, shown, own_folder, monkeypatch):
    (own_folder / "mine.yaml").write_text("name: mine\nresults_root: here\n")
    page = own_folder / "here/mine/index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    os.utime(page, (1, 1))
    folders = []
    monkeypatch.setattr(command, "start_snakemake", lambda _, **__: (written and page.touch()) or status)
    monkeypatch.setattr(terminal, "show", lambda folder, **_: folders.append(folder.resolve()))
    done = CliRunner().invoke(command.app, ["run", "--configfile", "mine.yaml", *words.split()])
    assert done.exit_code == status, done.output
    assert folders == [page.parent.resolve()] * shown


def test_own_options_stay_before_two_dashes(monkeypatch):
    started = []
    monkeypatch.setattr(
        start.subprocess, "Popen", lambda words, env: started.append(words) or SimpleNamespace(wait=lambda: 0)
    )
    assert start.start_snakemake(["-n", "--configfile", "demo", "--", "burgers"]) == 0
    assert started[0][-2:] == ["--", "burgers"]
    assert "--workflow-profile" in started[0][:-2]
    for option in ("--configfile=config.yaml", "--logger-config config.yaml"):
        monkeypatch.chdir(places.HOME)
        assert start.start_snakemake(["-n", *option.split()]) == 0


@pytest.fixture
def not_started(monkeypatch):
    monkeypatch.setattr(start.subprocess, "Popen", lambda *_, **__: pytest.fail("Snakemake was started"))


@pytest.mark.parametrize(
    "words",
    ["run --configfile bad.yaml", "run --configfile=bad.yaml", "snakemake --configfiles test bad.yaml"],
)
def test_overlays_are_read_before_snakemake_starts(words, tmp_path, not_started, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    executed = "__use_yte__: true\nname: ?open('executed', 'w')\nname: two\n"
    (tmp_path / "bad.yaml").write_text(executed)
    assert failing(monkeypatch, capsys, *words.split()).splitlines() == [
        "resolvent: bad.yaml, line 3: name: duplicate of the key in line 2; keep one",
        "resolvent: bad.yaml, line 1: __use_yte__: Snakemake would execute the expressions of this file; "
        "write the values themselves",
    ]
    assert not (tmp_path / "executed").exists()


CONFIGURATION = "is a configuration, not a rule or a result: write --configfile"
MISPLACED = {
    "run mine.yaml": f"mine.yaml {CONFIGURATION} mine.yaml",
    "run --configfile demo mine.yaml": f"mine.yaml {CONFIGURATION} mine.yaml",
    "run -n -- mine.yaml": f"mine.yaml {CONFIGURATION} mine.yaml",
    "plan mine.yaml": f"mine.yaml {CONFIGURATION} mine.yaml",
    "run demo": f"demo {CONFIGURATION} demo",
    "snakemake --configfile demo report_burgers": (
        "report_burgers: there is no such configuration; what is to be built is written before --configfile"
    ),
}


@pytest.mark.parametrize("words", MISPLACED)
def test_a_configuration_and_a_target_in_each_others_place_are_one_line(
    words, not_started, monkeypatch, capsys
):
    """Snakemake would print its whole usage, or that no rule makes it."""
    assert failing(monkeypatch, capsys, *words.split()) == f"resolvent: {MISPLACED[words]}\n"


@pytest.mark.parametrize("made", [False, True])
def test_a_dry_run_of_the_demo_succeeds(made, own_folder, monkeypatch):
    monkeypatch.setattr(command, "start_snakemake", lambda _: 0)
    folders = []
    monkeypatch.setattr(terminal, "show", lambda folder, **_: folders.append(folder))
    if made:
        (own_folder / "results/demo").mkdir(parents=True)
        (own_folder / "results/demo/index.html").touch()
    assert CliRunner().invoke(command.app, ["demo", "-n"]).exit_code == 0
    assert len(folders) == made


def test_a_folder_called_as_a_configuration_of_the_package_does_not_hide_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("demo").mkdir()
    assert start.own_overlay("demo") == str(places.HOME / "config/demo.yaml")
    Path("test").write_text("name: mine")
    assert start.own_overlay("test") == "test"


def test_control_c_waits_for_snakemake(monkeypatch, capsys):
    """Snakemake has the signal as well, and would be killed in the middle of ending its jobs."""
    answers = [KeyboardInterrupt, KeyboardInterrupt, 7]

    class Process:
        def __init__(self, command, env):
            assert env["RESOLVENT_COMMAND"] == "resolvent snakemake -n"

        def wait(self):
            if (answer := answers.pop(0)) is KeyboardInterrupt:
                raise KeyboardInterrupt
            return answer

    monkeypatch.setattr(start.subprocess, "Popen", Process)
    assert start.start_snakemake(["-n"]) == 7
    assert capsys.readouterr().err == "stopped; the same command resumes\n"
    assert "RESOLVENT_COMMAND" not in os.environ  # or what is built later has this command on its pages


SNAKEMAKE_WITH_A_JOB = """
import subprocess, sys
job = subprocess.Popen(["sleep", "60"])
print(job.pid, flush=True)
job.wait()
sys.exit(1)
"""
WITHOUT_SNAKEMAKE = f"""
import subprocess, sys
from resolvent.planning import start
popen = subprocess.Popen
start.subprocess.Popen = lambda *_, **__: popen([sys.executable, "-c", {SNAKEMAKE_WITH_A_JOB!r}])
sys.exit(start.start_snakemake(["-n"]))
"""


def test_a_request_to_end_reaches_snakemake_and_its_jobs(tmp_path):
    words = [sys.executable, "-c", WITHOUT_SNAKEMAKE]
    with subprocess.Popen(words, cwd=tmp_path, stdout=PIPE, stderr=PIPE, text=True) as process:
        job = int(process.stdout.readline())
        process.terminate()
        said = process.communicate(timeout=30)[1]
    assert said == "stopped; the same command resumes\n"
    assert process.returncode
    if psutil.pid_exists(job):  # ended, and waits for the first process of a container to notice
        assert psutil.Process(job).status() == psutil.STATUS_ZOMBIE


def test_slurm_without_its_plugin_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(start, "find_spec", lambda name: None)
    message = "resolvent: SLURM needs a Snakemake plugin: pip install 'resolvent[slurm]'\n"
    assert failing(monkeypatch, capsys, "run", "--profile", "workflow/profiles/slurm") == message


def test_a_folder_with_braces_is_refused_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr(places, "HOME", places.Path("/srv/a{x}b"))
    assert failing(monkeypatch, capsys, "run") == (
        "resolvent: the folder /srv/a{x}b has braces in its path, wildcards to Snakemake; rename it\n"
    )


def test_the_front_page_is_found(here, tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one/index.html").touch()
    said = printed("open", "one", "--results", tmp_path)
    assert said.strip() == (tmp_path / "one/index.html").as_uri()


def test_text_of_others_is_printed_and_not_obeyed(capsys):
    console = Terminal(file=sys.stdout, width=200)
    table = Table(title="a\x1b[2Jb[red]c[/]")
    table.add_row("=1\x07", ":smile:", "\u202ed")
    console.print(table)
    console.print("e\rf[/oops]")
    said = capsys.readouterr().out
    assert not set("\x1b\x07\u202e\r") & set(said)
    for text in (r"a\x1b[2Jb[red]c[/]", r"=1\x07", ":smile:", r"\u202ed", r"e\rf[/oops]"):
        assert text in said
    report = Report(["a.npz\nname: mine", "  u\rv: 3 \x1b[2J"]).text()
    assert report == "# a.npz\\nname: mine\n#   u\\rv: 3 \\x1b[2J\n"
    assert str(FileError("no\nfile \x1b[2J")) == r"no\nfile \x1b[2J"


LARGE = """name: large
build: {experiments: [burgers]}
experiments:
  burgers:
    models: [fno]
    shown: null
    seeds: [SEEDS]
"""


def test_a_study_without_a_name_or_of_many_trainings_wants_yes(own_folder, monkeypatch):
    started = []
    ended = SimpleNamespace(wait=lambda: 1)
    snakemake = SimpleNamespace(Popen=lambda words, env: started.append(words) or ended)
    monkeypatch.setattr(start, "subprocess", snakemake)
    (own_folder / "nameless.yaml").write_text("datasets: {burgers: {viscosity: 0.1}}\n")
    (own_folder / "large.yaml").write_text(LARGE.replace("SEEDS", ", ".join(map(str, range(501)))))
    refused = {
        "run": "no configuration has a `name`, so the results would go to results/laptop",
        "run --configfile nameless.yaml": "so the results would go to results/laptop",
        "run --configfile large.yaml": "the study has 501 trainings left, about ",
    }
    for words, said in refused.items():
        result = CliRunner().invoke(command.app, words.split())
        assert isinstance(result.exception, FileError)
        assert said in str(result.exception)
        assert "--yes" in str(result.exception)
        assert not started
        for confirmed in ("--yes", "-n", "burgers"):
            CliRunner().invoke(command.app, [*words.split(), confirmed])
            assert started.pop()
    (own_folder / "results/laptop").mkdir(parents=True)  # begun here before
    CliRunner().invoke(command.app, ["run"])
    assert started
