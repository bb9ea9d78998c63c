"""Tables and figures of Calvello et al. 2024 (arXiv:2406.06486), and additional figures."""

from functools import partial

from resolvent.figures.papers.items import Item, Paper

HERE = "resolvent.figures.papers.calvello2024"
TABLE = partial(Item, kind="table", several=True)
PANELS = partial(Item, several=True)  # one for each experiment
COUNTED = partial(Item, kind="table", remark=f"{HERE}.tables:remark")
ANSWERS = (
    "{shown}: {input}, {target}, prediction and absolute error of the test sample of median error and of "
    "that of the largest."
)
OTHER_GRIDS = (
    "Median relative L² error of models trained on one grid and tested unchanged on others, the same "
    "functions on each; the first model of each architecture that finished. The large marker and the dotted "
    "line are at the grid of training. AFNO is for one grid."
)
ITEMS = {
    "table1": TABLE(
        "Table 1. Attention at low resolution",
        "Median over all test samples and seeds of the relative L² error of standardised fields in units of "
        "10⁻², with its 95 % interval, and the mean error in physical units; on the finest grid of training. "
        "The two versions of the paper differ in the distribution of the coefficient and in the FNO, whose "
        "complex parameters the first counts twice; ours of either have columns of their own. Below the rule "
        "are baselines.",
        f"{HERE}.tables:draw_low_resolution",
    ),
    "table2": COUNTED(
        "Table 2. How the cost of an evaluation grows",
        "Slopes of log operations against log N, the points of the grid, at the largest width, and against "
        "log d, the width, on the finest grid; as counted, and by the formulas of Table 5 at the same sizes. "
        "Patches P and modes stay what they are. A sum of a linear and a quadratic term has a slope between.",
        f"{HERE}.tables:draw_growth",
    ),
    "table3": TABLE(
        "Table 3. Errors at high resolution",
        "Median over all test samples and seeds of the relative L² error of standardised fields in units of "
        "10⁻³, with its 95 % interval, on the finest grid of training. The first version on arXiv has Darcy "
        "coefficients of another distribution, in columns of their own, another FNO and no AFNO. Of models "
        "that differ only in width, the widest is shown. Below the rule are baselines.",
        f"{HERE}.tables:draw_high_resolution",
    ),
    "table4": COUNTED(
        "Table 4. Parameters, by formula and counted",
        "The paper's formulas leave out biases and more, which the last column names. The feed-forward "
        "networks have d hidden channels, as the formulas have it; the public code has 128 at any width. "
        "AFNO has a learned table with a row for each point of its grid.",
        f"{HERE}.tables:draw_parameters",
    ),
    "table5": COUNTED(
        "Table 5. Operations, by formula and counted",
        "Two operations for a multiplication and an addition of a matrix product or a convolution, complex "
        "ones like real ones, at the largest width. Counted are neither FFTs nor pointwise work; the "
        "formulas have FFTs, whose share stands in small print. Logarithms are to the base 2. The patched "
        "operators need grids that the patches divide.",
        f"{HERE}.tables:draw_operations",
    ),
    "figure6": Item(
        "Figure 6. Unobserved components of Lorenz-63",
        "{shown}: the {target} of Lorenz-63 from the trajectory of x and the initial values of the others; "
        "the test sample of median error and that of the largest. In the paper, of 1000 test samples and "
        "standardised functions: median 8.73 × 10⁻³, largest 8.72 × 10⁻²; below the panels, ours in these "
        "terms. The choice of the two samples, and the errors above the panels, are in physical units.",
        f"{HERE}.figures:draw_on_training_grid",
    ),
    "figure7": PANELS(
        "Figure 7. Other time steps than in training",
        "Relative L² errors of the test samples where the time step is another than in training (large "
        "marker, dotted line): solid and filled the median over samples and seeds, dotted and hollow the "
        "mean. Right of the equal steps: times with steps that double half way (eq. 41) and random times. "
        "The paper shows equal steps and the weighted attention only. Without weights, attention counts "
        "every point alike, however close its neighbours are.",
        f"{HERE}.figures:draw_time_steps",
    ),
    "figure8": Item(
        "Figure 8. Unevenly spaced times, weighted attention",
        "Trained on equal time steps, tested on times whose steps double half way (eq. 41): attention with "
        "quadrature weights, the test sample of median error and that of the largest; the first run that "
        "finished. The axes are those of Figure 9.",
        f"{HERE}.figures:draw_uneven_weighted",
    ),
    "figure9": Item(
        "Figure 9. Unevenly spaced times, attention without weights",
        "The same without the weights, the transformer of Vaswani et al. (2017). In the paper, of "
        "standardised functions: median 2.74 × 10⁻², largest 6.30 × 10⁻²; below the panels, ours in these "
        "terms, to be compared with those below Figure 8.",
        f"{HERE}.figures:draw_uneven_unweighted",
    ),
    "figure10": PANELS(
        "Figure 10. Error against parameters",
        "Median error of standardised fields, with its 95 % interval, against the number of parameters; a "
        "line an architecture, a point a width, written next to it. Both scales are logarithmic.",
        f"{HERE}.figures:draw_against_parameters",
    ),
    "figure11": PANELS(
        "Figure 11. Error against operations",
        "The same against the operations of one forward pass of one sample: of matrix products and "
        "convolutions, two for a multiplication and an addition; the FFTs of FNO and AFNO are not counted.",
        f"{HERE}.figures:draw_against_operations",
    ),
    "figure12": Item(
        "Figure 12. Lognormal Darcy flow, median and worst sample",
        f"{ANSWERS} Errors share a logarithmic scale of four decades, truth and prediction the scale of the "
        "truth.",
        f"{HERE}.figures:draw_answers",
    ),
    "figure13": Item(
        "Figure 13. Piecewise constant Darcy flow, median and worst sample",
        f"{ANSWERS} In the paper, on 416 points a side and of standardised functions: median 1.38 × 10⁻², "
        "largest 2.43 × 10⁻²; below the panels, ours in these terms.",
        f"{HERE}.figures:draw_answers",
    ),
    "figure14": PANELS(
        "Figure 14. Lognormal Darcy flow on other grids",
        f"{OTHER_GRIDS} Upper panel (left in the paper): trained on 64 points a side; lower: on 416. The "
        "paper does not list its grids.",
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
        "absolute error, of the test sample of median error and of that of the largest. Errors share a "
        "logarithmic scale of four decades; both differences are on the scale of the true one.",
        f"{HERE}.figures:draw_increments",
    ),
    "figure17": Item(
        "Figure 17. Kolmogorov flow on other grids", OTHER_GRIDS, f"{HERE}.figures:draw_other_grids"
    ),
    "figure18": Item(
        "Figure 18. Kolmogorov flow with the inverse Laplacian last",
        "As Figure 16, for the Fourier attention neural operator with (I - εΔ)^(-α) as its last layer in "
        "place of the learned smoother; the first run that finished. The paper remarks that it reduces jumps "
        "between patches and the error; the former is measured below, the latter in Table 3.",
        f"{HERE}.figures:draw_smoothed_increments",
    ),
    "figure19": Item(
        "Figure 19. Patches extended periodically",
        "Median relative L² error on other grids than that of training, of two models that differ in nothing "
        "but this: whether the patches are extended to periodic functions before their Fourier modes are "
        "taken. Both have the same last layer. The paper reports a flatter curve with the extension.",
        f"{HERE}.figures:draw_extended",
    ),
    "figure_spectra": PANELS(
        "Not in the paper. Error by wavenumber",
        "Left: power of target and errors by wavenumber, means over the test samples and the seeds that "
        "finished, at the resolution of training; of functions that are not periodic by the cosine "
        "transform. Right: power of the predictions over that of the target; less than one is "
        "over-smoothing, more is detail that is not there. Dotted: the largest wavenumber that the FNO's "
        "convolutions keep along an axis. Left out: shells that the grid resolves in part, those where the "
        "target is rounding, and narrower variants of a model. The paper names over-smoothing as the "
        "weakness of the FNO, and does not measure it.",
        f"{HERE}.additional:draw_spectra",
    ),
    "figure_jumps": PANELS(
        "Not in the paper. Jumps between patches",
        "Mean absolute difference of neighbouring points on two sides of an edge between patches, over that "
        "of neighbours inside a patch: of errors, predictions and targets of the stored test samples. It is "
        "about one where the edges cannot be seen, or, if waves of the flow fit the patches, what the target "
        "has. Models without patches are measured at the edges of the others. Small marks are seeds. The "
        "paper remarks on such discontinuities and does not measure them.",
        f"{HERE}.additional:draw_jumps",
    ),
    "figure_paired": PANELS(
        "Not in the paper. The same samples on two grids",
        "Error on another grid over error on that of training, sample by sample, of one trained model; the "
        "geometric mean over samples and seeds with its 95 % interval. Above 1: worse than on the training "
        "grid.",
        f"{HERE}.figures:draw_paired_grids",
    ),
    "figure_rollouts": Item(
        "Not in the paper. The step applied again and again",
        "The trained step applied again and again to its own predictions, from every test vorticity: mean "
        "relative L² error by time, over samples and the seeds that finished. Dashed: the first vorticity as "
        "the answer at every time. Training has seen one step. Below: one test sample at the last time, by "
        "the first model of each architecture that finished, all on the scale of the truth.",
        f"{HERE}.additional:draw_rollouts",
    ),
}

PAPER = Paper(
    "Calvello et al. 2024",
    "E. Calvello, N. B. Kovachki, M. E. Levine and A. M. Stuart, <em>Continuum Attention for Neural "
    "Operators</em> (arXiv:2406.06486)",
    "The paper reports medians over test samples without saying of which error. Its public code standardises "
    "fields by one mean and one standard deviation: in two dimensions those of the training samples, in one "
    "dimension those of each split. Where a reported number is quoted, our error of fields standardised by "
    "the training samples is shown with it. All other errors are in physical units, where they are smaller, "
    "and are means over samples.",
    ITEMS,
    costs="measure_architectures",
    samples=("", "Fig. 6"),
)
