"""A write that fails in the middle leaves the old file whole, and nothing beside it."""

import pandas as pd
import pytest
from matplotlib.figure import Figure

from resolvent.common.runs import save_table
from resolvent.figures.common.page import render
from resolvent.figures.common.style import new_figure, save
from resolvent.figures.common.table import Cell, Column, Table, write_table

OLD = "of an earlier run\n"
WRITERS = {
    "comparison.csv": lambda output: save_table(pd.DataFrame({"a": [1]}), output),
    **{
        f"table.{suffix}": lambda output: write_table(Table([Column("a")], [[Cell("b")]]), [output])
        for suffix in ("html", "tex", "csv")
    },
    "figure.svg": lambda output: save(new_figure(1, 1, size=(2, 2))[0], output),
    "page.html": lambda output: render(
        "base.html.j2", output, root=output.parent, breadcrumbs=[], title="", sections=[]
    ),
}


class Stopped(Exception):
    """What a full disk or a kill would do, in the middle of a write."""


@pytest.mark.parametrize("name", WRITERS)
def test_a_write_that_fails_in_the_middle_leaves_the_old_file(monkeypatch, tmp_path, name):
    def write(path, content):
        path.write_bytes(content)
        raise Stopped

    output = tmp_path / name
    output.write_text(OLD)
    monkeypatch.setattr(
        "pathlib.PosixPath.write_text", lambda path, text, **_: write(path, text.encode()[:3])
    )
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **_: write(path, b"<svg"))
    with pytest.raises(Stopped):
        WRITERS[name](output)
    assert output.read_bytes().decode() == OLD
    assert list(tmp_path.iterdir()) == [output]
