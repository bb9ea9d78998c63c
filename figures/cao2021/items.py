"""The tables and figures of Cao 2021 (arXiv:2105.14995): what each is called, made by and made from."""

from figures.cao2021.printed import TABLE_2A, TABLE_2B, TABLE_3, TABLE_6, TABLE_8
from figures.items import Item, Paper

SAMPLES = "figures.samples:draw_samples"
ITEMS: dict[str, Item] = {
    "table1": Item(
        "Table 1. Memory, speed and operations of the attentions",
        "figures.cao2021.step_costs:write_step_costs",
        takes="cost",
        told="figures.cao2021.step_costs:told",
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
        takes="of_shown",
        file="latent_basis.npz",
    ),
}

CAO2021 = Paper(
    "Cao 2021",
    "S. Cao, <em>Choose a Transformer: Fourier or Galerkin</em> (NeurIPS 2021, arXiv:2105.14995)",
    "A printed number stands beside ours only where the run has the paper's setting; elsewhere there is a "
    "dash, which says on hovering what differs. Ours is the error at the epoch that validation samples "
    "chose. The paper's public code reports the best epoch on the test samples: where runs have recorded it, "
    "ours by that protocol is a column of its own, to compare with the paper's number and with nothing else.",
    ITEMS,
)
