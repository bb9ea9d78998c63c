"""A write that fails in the middle leaves the old file whole, and nothing beside it."""

import pytest
from matplotlib.figure import Figure

from resolvent.figures.common.page import render
from resolvent.figures.common.style import new_figure, save
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.experiment.error_table import write_error_tables

OLD = "of an earlier run\n"


class Stopped(Exception):
    """What a full disk or a kill would do, in the middle of a write."""


@pytest.fixture
def stopped(monkeypatch):
    """Writes of text and of figures that stop after a few bytes."""

    def write_text(path, text, **options):
        path.write_bytes(text.encode()[:10])
        raise Stopped

    def savefig(figure, path, **options):
        path.write_bytes(b"<svg")
        raise Stopped

    def stop():
        monkeypatch.setattr("pathlib.PosixPath.write_text", write_text)
        monkeypatch.setattr(Figure, "savefig", savefig)

    return stop


def of_comparison(output, run, make_baselines):
    write_comparison([run], [make_baselines()], output)


def of_table(output, run, make_baselines):
    write_error_tables(output.with_name("comparison.csv"), [output])


def of_figure(output, run, make_baselines):
    figure, axes = new_figure(1, 1, size=(2, 2))
    axes[0, 0].plot([0, 1], [0, 1])
    save(figure, output)


def of_page(output, run, make_baselines):
    render("base.html.j2", output, root=output.parent, breadcrumbs=[])


@pytest.mark.every_format
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("new.csv", of_comparison),
        ("table.html", of_table),
        ("table.tex", of_table),
        ("table.csv", of_table),
        ("figure.svg", of_figure),
        ("figure.png", of_figure),
        ("page.html", of_page),
    ],
)
def test_a_write_that_fails_in_the_middle_leaves_the_old_file(
    make_run, make_baselines, stopped, tmp_path, name, write
):
    run = make_run()
    write_comparison([run], [], tmp_path / "comparison.csv")
    output = tmp_path / name
    output.write_text(OLD)
    before = set(tmp_path.iterdir())
    stopped()
    with pytest.raises(Stopped):
        write(output, run, make_baselines)
    assert output.read_bytes().decode() == OLD
    assert {path for path in tmp_path.iterdir() if path.is_file()} <= before
