"""What a table or figure of a paper is, what a paper is, and what their items are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from resolvent.common.errors import Words
from resolvent.figures.common.comparison import read_comparison
from resolvent.figures.common.exhibit import Exhibit
from resolvent.figures.common.results import choose_shown, read_arrays, read_runs
from resolvent.figures.published.tables import PaperTable

# What items are made from, by the names of their parameters; `cost_file` is the CSV of measured costs, which
# comes from no experiment.
READERS: dict[str, Callable] = {
    "experiments": lambda run_folders: [read_runs(one) for one in run_folders],
    "comparisons": lambda comparison_files: [read_comparison(one) for one in comparison_files],
    # The run that is shown of each experiment; of the only one.
    "each_shown": lambda candidates: [choose_shown(one) for one in candidates],
    "shown": lambda each_shown: each_shown[0],
    # Files beside the runs of the only experiment.
    "latent_basis": lambda shown: read_arrays(shown.run.directory / LATENT_BASIS),
    "rollouts": lambda experiments: experiments[0],
    "facts": lambda planned_facts, shown_words: planned_facts | {"shown": shown_words},
    "shown_words": lambda each_shown: "; ".join(dict.fromkeys(one.words for one in each_shown)),
}
LATENT_BASIS = "latent_basis.npz"
BESIDE = {"latent_basis": LATENT_BASIS, "rollouts": "rollout.npz"}  # the file of each run that an item reads


@dataclass(frozen=True)
class Item(Exhibit):
    """A table or figure of a paper.

    several  whether more than one experiment may give it.
    of       items whose experiments give it, where no experiment does so itself.
    table    in the paper's setting that ours is compared with; default: that of the runs' equation.
    remark   from the first row of the measured costs to what was run, in words, and the list of differences
             from the paper.
    """

    several: bool = False
    of: tuple[str, ...] = ()
    table: PaperTable | None = None
    remark: Callable[[dict], tuple[str, list[str]]] | None = None

    @property
    def shows_one_run(self) -> bool:
        """Say whether it shows one run of each of its experiments."""
        return bool(self.needs & {"shown", "each_shown", "latent_basis"})

    @property
    def of_costs(self) -> bool:
        """Say whether it is made from measured costs, and from no experiment."""
        return "cost_file" in self.needs

    @property
    def shown_by_experiments(self) -> bool:
        """Say whether an experiment may name it under `shows`."""
        return not self.of_costs and not self.of


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
