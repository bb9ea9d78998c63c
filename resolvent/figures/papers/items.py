"""What a table or figure of a paper is: its title, what makes it and from what."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from resolvent.figures.published.tables import PaperTable


def loaded(location: str) -> Callable:
    """Return the function at "module:function", imported only now."""
    module, function = location.split(":")
    return getattr(import_module(module), function)


@dataclass(frozen=True)
class Item:
    """A table or figure.

    location  of its writer or drawer, "module:function", which is imported only when called:
              function(*source, output), with the files to write (tables) or one of them (figures) as output.
    takes     the source. "runs": the run folders of each experiment, a list of lists. "comparisons": the
              comparison CSV of each experiment, and these run folders. "shown": the folders of the one
              experiment, of which one is shown (`figures.common.shown`), the configured first. "each_shown":
              those of each experiment, a list of lists. "of_shown": as "shown", each with `file`. "of_each":
              the folders of the one experiment, each with `file`. "cost": the CSV of measured costs, from no
              experiment.
    file      of each run.
    several   whether more than one experiment may give it.
    of        items whose experiments give it, where no experiment does so itself.
    caption   what it shows, and what the paper did otherwise; braces as of the captions of a report, and
              {shown} for the run that is shown of each experiment.
    table     in the paper's setting that ours is compared with; default: that of the runs' equation.
    remark    location of a function from the first row of the measured costs to what was run, in words, and
              the list of differences from the paper.
    """

    title: str
    location: str
    takes: Literal["runs", "comparisons", "shown", "each_shown", "of_shown", "of_each", "cost"] = "runs"
    file: str = ""
    several: bool = False
    of: tuple[str, ...] = ()
    table: PaperTable | None = None
    remark: str = ""
    caption: str = ""

    @property
    def module(self) -> str:
        return self.location.partition(":")[0]

    @property
    def shows_one_run(self) -> bool:
        """Whether it shows one run of each of its experiments."""
        return self.takes in ("shown", "each_shown", "of_shown")

    @property
    def shown_by_experiments(self) -> bool:
        """Whether an experiment may name it under `shows`."""
        return self.takes != "cost" and not self.of


@dataclass(frozen=True)
class Paper:
    """A paper's tables and figures, by name and in its order.

    name       for short, "Cao 2021".
    reference  how the page cites it, in HTML.
    protocol   how ours compares with its numbers, in HTML.
    """

    name: str
    reference: str
    protocol: str
    items: dict[str, Item]
