"""What the pages of a study load from the folder beside them: style, script, and the libraries for it."""

from pathlib import Path

from resolvent.common.files import write_text

SOURCES = Path(__file__).parents[1] / "assets"
PLOTLY_LICENCE = """\
plotly.min.js is the file that the Python package plotly carries, unchanged: plotly.js, (c) Plotly, Inc.,
under the MIT licence, https://github.com/plotly/plotly.js/blob/master/LICENSE. Its first lines name its
version.
"""
NAMES = (
    "style.css",
    "page.js",
    "samples.js",
    "compare.js",
    "sortable.js",
    "sortable.LICENSE.txt",
    "plotly.min.js",
    "plotly.LICENSE.txt",
)


def write_assets(folder: str | Path) -> None:
    """Write the files `NAMES` into the folder."""
    # The plan of a workflow imports this module, too, and needs no plotly.
    from plotly.offline import get_plotlyjs

    for name in NAMES:
        text = {"plotly.min.js": get_plotlyjs, "plotly.LICENSE.txt": lambda: PLOTLY_LICENCE}.get(name)
        write_text(Path(folder) / name, text() if text else (SOURCES / name).read_text(encoding="utf-8"))
