"""The command `resolvent`; `python -m resolvent` is the same.

Commands import what they need when they run, so that help and completion answer at once.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and sys.path[0] == os.getcwd():
    # `python -m` searches the working folder before all others, and a run of anyone may lie there. Modules of
    # a user's own are found behind all that is installed (`search_working_folder`).
    del sys.path[0]

import atexit
import gc
import warnings
from pathlib import Path
from typing import Annotated

import typer

from resolvent.common.counts import counted
from resolvent.common.errors import ResolventError, printable
from resolvent.planning.places import HOME, search_working_folder
from resolvent.planning.start import own_overlay, start_snakemake

TO_SNAKEMAKE = {"allow_extra_args": True, "ignore_unknown_options": True}
STUDIES, USE, REST = "Studies", "Data and trained models", "Workflow"
JUDGED = "Judge and verify"

app = typer.Typer(
    help="Make datasets with measured errors for operator learning, train and compare neural operators.\n\n"
    "A first look: [bold]resolvent demo[/bold], then [bold]resolvent open[/bold]. Everything is made by "
    "Snakemake in the working folder: [bold]data/[/bold] has the datasets, [bold]results/<study>/[/bold] the "
    "runs and pages.",
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
        help="A configuration: a file, or the name of one that comes with the package, such as 'demo' or "
        "'cao2021'. It may be repeated; the last one wins.",
    ),
]
Results = Annotated[str, typer.Option(help="Folder of the studies, where names of runs are looked for.")]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        help="A folder whose modules may run, where the code is that of authors (read it before), or an "
        "address that test samples may be read from; it may be repeated."
    ),
]
Data = Annotated[
    str | None,
    typer.Option(help="Folder of the datasets, or the card of the one that the run was trained on."),
]


@app.command(rich_help_panel=STUDIES, context_settings=TO_SNAKEMAKE)
def demo(context: typer.Context, cores: Cores = "all") -> None:
    """Run the whole pipeline at a small size, and print the leaderboard.

    It takes about ten minutes on two cores, and ends with the address of the front page. Options that are
    not known here go to Snakemake.
    """
    if status := start_snakemake(["--cores", cores, "--configfile", "demo", *context.args]):
        raise typer.Exit(status)
    from resolvent.figures.front.terminal import show

    show(Path("results/demo"))


@app.command(rich_help_panel=STUDIES, context_settings=TO_SNAKEMAKE)
def plan(context: typer.Context, cores: Cores = "all", configfile: Configs = None) -> None:
    """Show the jobs, time and disk space that a study needs, without running it."""
    raise typer.Exit(start_snakemake(["plan", "--cores", cores, *_configured(configfile), *context.args]))


@app.command(rich_help_panel=STUDIES)
def check(
    files: Annotated[list[str] | None, typer.Argument(help="Configurations; the last one wins.")] = None,
) -> None:
    """Report errors in configurations by file, line and key, without running anything."""
    from resolvent.planning.configuration.load import check as checked

    search_working_folder()
    raise typer.Exit(checked([own_overlay(one) for one in files or []]))


@app.command(rich_help_panel=STUDIES, context_settings=TO_SNAKEMAKE)
def run(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            help="Rules or files to make, none: all that the configuration asks for; and Snakemake's options."
        ),
    ] = None,
    cores: Cores = "all",
    configfile: Configs = None,
) -> None:
    """Run or resume a study: make whatever is missing, out of date or interrupted.

    This is `snakemake` with the Snakefile and the profile of the package: options that are not known here go
    to Snakemake, such as `-n`, which shows what would run.
    """
    raise typer.Exit(start_snakemake([*(targets or []), "--cores", cores, *_configured(configfile)]))


@app.command(rich_help_panel=STUDIES, name="open")
def open_page(
    study: Annotated[str, typer.Argument(help="Name or folder of the study.")] = "demo",
    results: Results = "results",
) -> None:
    """Print the address of a study's front page, and open it if there is a browser."""
    page = next(
        (p for p in (Path(study, "index.html"), Path(results, study, "index.html")) if p.is_file()), None
    )
    if page is None:
        there = ", ".join(sorted(p.parent.name for p in Path(results).glob("*/index.html"))) or "none"
        raise ResolventError(f"no front page of the study '{study}'; studies with one in {results}: {there}")
    address = page.resolve().as_uri()
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
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="A run: its name, 'demo/burgers/fno/n128/seed1127802', or folder."
        ),
    ],
    source: Annotated[
        Path, typer.Argument(metavar="INPUT", help="Functions in physical units: .npy, .npz, .nc or .zarr.")
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUTPUT", help="File for the predictions, of the same kinds.")
    ],
    variable: Annotated[
        list[str] | None,
        typer.Option(help="Name of an input function in the file; repeat it for several channels."),
    ] = None,
    group: Annotated[str | None, typer.Option(help="Group of a file or store, such as 'n512'.")] = None,
    device: Annotated[str | None, typer.Option(help="Device of torch: 'cpu' or 'cuda'.")] = None,
    results: Results = "results",
    data: Data = None,
    allow: Allow = None,
) -> None:
    """Predict with a trained model for functions in a file or a store.

    Arrays are (samples, ...space), or (samples, channels, ...space) of several functions. Inputs outside of
    the range of the training data are warned of.
    """
    from resolvent.public.files import predict_file
    from resolvent.public.runs import load_run

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shape = predict_file(
            load_run(run, results=results, data=data, allow=allow or ()), source, target,
            variables=variable or (), group=group, device=device,
        )  # fmt: skip
    for one in dict.fromkeys(str(one.message) for one in caught):
        print(f"warning: {printable(one)}", file=sys.stderr)
    print(f"{target}: predictions of shape {shape}")


Files = Annotated[
    list[str],
    typer.Argument(help="A file, a store, an address, a folder; two: inputs and targets; or many."),
]


@app.command(rich_help_panel=USE)
def inspect(files: Files) -> None:
    """Inspect files of arrays, and print the configuration that imports them as a dataset.

    NumPy, MAT, HDF5, NetCDF, Zarr and PyTorch files are read. Nothing is written.
    """
    print(_configuration_of(files), end="")


@app.command(rich_help_panel=USE, name="import")
def import_file(
    files: Files,
    out: Annotated[Path, typer.Option("--output", "-o", help="A new file, for the configuration.")] = Path(
        "mine.yaml"
    ),
) -> None:
    """Write the configuration printed by `inspect`, which imports files of arrays as a dataset.

    The study that has the dataset imports it.
    """
    text = _configuration_of(files)
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise ResolventError(f"{out} is there already: name another by --output") from None
    except OSError as error:
        raise ResolventError(
            f"{out} cannot be written ({error.strerror}): name another by --output"
        ) from None
    print(f"{out}: look at it, and then: resolvent run --configfile {out}")


@app.command(rich_help_panel=USE)
def export(
    dataset: Annotated[str, typer.Argument(help="A finished dataset: its name, hash, card or store.")],
    out: Annotated[Path, typer.Argument(help="A new file; of 'well' and 'huggingface' a new folder.")],
    to: Annotated[
        str, typer.Option(help="The layout: 'well', 'pdebench', 'netcdf', 'npz' or 'huggingface'.")
    ],
    resolution: Annotated[
        str | None, typer.Option(help="Points along each axis, or a set of times; by default the finest.")
    ] = None,
    data: Annotated[str, typer.Option(help="Folder of the datasets.")] = "data",
    allow: Allow = None,
) -> None:
    """Export a dataset in another layout, or as a folder for the Hugging Face hub."""
    from resolvent.datasets.loading import read_card
    from resolvent.planning.export import export as exported
    from resolvent.public.consent import check_allowed
    from resolvent.public.datasets import card_of

    card = card_of(dataset, data)
    check_allowed(card, [str(read_card(card)["settings"].get("equation"))], allow or ())
    points = int(resolution) if resolution is not None and resolution.isdecimal() else resolution
    files = exported(card, to, out, points)
    print(f"{out}: {counted(len(files), 'file')}")


@app.command(rich_help_panel=USE)
def export_run(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="A run: its name, 'demo/burgers/fno/n128/seed1127802', or folder."
        ),
    ],
    folder: Annotated[Path, typer.Argument(help="A new folder.")],
    form: Annotated[
        list[str] | None,
        typer.Option("--format", help="Also as a program: 'torch_export' or 'onnx'; it may be repeated."),
    ] = None,
    points: Annotated[int | None, typer.Option(help="Points along each axis, for programs.")] = None,
    samples: Annotated[int, typer.Option(help="Samples in a batch, for programs.")] = 1,
    licence: Annotated[str | None, typer.Option(help="Of the weights, such as 'MIT'.")] = None,
    results: Results = "results",
    data: Data = None,
    allow: Allow = None,
) -> None:
    """Export a trained run: weights as safetensors, records, and a model card."""
    from resolvent.public.export import export_run as exported
    from resolvent.public.runs import load_run

    loaded = load_run(run, results=results, data=data, allow=allow or ())
    exported(loaded, folder, formats=form or (), points=points, samples=samples, licence=licence)
    print(f'{folder}: load it by resolvent.load_run("{folder}")')


@app.command(rich_help_panel=USE)
def verify(
    paths: Annotated[list[Path], typer.Argument(help="Folders of data or results, cards, runs.")],
) -> None:
    """Check datasets and results against docs/formats.md, and print a line for each fault."""
    from resolvent.planning.verify import verify as verified

    raise typer.Exit(verified(paths))


@app.command(rich_help_panel=JUDGED)
def verify_run(
    folder: Annotated[Path, typer.Argument(help="An exported run.")],
    allow: Allow = None,
    by: Annotated[str, typer.Option(help="Name of the person who verifies.")] = "not stated",
) -> None:
    """Regenerate the test samples of an exported run, run its weights on them, and compare every mean error.

    What was found is written to 'verified.json' in the folder.
    """
    from resolvent.public.describe import Terminal, describe_verification
    from resolvent.public.verification import verify_run as verified

    report = verified(folder, allow=allow or (), by=by)
    describe_verification(report, Terminal())
    raise typer.Exit(0 if report["holds"] else 1)


@app.command(rich_help_panel=JUDGED)
def tasks() -> None:
    """List the tasks that models can be judged on."""
    from resolvent.judging.tasks import names, read_task

    for name in names():
        print(f"{name:20}{read_task(name).title}")


@app.command(rich_help_panel=JUDGED)
def task(
    name: Annotated[str, typer.Argument(help="A task of `resolvent tasks`.")],
    to: Annotated[Path, typer.Option(help="A new folder.")],
    form: Annotated[str, typer.Option("--format", help="'npz', 'netcdf', 'zarr' or 'huggingface'.")] = "npz",
    cores: Annotated[int, typer.Option(help="Processes that make the samples.")] = 1,
) -> None:
    """Write a task to train on elsewhere: training samples, test inputs and instructions."""
    from resolvent.judging.give import give

    files = give(name, to, form, cores)
    print(f"{to}: {counted(len(files), 'file')}; README.md says how to be judged")


@app.command(rich_help_panel=JUDGED)
def evaluate(
    predictions: Annotated[
        str,
        typer.Argument(
            help="Predictions for the test of a task: a file or a folder. Or what predicts, and can do "
            "whatever you can: a class in Python, module:name; a program, .onnx or .pt2; the URL of a "
            "server on this machine."
        ),
    ],
    task: Annotated[str, typer.Option(help="A task of `resolvent tasks`.")],
    out: Annotated[Path, typer.Option(help="Folder for record, page and tables.")] = Path("judged"),
    label: Annotated[str, typer.Option(help="Name in tables.")] = "",
    certify: Annotated[bool, typer.Option("--certify", help="Also estimate errors without labels.")] = False,
    data: Annotated[Path, typer.Option(help="Folder for the test samples.")] = Path("data"),
    cores: Annotated[int, typer.Option(help="Processes that make the test samples.")] = 1,
) -> None:
    """Judge predictions made elsewhere: errors with intervals, compared with classical solvers."""
    from resolvent.judging.judge import in_words, judge

    search_working_folder()
    record = judge(predictions, task, out, label=label, data=data, certify=certify, cores=cores)
    for line in in_words(record):
        print(printable(line))
    print(f"{out}/index.html")


@app.command(rich_help_panel=JUDGED)
def compare(
    folders: Annotated[
        list[Path], typer.Argument(help="Exported runs that were verified, and judgements by `evaluate`.")
    ],
    csv: Annotated[Path | None, typer.Option(help="Also write the table to this file.")] = None,
) -> None:
    """Compare verified runs and judgements on each test set, the lowest error first."""
    from resolvent.judging.tasks import listed as of_tasks
    from resolvent.public.describe import Terminal, describe_compared, write_compared
    from resolvent.public.verification import compare as compared
    from resolvent.public.verification import test_set

    table = compared(folders, of_tasks(test_set))
    describe_compared(table, Terminal())
    listed = set() if table.empty else set(table["folder"])
    for folder in folders:
        if str(folder) not in listed:
            print(
                f"left out: {folder}, neither judged nor verified, not as recorded, or changed since",
                file=sys.stderr,
            )
    if csv is not None:
        write_compared(table, csv)


@app.command(rich_help_panel=REST, context_settings=TO_SNAKEMAKE, add_help_option=False)
def snakemake(context: typer.Context) -> None:
    """Run Snakemake with the Snakefile and profile of the package; all options are passed on."""
    raise typer.Exit(start_snakemake(context.args))


@app.command(rich_help_panel=REST)
def where() -> None:
    """Print the folder of the Snakefile and the configurations."""
    print(HOME)


def main() -> int:
    """Run the command line; an expected fault ends it with one line. Returns the exit status."""
    # As in a job (`resolvent.planning.job`): half a second less at the end of a command that imports torch.
    atexit.register(gc.freeze)
    try:
        app(prog_name="resolvent")
    except ResolventError as error:
        for line in str(error).splitlines():
            print(f"resolvent: {line}", file=sys.stderr)
        return 1
    except ValueError as error:
        from pydantic import ValidationError

        from resolvent.common.outside import NoSuchModule

        found = [error]
        if isinstance(error, ValidationError):
            found = [one["ctx"]["error"] for one in error.errors() if "error" in one.get("ctx", {})]
        # That a user's module is not there is expected; all else is not.
        missing = [one for one in found if isinstance(one, NoSuchModule)]
        if not missing:
            raise
        print(f"resolvent: {missing[0]}", file=sys.stderr)
        return 1
    return 0


def _configuration_of(files: list[str]) -> str:
    """Return the text for files of arrays; where they cannot be imported print it, and say why."""
    from resolvent.datasets.imported.check import check_file

    report = check_file(*files)
    if report.problem:
        print(report.text(), end="")
        raise ResolventError(report.problem)
    return report.text()


def _configured(files: list[str] | None) -> list[str]:
    return ["--configfile", *files] if files else []


if __name__ == "__main__":
    sys.exit(main())
