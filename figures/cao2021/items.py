"""The tables and figures of Cao 2021 (arXiv:2105.14995): what each is called, made by and made from."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from figures.reported import TABLE_2A, TABLE_2B, TABLE_3, TABLE_6, TABLE_8, PaperTable

PAPER = "cao2021"


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper.

    location  of its writer or drawer, "module:function", which is imported only when called:
              function(*source, output), with the files to write (tables) or one of them (figures) as output.
    takes     the source. "runs": the run folders of each experiment, a list of lists. "comparisons": the
              comparison CSV of each experiment, and these run folders. "shown": the folder of the one run
              whose predictions the experiment shows. "each_shown": that of each experiment, a list of lists
              of one. "latent_basis": the file of that run's. "cost": the CSV of the costs of a step, from no
              experiment.
    several   whether more than one experiment may give it.
    of        items whose experiments give it, where no experiment does so itself.
    table     in the paper's setting of which ours is told to differ; default: that of the runs' equation.
    """

    title: str
    location: str
    takes: Literal["runs", "comparisons", "shown", "each_shown", "latent_basis", "cost"] = "runs"
    several: bool = False
    of: tuple[str, ...] = ()
    table: PaperTable | None = None

    @property
    def module(self) -> str:
        return self.location.partition(":")[0]

    @property
    def shown_by_experiments(self) -> bool:
        """Whether an experiment may name it under `shows`."""
        return self.takes != "cost" and not self.of

    def load(self) -> Callable:
        """The writer or drawer."""
        module, function = self.location.split(":")
        return getattr(import_module(module), function)


SAMPLES = "figures.samples:draw_samples"
ITEMS: dict[str, Item] = {
    "table1": Item(
        "Table 1. Memory, speed and operations of the attentions",
        "figures.cao2021.step_costs:write_step_costs",
        takes="cost",
    ),
    "table2a": Item(
        "Table 2a. Burgers' equation",
        "figures.cao2021.errors:write_burgers",
        takes="comparisons",
        table=TABLE_2A,
    ),
    "table2b": Item(
        "Table 2b. Darcy flow",
        "figures.cao2021.errors:write_darcy",
        takes="comparisons",
        table=TABLE_2B,
    ),
    "table3": Item(
        "Table 3. Inverse identification of the coefficient",
        "figures.cao2021.errors:write_inverse",
        takes="comparisons",
        several=True,
        table=TABLE_3,
    ),
    "table5": Item(
        "Table 5. Sizes of the networks",
        "figures.cao2021.sizes:write_sizes",
        of=("table2a", "table2b", "table3"),
    ),
    "table6": Item(
        "Table 6. Hours of training", "figures.cao2021.hours:write_hours", several=True, table=TABLE_6
    ),
    "table8": Item(
        "Table 8. Layer norm, initialisation and dropout of the Galerkin transformer",
        "figures.cao2021.ablation:write_ablation",
        table=TABLE_8,
    ),
    "figure8a": Item(
        "Figure 8a. Training on Darcy flow, by seed", "figures.cao2021.convergence:draw_convergence"
    ),
    "figure8b": Item(
        "Figure 8b. Training on Burgers' equation, by seed", "figures.cao2021.convergence:draw_convergence"
    ),
    "figure9": Item("Figure 9. Test samples of Burgers' equation", SAMPLES, takes="shown"),
    "figure10": Item("Figure 10. Test samples of Darcy flow", SAMPLES, takes="shown"),
    "figure11": Item(
        "Figure 11. The coefficient recovered from noisy measurements",
        "figures.cao2021.noise:draw_noise_levels",
        takes="each_shown",
        several=True,
    ),
    "figure12": Item(
        "Figure 12. Noise in training against noise in evaluation",
        "figures.cao2021.noise:draw_noise_transfer",
        takes="each_shown",
        several=True,
    ),
    "figure13": Item(
        "Figure 13. Latent basis functions",
        "figures.cao2021.latent_basis:draw_latent_basis",
        takes="latent_basis",
    ),
}
