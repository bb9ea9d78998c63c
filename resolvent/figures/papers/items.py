"""Classes for papers, and for their tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from resolvent.figures.published.tables import PaperTable

if TYPE_CHECKING:
    from resolvent.figures.common.exhibit import Exhibit

# File in the folder of each run, by source name.
RUN_FILES = {"latent_basis": "latent_basis.npz"}


def imported(location: str) -> Callable:
    """Return the function at "module:function"."""
    module, _, name = location.partition(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper: an exhibit imported only when drawn, because plans list all items.

    draw     "module:function", the exhibit's `draw`.
    kind     "figure" or "table".
    several  whether several experiments may be shown together.
    of       items whose experiments are used if no experiment lists this item.
    table    the paper's table for comparison; default: the table of the runs' equation.
    remark   only for items from measured costs, which have no experiment: "module:function". From the first
             row of costs, it returns a description of the measurement and the differences from the paper.
    """

    title: str
    caption: str
    draw: str
    kind: str = "figure"
    several: bool = False
    of: tuple[str, ...] = ()
    table: PaperTable | None = None
    remark: str = ""

    @cached_property
    def exhibit(self) -> Exhibit:
        from resolvent.figures.common.exhibit import Exhibit

        return Exhibit(self.title, self.caption, imported(self.draw), kind=self.kind)

    @property
    def shows_one_run(self) -> bool:
        return bool(self.exhibit.needs & {"shown", "each_shown", "latent_basis"})

    @property
    def shown_by_experiments(self) -> bool:
        """Return whether an experiment may list this item under `shows`."""
        return not self.remark and not self.of


@dataclass(frozen=True)
class Paper:
    """A paper's tables and figures by name, in the paper's order.

    name       short name, such as "Cao 2021".
    reference  citation on the page, in HTML.
    protocol   comparison of our protocol with the paper's, in HTML.
    costs      rule that measures the costs in its items, such as `measure_cost`.
    samples    names of its figures of test samples: for functions of space, and for trajectories.
    """

    name: str
    reference: str
    protocol: str
    items: Mapping[str, Item]
    costs: str = ""
    samples: tuple[str, str] = ("", "")
