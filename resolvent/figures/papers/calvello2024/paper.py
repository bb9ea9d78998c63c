"""Tables and figures of Calvello et al. 2024 (arXiv:2406.06486)."""

from functools import partial

from resolvent.figures.papers.items import Item, Paper

HERE = "resolvent.figures.papers.calvello2024"
TABLE = partial(Item, kind="table", several=True)
PANELS = partial(Item, several=True)  # one for each experiment
COUNTED = partial(Item, kind="table", remark=f"{HERE}.tables:remark")
ANSWERS = (
    "{shown}: {input}, {target}, prediction and absolute error of the test samples with the median and the "
    "largest error."
)
OTHER_GRIDS = (
    "Median relative L² error of models trained on one grid and tested on other grids without retraining, "
    "with the same functions on each grid. Each line is the first finished model of an architecture. The "
    "large marker and the dotted line mark the training grid. AFNO works on one grid only."
)
ITEMS = {
    "table1": TABLE(
        "Table 1. Attention at low resolution",
        "Median relative L² error of standardised fields over all test samples and seeds, in units of 10⁻², "
        "with its 95 % interval, and the mean error in physical units, on the finest training grid. The two "
        "versions of the paper differ in the distribution of the coefficient and in the FNO, whose complex "
        "parameters count as two in the first version; our results for each version have their own columns. "
        "Baselines are below the rule.",
        f"{HERE}.tables:draw_low_resolution",
    ),
    "table2": COUNTED(
        "Table 2. Growth of the cost of an evaluation",
        "Slopes of log operations against log N at the largest width, and against log d on the finest grid, "
        "where N is the number of grid points and d the width: as counted, and by the formulas of Table 5 at "
        "the same sizes. The numbers of patches P and of modes are fixed. A sum of a linear and a quadratic "
        "term has a slope between 1 and 2.",
        f"{HERE}.tables:draw_growth",
    ),
    "table3": TABLE(
        "Table 3. Errors at high resolution",
        "Median relative L² error of standardised fields over all test samples and seeds, in units of 10⁻³, "
        "with its 95 % interval, on the finest training grid. The first version on arXiv has another "
        "distribution of Darcy coefficients (in separate columns), another FNO and no AFNO. Of models that "
        "differ only in width, the widest is shown. Baselines are below the rule.",
        f"{HERE}.tables:draw_high_resolution",
    ),
    "table4": COUNTED(
        "Table 4. Parameters, by formula and counted",
        "The paper's formulas omit biases and the terms in the last column. The feed-forward networks have d "
        "hidden channels, as in the formulas; in the public code they have 128 at every width. AFNO has a "
        "learned table with a row for each point of its grid.",
        f"{HERE}.tables:draw_parameters",
    ),
    "table5": COUNTED(
        "Table 5. Operations, by formula and counted",
        "Operations at the largest width. A multiply-add of a matrix product or a convolution counts as two, "
        "complex or real. The count excludes FFTs and pointwise operations; the formulas include FFTs, whose "
        "share is in small print. Logarithms are to base 2. For the patched operators, the points per side "
        "must be a multiple of the patches per side.",
        f"{HERE}.tables:draw_operations",
    ),
    "figure6": Item(
        "Figure 6. Unobserved components of Lorenz-63",
        "{shown}: the {target} of Lorenz-63 from the trajectory of x and the initial values of the other "
        "components, for the test samples with the median and the largest error. The paper reports, for 1000 "
        "test samples and standardised functions, a median error of 8.73 × 10⁻³ and a largest of "
        "8.72 × 10⁻²; below the panels are our errors of standardised functions. The two samples are "
        "selected by errors in physical units, which are above the panels.",
        f"{HERE}.figures:draw_on_training_grid",
    ),
    "figure7": PANELS(
        "Figure 7. Time steps other than the training step",
        "Relative L² errors of the test samples against the time step; the large marker and the dotted line "
        "mark the training step. Solid and filled: median over samples and seeds; dotted and hollow: mean. "
        "To the right of the equal steps: times whose steps double halfway (eq. 41), and random times. The "
        "paper shows only equal steps and weighted attention. Without weights, attention counts every point "
        "equally, however close its neighbours are.",
        f"{HERE}.figures:draw_time_steps",
    ),
    "figure8": Item(
        "Figure 8. Unevenly spaced times, weighted attention",
        "Attention with quadrature weights, trained on equal time steps and tested on times whose steps "
        "double halfway (eq. 41): the test samples with the median and the largest error, by the first "
        "finished run. The axes are those of Figure 9.",
        f"{HERE}.figures:draw_uneven_weighted",
    ),
    "figure9": Item(
        "Figure 9. Unevenly spaced times, attention without weights",
        "As Figure 8, without the weights: the transformer of Vaswani et al. (2017). The paper reports, for "
        "standardised functions, a median error of 2.74 × 10⁻² and a largest of 6.30 × 10⁻²; below the "
        "panels are our errors of standardised functions. Compare them with those below Figure 8.",
        f"{HERE}.figures:draw_uneven_unweighted",
    ),
    "figure10": PANELS(
        "Figure 10. Error against parameters",
        "Median error of standardised fields, with its 95 % interval, against the number of parameters. Each "
        "line is an architecture, and each point a width, written next to it. Both axes are logarithmic.",
        f"{HERE}.figures:draw_against_parameters",
    ),
    "figure11": PANELS(
        "Figure 11. Error against operations",
        "As Figure 10, against the operations of one forward pass of one sample: two for each multiply-add "
        "of matrix products and convolutions. The FFTs of FNO and AFNO are not counted.",
        f"{HERE}.figures:draw_against_operations",
    ),
    "figure12": Item(
        "Figure 12. Lognormal Darcy flow, median and worst sample",
        f"{ANSWERS} Errors share a logarithmic scale of four decades; truth and prediction share the scale "
        "of the truth.",
        f"{HERE}.figures:draw_answers",
    ),
    "figure13": Item(
        "Figure 13. Piecewise constant Darcy flow, median and worst sample",
        f"{ANSWERS} The paper reports, on 416 points per side and for standardised functions, a median error "
        "of 1.38 × 10⁻² and a largest of 2.43 × 10⁻²; below the panels are our errors of standardised "
        "functions.",
        f"{HERE}.figures:draw_answers",
    ),
    "figure14": PANELS(
        "Figure 14. Lognormal Darcy flow on other grids",
        f"{OTHER_GRIDS} Upper panel (left in the paper): trained on 64 points per side; lower panel: on 416. "
        "The paper does not list its grids.",
        f"{HERE}.figures:draw_other_grids",
    ),
    "figure15": Item(
        "Figure 15. Piecewise constant Darcy flow on other grids",
        OTHER_GRIDS,
        f"{HERE}.figures:draw_other_grids",
    ),
    "figure16": Item(
        "Figure 16. Kolmogorov flow, median and worst sample",
        "{shown}: {input}, the absolute differences of {target} and of the prediction from it, and the "
        "absolute error, for the test samples with the median and the largest error. Errors share a "
        "logarithmic scale of four decades; both differences share the scale of the true difference.",
        f"{HERE}.figures:draw_increments",
    ),
    "figure17": Item(
        "Figure 17. Kolmogorov flow on other grids", OTHER_GRIDS, f"{HERE}.figures:draw_other_grids"
    ),
    "figure18": Item(
        "Figure 18. Kolmogorov flow with an inverse Laplacian as the last layer",
        "As Figure 16, for the Fourier attention neural operator with (I - εΔ)^(-α) as its last layer "
        "instead of the learned smoother, by the first finished run. The paper states that this layer "
        "reduces jumps between patches and the error; the error is in Table 3.",
        f"{HERE}.figures:draw_smoothed_increments",
    ),
    "figure19": Item(
        "Figure 19. Periodic extension of the patches",
        "Median relative L² error on grids other than the training grid, for two models that differ only in "
        "whether patches are extended to periodic functions before their Fourier modes are computed. Both "
        "have the same last layer. The paper reports a flatter curve with the extension.",
        f"{HERE}.figures:draw_extended",
    ),
}

PAPER = Paper(
    "Calvello et al. 2024",
    "E. Calvello, N. B. Kovachki, M. E. Levine and A. M. Stuart, <em>Continuum Attention for Neural "
    "Operators</em> (arXiv:2406.06486)",
    "The paper reports medians over test samples but does not define the error. Its public code standardises "
    "fields by one mean and one standard deviation: in two dimensions those of the training samples, in one "
    "dimension those of each split. Next to a reported number, the page therefore shows our error of fields "
    "standardised by the training samples. All other errors are means over samples in physical units, where "
    "they are smaller.",
    ITEMS,
    costs="measure_architectures",
    samples=("", "Fig. 6"),
)
