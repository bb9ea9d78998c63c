"""Write the assets of a study's pages: style, script, and JavaScript libraries."""

from pathlib import Path

from resolvent.common.files import write_text

SOURCES = Path(__file__).parents[1] / "assets"
NAMES = sorted(path.name for path in SOURCES.iterdir())


def write_assets(folder: str | Path) -> None:
    for name in NAMES:
        write_text(Path(folder) / name, (SOURCES / name).read_text(encoding="utf-8"))
