"""The command `resolvent`, also available as `python -m resolvent`.

Commands import their modules when they run, so help and completion are fast.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and sys.path[0] == os.getcwd():
    # `python -m` imports from the working folder first, which may contain anyone's run. A user's own modules
    # are found after installed packages (`search_working_folder`).
    del sys.path[0]

import atexit
import gc
import time
import warnings
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand

from resolvent.common.counts import counted
from resolvent.common.errors import ResolventError, printable
from resolvent.planning.places import HOME, search_working_folder
from resolvent.planning.start import own_overlay, start_snakemake, study_folder

TO_SNAKEMAKE = {"allow_extra_args": True, "ignore_unknown_options": True}
AFTER_DASHES = "after --"  # key of `context.meta`
STUDIES, USE, REST = "Studies", "Data and trained models", "Workflow"
EVALUATE = "Evaluate and compare"


class KeepingDashes(TyperCommand):
    """A command that hands `--` and everything after it to Snakemake; typer would drop the `--`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        cut = args.index("--") if "--" in args else len(args)
        ctx.meta[AFTER_DASHES] = args[cut:]
        return super().parse_args(ctx, args[:cut])


app = typer.Typer(
    help="Make datasets with measured errors for operator learning, train and compare neural operators.\n\n"
    "Start with [bold]resolvent demo[/bold], then [bold]resolvent open[/bold]. Snakemake runs everything in "
    "the working folder: [bold]data/[/bold] has the datasets, [bold]results/<study>/[/bold] the runs and "
    "pages.",
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Cores = Annotated[str, typer.Option(help="Processor cores to use: a number, or 'all'.")]
Configs = Annotated[
    list[str] | None,
    typer.Option(
        "--configfile",
        help="A configuration: a file, or the name of a configuration in the package, such as 'demo' or "
        "'cao2021'. May be repeated; later configurations override earlier ones.",
    ),
]
Results = Annotated[str, typer.Option(help="Folder of the studies, searched for names of runs.")]
Run = Annotated[
    str,
    typer.Argument(metavar="RUN", help="A run: its name, 'demo/burgers/fno/n128/seed1127802', or folder."),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        help="A folder of modules that may run, if the run needs its authors' code (read it first), or an "
        "address from which test samples may be read. May be repeated."
    ),
]
Data = Annotated[str | None, typer.Option(help="Folder of the datasets, or the training dataset's card.")]


@app.command(rich_help_panel=STUDIES, context_settings=TO_SNAKEMAKE)
def demo(context: typer.Context, cores: Cores = "all") -> None:
    """Run the whole pipeline at a small size, and print the leaderboard.

    Takes about ten minutes on two cores, and prints the address of the front page at the end. Unknown options
    are passed to Snakemake.
    """
    if status := start_snakemake(["--cores", cores, "--configfile", "demo", *context.args]):
        raise typer.Exit(status)
    if Path("results/demo/index.html").is_file():  # unless it was a dry run, or has another results_root
        from resolvent.figures.front.terminal import show

        show(Path("results/demo"), write=False)


@app.command(rich_help_panel=STUDIES, context_settings=TO_SNAKEMAKE)
def plan(context: typer.Context, cores: Cores = "all", configfile: Configs = None) -> None:
    """Show the jobs, time and disk space that a study needs, without running it."""
    raise typer.Exit(start_snakemake(["plan", "--cores", cores, *_configured(configfile), *context.args]))


@app.command(rich_help_panel=STUDIES)
def check(
    files: Annotated[list[str] | None, typer.Argument(help="Configurations; later ones override.")] = None,
) -> None:
    """Report errors in configurations by file, line and key, without running anything."""
    from resolvent.planning.configuration.load import check as checked

    search_working_folder()
    raise typer.Exit(checked([own_overlay(file) for file in files or []]))


@app.command(rich_help_panel=STUDIES)
def check_model(
    model: Annotated[str, typer.Argument(help="module:SettingsClass of your own, or an architecture.")],
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="Settings of the model.")
    ] = None,
    task: Annotated[
        str, typer.Option(help="A task of `resolvent tasks`, for grids and channels.")
    ] = "burgers-v1",
) -> None:
    """Check a model before its training: one line for each fault, such as a block without effect.

    Takes seconds, and needs no data. Prints the cost by grid too. The status is 1 if there are faults.
    """
    from resolvent.judging.tasks import read_task
    from resolvent.planning.check_model import check_for_dataset

    search_working_folder()
    read = read_task(task)
    sizes = {array: marks[0] for array, marks in read.test.items()}
    lines, cost = check_for_dataset(model, settings or [], read.dataset, sizes)
    for line in [*lines, cost]:
        print(printable(line))
    print(f"{model} on {task}: {counted(len(lines), 'finding')}")
    if lines:
        raise typer.Exit(1)


@app.command(cls=KeepingDashes, rich_help_panel=STUDIES, context_settings=TO_SNAKEMAKE)
def run(
    context: typer.Context,
    targets: Annotated[
        list[str] | None,
        typer.Argument(help="Rules or files to build, and Snakemake's options. Default: the whole study."),
    ] = None,
    cores: Cores = "all",
    configfile: Configs = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Also start a study without a name, or of more than 500 trainings.")
    ] = False,
) -> None:
    """Run or resume a study: build whatever is missing, out of date or interrupted.

    Runs `snakemake` with the Snakefile and profile of the package. Unknown options, such as `-n` (dry run),
    are passed to Snakemake. Prints the leaderboard and the address of the front page at the end.
    """
    named = context.meta[AFTER_DASHES]
    begun = time.time() - 1  # file systems round times down
    words = [*(targets or []), "--cores", cores, *_configured(configfile), *named]
    planned = any(word[:2] == "-n" or word in ("--dry-run", "--dryrun") for word in words)
    aimed = targets and not targets[0].startswith("-")  # at what is to be built
    if status := start_snakemake(words, confirmed=bool(yes or named or planned or aimed)):
        raise typer.Exit(status)
    folder = study_folder(configfile or [])
    page = folder / "index.html"
    # Dry runs and single targets may leave the page as it was. A whole study with nothing to do is shown.
    if page.is_file() and (page.stat().st_mtime >= begun or not (targets or named)):
        from resolvent.figures.front.terminal import show

        show(folder, write=False)


@app.command(rich_help_panel=STUDIES, name="open")
def open_page(
    study: Annotated[str, typer.Argument(help="Name or folder of the study.")] = "demo",
    results: Results = "results",
) -> None:
    """Print the address of a study's front page, and open it if there is a browser."""
    pages = [p for p in (Path(study, "index.html"), Path(results, study, "index.html")) if p.is_file()]
    if not pages:
        there = ", ".join(sorted(p.parent.name for p in Path(results).glob("*/index.html"))) or "none"
        raise ResolventError(f"no front page of the study '{study}'; studies with one in {results}: {there}")
    address = pages[0].resolve().as_uri()
    print(address)
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform in ("darwin", "win32"):
        typer.launch(address)


@app.command(rich_help_panel=USE)
def info(
    name: Annotated[str, typer.Argument(help="A study, a run or a dataset: its name or its path.")],
    results: Results = "results",
    data: Data = None,
) -> None:
    """Describe a study, a run ('demo/burgers/fno/n128/seed1127802') or a dataset ('burgers')."""
    from resolvent.public.describe import Terminal, describe

    describe(name, Terminal(), results=results, data=data or "data")


@app.command(rich_help_panel=USE)
def predict(
    run: Run,
    source: Annotated[
        Path, typer.Argument(metavar="INPUT", help="Functions in physical units: .npy, .npz, .nc or .zarr.")
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUTPUT", help="File for the predictions, of the same kinds.")
    ],
    variable: Annotated[
        list[str] | None,
        typer.Option(help="Name of an input function in the file; repeat for several channels."),
    ] = None,
    group: Annotated[str | None, typer.Option(help="Group of a file or store, such as 'n512'.")] = None,
    device: Annotated[str | None, typer.Option(help="Device of torch: 'cpu' or 'cuda'.")] = None,
    results: Results = "results",
    data: Data = None,
    allow: Allow = None,
) -> None:
    """Predict with a trained model for functions in a file or a store.

    Arrays are (samples, ...space), or (samples, channels, ...space) for several functions. Inputs outside the
    range of the training data give a warning.
    """
    from resolvent.public.files import predict_file
    from resolvent.public.runs import load_run

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shape = predict_file(
            load_run(run, results=results, data=data, allow=allow or ()), source, target,
            variables=variable or (), group=group, device=device,
        )  # fmt: skip
    for warning in dict.fromkeys(str(warning.message) for warning in caught):
        print(f"warning: {printable(warning)}", file=sys.stderr)
    print(f"{target}: predictions of shape {shape}")


Files = Annotated[
    list[str], typer.Argument(help="Files, stores, addresses or folders: one, inputs and targets, or many.")
]


@app.command(rich_help_panel=USE)
def inspect(files: Files) -> None:
    """Inspect files of arrays, and print the configuration that imports them as a dataset.

    Accepts NumPy, MAT, HDF5, NetCDF, Zarr, PyTorch and CSV files. Nothing is written.
    """
    from resolvent.datasets.imported.check import check_file

    report = check_file(*files)
    print(report.text(), end="")
    if report.problem:
        raise ResolventError(report.problem)


@app.command(rich_help_panel=USE, name="import")
def import_file(
    files: Files,
    out: Annotated[Path, typer.Option("--output", "-o", help="A new file for the configuration.")] = Path(
        "mine.yaml"
    ),
) -> None:
    """Write the configuration printed by `inspect`, which imports files of arrays as a dataset.

    Choose where the file does not decide, then type `resolvent check`. The files are imported when a study
    with the dataset runs.
    """
    from resolvent.datasets.imported.check import check_file

    report = check_file(*files)
    if report.problem:
        print(report.text(), end="")
        raise ResolventError(report.problem)
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(report.text())
    except OSError as error:
        fault = (
            "exists already"
            if isinstance(error, FileExistsError)
            else f"cannot be written ({error.strerror})"
        )
        raise ResolventError(f"{out} {fault}: choose another file by --output") from None
    print(report.to_do(out))


@app.command(rich_help_panel=USE)
def export(
    dataset: Annotated[str, typer.Argument(help="A finished dataset: name, hash, card or store.")],
    out: Annotated[Path, typer.Argument(help="A new file, or a new folder for 'well' and 'huggingface'.")],
    to: Annotated[str, typer.Option(help="Format: 'well', 'netcdf' or 'huggingface'.")],
    resolution: Annotated[
        str | None, typer.Option(help="Points along each axis, or a set of times; by default the finest.")
    ] = None,
    data: Annotated[str, typer.Option(help="Folder of the datasets.")] = "data",
    allow: Allow = None,
) -> None:
    """Export a dataset in another layout, or as a folder for the Hugging Face hub."""
    from resolvent.datasets.exports import call_of_the_well
    from resolvent.datasets.loading import read_card
    from resolvent.planning.export import export as exported
    from resolvent.public.consent import check_allowed
    from resolvent.public.datasets import card_of

    card = card_of(dataset, data)
    check_allowed(card, [str(read_card(card)["settings"].get("equation"))], allow or ())
    points = int(resolution) if resolution is not None and resolution.isdecimal() else resolution
    files = exported(card, to, out, points)
    print(f"{out}: {counted(len(files), 'file')}")
    if to == "well":
        print(f"To open it: from the_well.data import WellDataset; {call_of_the_well(files)}")


@app.command(rich_help_panel=USE)
def export_study(
    folder: Annotated[Path, typer.Argument(help="The folder of a study, such as results/demo.")],
    out: Annotated[Path, typer.Argument(help="A new file, such as study.zip.")],
) -> None:
    """Pack a study's pages, tables, records and dataset cards into a zip file."""
    from resolvent.public.archive import export_study as exported

    print(f"{out}: {counted(exported(folder, out), 'file')}; unpack it and open index.html")


@app.command(rich_help_panel=USE)
def export_run(
    run: Run,
    folder: Annotated[Path, typer.Argument(help="A new folder.")],
    form: Annotated[
        list[str] | None,
        typer.Option("--format", help="Also export a program: 'torch_export'."),
    ] = None,
    points: Annotated[int | None, typer.Option(help="Points along each axis, for programs.")] = None,
    samples: Annotated[int, typer.Option(help="Samples in a batch, for programs.")] = 1,
    licence: Annotated[str | None, typer.Option(help="Licence of the weights, such as 'MIT'.")] = None,
    results: Results = "results",
    data: Data = None,
    allow: Allow = None,
) -> None:
    """Export a trained run: weights as safetensors, records, and a model card."""
    from resolvent.public.export import export_run as exported
    from resolvent.public.runs import load_run

    loaded = load_run(run, results=results, data=data, allow=allow or ())
    exported(loaded, folder, formats=form or (), points=points, samples=samples, licence=licence)
    print(f'{folder}: load it with resolvent.load_run("{folder}")')


@app.command(rich_help_panel=USE)
def verify(
    paths: Annotated[list[Path], typer.Argument(help="Folders of datasets, cards or stores.")],
) -> None:
    """Check stores against their cards, reading every number, and print a line for each fault.

    Check a study by `sha256sum --check SHA256SUMS` in its folder.
    """
    from resolvent.datasets.verify import verify as verified

    raise typer.Exit(verified(paths))


@app.command(rich_help_panel=EVALUATE)
def tasks(
    named: Annotated[
        list[str] | None,
        typer.Argument(
            help="With --site: tasks whose pages to write; by default those that need no solving."
        ),
    ] = None,
    site: Annotated[
        Path | None,
        typer.Option(help="Write pages to this folder that evaluate predictions in a browser, with labels."),
    ] = None,
) -> None:
    """List the tasks that models can be evaluated on, or write a page for each."""
    from resolvent.judging.tasks import names, read_task

    if site is not None:
        from resolvent.judging.task_page import write_task_pages

        for file in write_task_pages(site, named, cores=os.cpu_count() or 1):
            print(file)
        return
    for name in names():
        print(f"{name:20}{read_task(name).title}")


@app.command(rich_help_panel=EVALUATE)
def task(
    name: Annotated[str, typer.Argument(help="A task of `resolvent tasks`, or the file of one.")],
    to: Annotated[Path, typer.Option(help="A new folder.")],
    new: Annotated[
        Path | None,
        typer.Option(help="Make the task NAME of a dataset of this configuration; writes its file and page."),
    ] = None,
    dataset: Annotated[str, typer.Option(help="With --new: the dataset, if there are several.")] = "",
    fresh_for: Annotated[
        str,
        typer.Option(metavar="SHA256", help="Write only the inputs of new test samples, with this as seed."),
    ] = "",
    form: Annotated[str, typer.Option("--format", help="'npz', 'netcdf', 'zarr' or 'huggingface'.")] = "npz",
    cores: Annotated[
        int | None, typer.Option(help="Number of processes for generating samples; by default all cores.")
    ] = None,
) -> None:
    """Write a task to train on elsewhere: training samples, test inputs and instructions."""
    from resolvent.judging.give import give, give_fresh

    cores = cores or os.cpu_count() or 1
    if new is not None:
        from resolvent.judging.task_page import make_task

        for file in make_task(name, new, dataset, to, cores):
            print(file)
        return
    if fresh_for:
        for file in give_fresh(name, to, fresh_for, form):
            print(file)
        return
    files = give(name, to, form, cores)
    print(f"{to}: {counted(len(files), 'file')}; README.md has the instructions")


@app.command(rich_help_panel=EVALUATE)
def evaluate(
    source: Annotated[
        str,
        typer.Argument(
            help="Predictions for the test inputs: a file or a folder. Or a model: an exported run; or a "
            "Python class, module:name, or a program, .pt2, which run with all your permissions."
        ),
    ],
    task: Annotated[
        str | None,
        typer.Option(help="A task of `resolvent tasks`; by default, an exported run's own test samples."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for record, page and tables.")] = Path("evaluation"),
    label: Annotated[str, typer.Option(help="Name in tables.")] = "",
    certify: Annotated[bool, typer.Option("--certify", help="Also estimate errors without labels.")] = False,
    timed: Annotated[bool, typer.Option("--time", help="Time classical solvers on this machine.")] = False,
    recompute: Annotated[bool, typer.Option("--recompute", help="Make the test samples again.")] = False,
    data: Annotated[
        Path | None, typer.Option(help="Folder for test samples that are made; by default the user's cache.")
    ] = None,
    cores: Annotated[int, typer.Option(help="Number of processes for generating the test samples.")] = 1,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Also test on new samples, whose seed is the hash of the model."),
    ] = False,
    fresh_for: Annotated[
        str, typer.Option(metavar="SHA256", help="The same for predictions of `task --fresh-for`.")
    ] = "",
    stress: Annotated[bool, typer.Option("--stress", help="Also test on shifted distributions.")] = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Also measure a ball that contains the target in 90 %.")
    ] = False,
    symmetrise: Annotated[
        bool, typer.Option("--symmetrise", help="Also average predictions over symmetries.")
    ] = False,
    correct: Annotated[
        int, typer.Option(min=0, help="Also improve predictions by so many iterations of a solver.")
    ] = 0,
    minutes: Annotated[float, typer.Option(help="Limit of the time of a module or program.")] = 60,
    gigabytes: Annotated[float, typer.Option(help="Limit of its memory.")] = 16,
    allow: Allow = None,
) -> None:
    """Measure the errors of predictions or a model, compared with classical solvers.

    Without a task, an exported run's errors are measured again on test samples made again, and compared with
    the recorded errors: exit status 1 if they differ.
    """
    from resolvent.judging.answers import CACHE
    from resolvent.judging.exported import is_exported_run
    from resolvent.judging.judge import judge
    from resolvent.judging.report import in_words

    if not is_exported_run(source):
        search_working_folder()
    record = judge(
        source,
        task,
        out,
        label=label,
        data=data or CACHE,
        certify=certify,
        timed=timed,
        recompute=recompute,
        cores=cores,
        allow=allow or (),
        fresh=fresh,
        fresh_for=fresh_for,
        stress=stress,
        calibrate=calibrate,
        symmetrise=symmetrise,
        correct=correct,
        minutes=minutes,
        gigabytes=gigabytes,
    )
    for line in in_words(record):
        print(printable(line))
    print(f"{out}/index.html")
    if any(row["confirmed"] is False for row in record["recorded"]):
        raise typer.Exit(1)


@app.command(rich_help_panel=EVALUATE)
def compare(
    folders: Annotated[list[Path], typer.Argument(help="Folders written by `evaluate`.")],
    out: Annotated[Path | None, typer.Option(help="Also write web pages, the board, to this folder.")] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Exit status 1 unless the other folders have the errors of the first."),
    ] = False,
) -> None:
    """Compare evaluations on each test set, the lowest error first."""
    from resolvent.judging.board import differences, print_board, read_board, read_entry, write_site
    from resolvent.public.describe import Terminal

    tests = read_board(folders)
    print_board(tests, Terminal())
    if out is not None:
        print(write_site(tests, out))
    if check:
        first, *others = map(read_entry, folders)
        different = [line for other in others for line in differences(first, other)]
        for line in different:
            print(printable(line), file=sys.stderr)
        if different or not others:
            raise typer.Exit(1)


@app.command(cls=KeepingDashes, rich_help_panel=REST, context_settings=TO_SNAKEMAKE, add_help_option=False)
def snakemake(context: typer.Context) -> None:
    """Run Snakemake with the Snakefile and profile of the package; all options are passed on."""
    raise typer.Exit(start_snakemake([*context.args, *context.meta[AFTER_DASHES]]))


@app.command(rich_help_panel=REST)
def where() -> None:
    """Print the folder of the Snakefile and the configurations."""
    print(HOME)


def main() -> int:
    """Run the command line, and return the exit status. Expected errors print one line."""
    # As in a job (`resolvent.planning.job`): saves half a second at exit after importing torch.
    atexit.register(gc.freeze)
    try:
        app(prog_name="resolvent")
    except ResolventError as error:
        for line in str(error).splitlines():
            print(f"resolvent: {line}", file=sys.stderr)
        return 1
    except ValueError as error:
        from resolvent.common.outside import NoSuchModule

        # Pydantic's errors contain others. A missing user's module is an expected error; others are not.
        details = error.errors() if hasattr(error, "errors") else []
        errors = [error, *(detail.get("ctx", {}).get("error") for detail in details)]
        missing = [inner for inner in errors if isinstance(inner, NoSuchModule)]
        if not missing:
            raise
        print(f"resolvent: {missing[0]}", file=sys.stderr)
        return 1
    return 0


def _configured(files: list[str] | None) -> list[str]:
    return ["--configfile", *files] if files else []


if __name__ == "__main__":
    sys.exit(main())
