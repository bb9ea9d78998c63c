"""What Heat (2026) reports, and the setting behind it."""

from pathlib import Path

from resolvent.figures.published.recipe import KEY, Free, when
from resolvent.figures.published.tables import Example, PaperTable, Source

TABLE_1 = PaperTable("Table 1", Path(__file__).parent / "tables/table1.csv", unit=1.0)
OURS = Free("the paper leaves it open")
SETTING = (
    when(
        {},
        source="section 2",
        run={"architecture": KEY, "resolution": KEY, "grids": "stored", "coarse_points": None},
        training={"epochs": 2},
    ),
    when(
        {},
        source="not found: any other setting",
        run={"data": OURS, "model": OURS, "training": OURS, "computation": OURS},
    ),
)
SOURCE = Source(
    name="Heat 2026",
    citation="A. Author, Heat (2026)",
    metric="relative_l2",
    statistic="mean",
    protocol="The paper reports the mean over the test samples.",
    counted="parameters",
    parameters=lambda recorded, table: None,
)
MARKS = {"data.equation": "my_lab.heat:HeatDataset"}
EXAMPLES = (Example("The heat equation", "2", MARKS, (TABLE_1,), SOURCE, SETTING),)
