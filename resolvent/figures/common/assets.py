"""What the pages of a study load from the folder beside them: style, script, and the libraries for it."""

from pathlib import Path

from resolvent.common.files import write_text

SOURCES = Path(__file__).parents[1] / "assets"
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
    for name in NAMES:
        write_text(Path(folder) / name, (SOURCES / name).read_text(encoding="utf-8"))
