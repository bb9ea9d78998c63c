"""The tables and figures of Cao 2021 (arXiv:2105.14995): what each is called, made by and made from."""

from resolvent.figures.papers.cao2021.reported import TABLE_2A, TABLE_2B, TABLE_3, TABLE_6, TABLE_8
from resolvent.figures.papers.items import Item, Paper

SAMPLES = "resolvent.figures.experiment.samples:draw_samples"
ITEMS: dict[str, Item] = {
    "table1": Item(
        "Table 1. Memory, speed and operations of the attentions",
        "resolvent.figures.papers.cao2021.step_costs:write_step_costs",
        takes="cost",
        remark="resolvent.figures.papers.cao2021.step_costs:remark",
    ),
    "table2a": Item(
        "Table 2a. Burgers' equation",
        "resolvent.figures.papers.cao2021.errors:write_burgers",
        takes="comparisons",
        table=TABLE_2A,
    ),
    "table2b": Item(
        "Table 2b. Darcy flow",
        "resolvent.figures.papers.cao2021.errors:write_darcy",
        takes="comparisons",
        table=TABLE_2B,
    ),
    "table3": Item(
        "Table 3. Inverse identification of the coefficient",
        "resolvent.figures.papers.cao2021.errors:write_inverse",
        takes="comparisons",
        several=True,
        table=TABLE_3,
    ),
    "table5": Item(
        "Table 5. Sizes of the networks",
        "resolvent.figures.papers.cao2021.sizes:write_sizes",
        of=("table2a", "table2b", "table3"),
    ),
    "table6": Item(
        "Table 6. Hours of training",
        "resolvent.figures.papers.cao2021.hours:write_hours",
        several=True,
        table=TABLE_6,
    ),
    "table8": Item(
        "Table 8. Layer norm, initialisation and dropout of the Galerkin transformer",
        "resolvent.figures.papers.cao2021.ablation:write_ablation",
        table=TABLE_8,
    ),
    "figure8a": Item(
        "Figure 8a. Training on Darcy flow, by seed",
        "resolvent.figures.papers.cao2021.convergence:draw_convergence",
    ),
    "figure8b": Item(
        "Figure 8b. Training on Burgers' equation, by seed",
        "resolvent.figures.papers.cao2021.convergence:draw_convergence",
    ),
    "figure9": Item("Figure 9. Test samples of Burgers' equation", SAMPLES, takes="shown"),
    "figure10": Item("Figure 10. Test samples of Darcy flow", SAMPLES, takes="shown"),
    "figure11": Item(
        "Figure 11. The coefficient recovered from noisy measurements",
        "resolvent.figures.papers.cao2021.noise:draw_noise_levels",
        takes="each_shown",
        several=True,
    ),
    "figure12": Item(
        "Figure 12. Noise in training against noise in evaluation",
        "resolvent.figures.papers.cao2021.noise:draw_noise_transfer",
        takes="each_shown",
        several=True,
    ),
    "figure13": Item(
        "Figure 13. Latent basis functions",
        "resolvent.figures.papers.cao2021.latent_basis:draw_latent_basis",
        takes="of_shown",
        file="latent_basis.npz",
    ),
}

CAO2021 = Paper(
    "Cao 2021",
    "S. Cao, <em>Choose a Transformer: Fourier or Galerkin</em> (NeurIPS 2021, arXiv:2105.14995)",
    "A reported number stands beside ours only where the run has the paper's setting; elsewhere there is a "
    "dash: hover over it to see what differs. Ours is the error at the epoch that validation samples "
    "chose. The paper's public code reports the best epoch on the test samples: where runs have recorded it, "
    "ours by that protocol is a column of its own, to compare with the paper's number and with nothing else.",
    ITEMS,
)
