"""A write that fails in the middle leaves the old file whole, and nothing beside it."""

from functools import partial

import pytest
from matplotlib.figure import Figure

from resolvent.figures.common.page import render
from resolvent.figures.common.style import new_figure, save
from resolvent.figures.experiment.comparison import write_comparison
from resolvent.figures.experiment.error_table import write_error_tables

OLD = "of an earlier run\n"


class Stopped(Exception):
    """What a full disk or a kill would do, in the middle of a write."""


def stop_in_the_middle(patch):
    """Let writes of text and of figures stop after a few bytes."""

    def write(path, content):
        path.write_bytes(content)
        raise Stopped

    patch.setattr("pathlib.PosixPath.write_text", lambda path, text, **_: write(path, text.encode()[:10]))
    patch.setattr(Figure, "savefig", lambda figure, path, **_: write(path, b"<svg"))


@pytest.mark.every_format
@pytest.mark.parametrize(
    "name", ["new.csv", "table.html", "table.tex", "table.csv", "figure.svg", "figure.png", "page.html"]
)
def test_a_write_that_fails_in_the_middle_leaves_the_old_file(
    make_run, make_baselines, monkeypatch, tmp_path, name
):
    run, baselines, output = make_run(), make_baselines(), tmp_path / name
    write_comparison([run], [], tmp_path / "comparison.csv")
    figure, ((panel,),) = new_figure(1, 1, size=(2, 2))
    panel.plot([0, 1], [0, 1])
    output.write_text(OLD)
    before = set(tmp_path.iterdir())
    stop_in_the_middle(monkeypatch)
    writers = {
        "new": partial(write_comparison, [run], [baselines], output),
        "table": partial(write_error_tables, tmp_path / "comparison.csv", [output]),
        "figure": partial(save, figure, output),
        "page": partial(render, "base.html.j2", output, root=tmp_path, breadcrumbs=[]),
    }
    with pytest.raises(Stopped):
        writers[output.stem]()
    assert output.read_bytes().decode() == OLD
    assert {path for path in tmp_path.iterdir() if path.is_file()} <= before
