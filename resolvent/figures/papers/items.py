"""What a paper is, and a table or figure of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from resolvent.common.errors import Words
from resolvent.figures.published.tables import PaperTable

if TYPE_CHECKING:
    from resolvent.figures.common.exhibit import Exhibit

# The file of each run that an item reads, by the name of its source.
BESIDE = {"latent_basis": "latent_basis.npz", "rollouts": "rollout.npz"}


def imported(location: str) -> Callable:
    """Return the function at "module:function"."""
    module, _, name = location.partition(":")
    return getattr(import_module(module), name)


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper: an exhibit that is imported when it is drawn, for plans know every item.

    draw     "module:function", of the `draw` of an exhibit.
    kind     "figure" or "table".
    several  whether more than one experiment may give it.
    of       items whose experiments give it, where no experiment does so itself.
    table    in the paper's setting that ours is compared with; default: that of the runs' equation.
    remark   of what is made from measured costs, and from no experiment: "module:function" from the first row
             of them to what was run, in words, and the list of differences from the paper.
    """

    title: Words
    caption: Words
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
        """Say whether an experiment may name it under `shows`."""
        return not self.remark and not self.of


@dataclass(frozen=True)
class Paper:
    """A paper's tables and figures, by name and in its order.

    name       for short, "Cao 2021".
    reference  how the page cites it, in HTML.
    protocol   how ours compares with its numbers, in HTML.
    costs      rule that measures what its items of costs are made from, `measure_cost`.
    samples    its figures like ours of test samples, in words: of functions of space, of trajectories.
    """

    name: str
    reference: Words
    protocol: Words
    items: Mapping[str, Item]
    costs: str = ""
    samples: tuple[str, str] = ("", "")
