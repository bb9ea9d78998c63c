"""The tables and figures of Calvello et al. 2024 (arXiv:2406.06486), and what we show beside them."""

from resolvent.figures.papers.items import Item, Paper

HERE = "resolvent.figures.papers.calvello2024"
REMARK = f"{HERE}.architecture_costs:remark"
ITEMS: dict[str, Item] = {
    "table1": Item(
        "Table 1. Attention at low resolution",
        f"{HERE}.errors:write_low_resolution",
        takes="comparisons",
    ),
    "table2": Item(
        "Table 2. How the cost of an evaluation grows",
        f"{HERE}.architecture_costs:write_growth",
        takes="cost",
        remark=REMARK,
    ),
    "table3": Item(
        "Table 3. Errors at high resolution",
        f"{HERE}.errors:write_high_resolution",
        takes="comparisons",
        several=True,
    ),
    "table4": Item(
        "Table 4. Parameters, by formula and counted",
        f"{HERE}.architecture_costs:write_parameters",
        takes="cost",
        remark=REMARK,
    ),
    "table5": Item(
        "Table 5. Operations, by formula and counted",
        f"{HERE}.architecture_costs:write_operations",
        takes="cost",
        remark=REMARK,
    ),
    "figure6": Item(
        "Figure 6. Unobserved components of Lorenz-63",
        f"{HERE}.trajectories:draw_on_training_grid",
        takes="shown",
    ),
    "figure7": Item(
        "Figure 7. Other time steps than in training",
        f"{HERE}.time_steps:draw_time_steps",
        takes="comparisons",
        several=True,
    ),
    "figure8": Item(
        "Figure 8. Unevenly spaced times, weighted attention",
        f"{HERE}.trajectories:draw_uneven_weighted",
    ),
    "figure9": Item(
        "Figure 9. Unevenly spaced times, attention without weights",
        f"{HERE}.trajectories:draw_uneven_unweighted",
    ),
    "figure10": Item(
        "Figure 10. Error against parameters",
        f"{HERE}.cost_accuracy:draw_against_parameters",
        takes="comparisons",
        several=True,
    ),
    "figure11": Item(
        "Figure 11. Error against operations",
        f"{HERE}.cost_accuracy:draw_against_operations",
        takes="comparisons",
        several=True,
    ),
    "figure12": Item(
        "Figure 12. Lognormal Darcy flow, median and worst sample",
        f"{HERE}.extreme_fields:draw_answers",
        takes="shown",
    ),
    "figure13": Item(
        "Figure 13. Piecewise constant Darcy flow, median and worst sample",
        f"{HERE}.extreme_fields:draw_answers",
        takes="shown",
    ),
    "figure14": Item(
        "Figure 14. Lognormal Darcy flow on other grids",
        f"{HERE}.other_grids:draw_other_grids",
        takes="comparisons",
        several=True,
    ),
    "figure15": Item(
        "Figure 15. Piecewise constant Darcy flow on other grids",
        f"{HERE}.other_grids:draw_other_grids",
        takes="comparisons",
    ),
    "figure16": Item(
        "Figure 16. Kolmogorov flow, median and worst sample",
        f"{HERE}.extreme_fields:draw_increments",
        takes="shown",
    ),
    "figure17": Item(
        "Figure 17. Kolmogorov flow on other grids",
        f"{HERE}.other_grids:draw_other_grids",
        takes="comparisons",
    ),
    "figure18": Item(
        "Figure 18. Kolmogorov flow with the inverse Laplacian last",
        f"{HERE}.extreme_fields:draw_smoothed_increments",
    ),
    "figure19": Item(
        "Figure 19. Patches extended periodically",
        f"{HERE}.other_grids:draw_extended",
        takes="comparisons",
    ),
    "figure_spectra": Item(
        "Beside the paper. Error by wavenumber",
        f"{HERE}.spectra:draw_spectra",
        several=True,
    ),
    "figure_jumps": Item(
        "Beside the paper. Jumps between patches",
        f"{HERE}.jumps:draw_jumps",
        several=True,
    ),
    "figure_paired": Item(
        "Beside the paper. The same samples on two grids",
        f"{HERE}.paired_grids:draw_paired_grids",
        several=True,
    ),
    "figure_rollouts": Item(
        "Beside the paper. The step applied again and again",
        f"{HERE}.rollouts:draw_rollouts",
        takes="of_each",
        file="rollout.npz",
    ),
}

CALVELLO2024 = Paper(
    "Calvello et al. 2024",
    "E. Calvello, N. B. Kovachki, M. E. Levine and A. M. Stuart, <em>Continuum Attention for Neural "
    "Operators</em> (arXiv:2406.06486)",
    "The paper reports medians over test samples, of fields that are standardised by one mean and one "
    "standard deviation of the training samples: where a reported number is quoted, ours in the same terms "
    "stands beside it. "
    "Everywhere else errors are in physical units, which are smaller, and means over samples.",
    ITEMS,
)
