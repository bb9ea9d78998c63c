"""The examples of Cao 2021, and its tables of results."""

from resolvent.figures.papers.cao2021.recipe import CODE, PAPER, SETTING
from resolvent.figures.published.recipe import KEY, Condition
from resolvent.figures.published.tables import (
    Example,
    PaperTable,
    RecipeName,
    Source,
    reported_rows,
    rounded_to,
)


def parameters(recorded: dict, table: PaperTable | None = None) -> tuple[int, int] | None:
    """Return from Table 5 the lowest and highest number of parameters that round to the reported one.

    The number of parameters stands for the widths: it is the paper's own description of them. None where the
    paper has no such network.
    """
    row = network(recorded)
    if row is None:
        return None
    ends = [_thousands(end) for end in row["parameters"].split("-")]
    return ends[0][0], ends[-1][1]


def network(recorded: dict) -> dict[str, str] | None:
    """Return the row of Table 5 for a run."""
    if recorded.get("attention") == "none":
        return None
    rows = {row["architecture"]: row for row in reported_rows("cao2021_table5.csv")}
    return rows.get(recorded["architecture"])


def _thousands(digits: str) -> tuple[int, int]:
    """Read "550k" or "2.37m"."""
    return rounded_to(digits[:-1], {"k": 10**3, "m": 10**6}[digits[-1]])


SOURCE = Source(
    name="Cao 2021",
    citation="Cao 2021, arXiv:2105.14995",
    metric="relative_l2",
    statistic="mean",
    protocol="The paper's public code reports the best epoch on the test samples; here the epoch is chosen "
    "on validation samples.",
    counted="parameters",
    parameters=parameters,
)
_REGULAR = {"model.attention": "galerkin", "model.layer_norm": "regular"}
_ZETA: dict[RecipeName, str] = {"paper": "attention_dropout", "code": "residual_dropout"}
TABLE_2A = PaperTable(
    "Table 2a",
    "cao2021_table2a.csv",
    1e-3,
    # Section C.2. On 2048 points Table 8 has the same number without dropout.
    recipes={
        "paper": ((_REGULAR, {"model.attention_dropout": 0.1}),),
        "code": ((_REGULAR, {"model.residual_dropout": 0.1}),),
    },
)
TABLE_2B = PaperTable("Table 2b", "cao2021_table2b.csv", 1e-2)
TABLE_3 = PaperTable("Table 3", "cao2021_table3.csv", 1e-2, where=(({}, {"training.noise": KEY}),))
TABLE_6 = PaperTable("Table 6", "cao2021_table6.csv", 1.0)
TABLE_8 = PaperTable(
    "Table 8",
    "cao2021_table8.csv",
    1e-3,
    where=(
        ({}, {"model.projection_gain": KEY, "model.projection_diagonal": KEY}),
        ({"model.layer_norm": "projection"}, {"model.feedforward_dropout": 0.0}),
    ),
    columns={"zeta": _ZETA},
)
# The text prints another final time than that of the data behind its numbers (docs/equations/burgers.md).
BURGERS_OPERATOR = ("data.viscosity", "data.final_time")
RECIPES: dict[RecipeName, tuple[Condition, ...]] = {"paper": PAPER, "code": CODE}
EXAMPLES = tuple(
    Example(
        title=title,
        source=SOURCE,
        section=section,
        marks={"data.equation": equation},
        setting=SETTING,
        recipes=RECIPES,
        tables=tables,
        operator=operator,
    )
    for title, section, equation, tables, operator in (
        ("Burgers' equation", "5.1", "burgers", (TABLE_2A, TABLE_8), BURGERS_OPERATOR),
        ("Darcy flow", "5.2", "darcy", (TABLE_2B,), ()),
        ("Inverse Darcy problem", "5.3", "darcy_inverse", (TABLE_3,), ()),
    )
)
