"""Tables and figures of Cao 2021 (arXiv:2105.14995): titles, functions and sources."""

from functools import partial

from resolvent.figures.papers.cao2021.reported import TABLE_2A, TABLE_2B, TABLE_3, TABLE_6, TABLE_8
from resolvent.figures.papers.items import Item, Paper

HERE = "resolvent.figures.papers.cao2021"
TABLE = partial(Item, kind="table")
COUNTED = partial(TABLE, remark=f"{HERE}.tables:remark")
RECIPES = (
    "As printed: the setting of the text; as coded: that of the public code, which made the reported "
    "numbers; other: models and baselines of neither. The ratio is of the row as coded, at its best epoch on "
    "the test samples, as the paper reports."
)
BOLD = (
    "Bold: the model with the lowest geometric mean of errors, and those that the data do not show to be "
    "worse; a model is ranked from three seeds on."
)
BY_SEED = (
    "{seeds}: a line a seed: the loss of the training samples, whose H¹ part is weighted by γ, and the "
    "relative L² error of the test samples, as in the paper; where that was not recorded, errors of the "
    "training and of the validation samples."
)
ITEMS = {
    "table1": COUNTED(
        "Table 1. Memory, speed and operations of the attentions",
        "Ours: memory in use at the peak beyond weights and data; memory that all operators together "
        "allocated; steps per second; operations of matrix products, convolutions and attention, a "
        "multiplication and an addition being two. The paper's memory is nvidia-smi's, of the process, and "
        'its CUDA memory and operations are the profiler\'s. "Example 1" is the whole operator, "encoders '
        'only" four layers of width 128 with one head on points of the plane, as in the command lines of the '
        "public code. Two of the paper's three versions head it l = 10, and the code's script has ten layers "
        "and four heads by default: ten softmax layers keep 2.1 GB each for the gradient and do not fit into "
        "the printed memory. The paper computes the Fourier type as (QKᵀ)V; computed as Q(KᵀV) it gives the "
        "same numbers at linear cost.",
        f"{HERE}.tables:draw_step_costs",
    ),
    "table2a": TABLE(
        "Table 2a. Burgers' equation",
        f"{RECIPES} Mean relative L² error of the test samples in units of 10⁻³, with its 95 % interval. "
        f'{BOLD} "No attention" is the transformer with its attention left out; below the rule are '
        "baselines. The paper quotes another row, of an FNO trained for 500 epochs elsewhere.",
        f"{HERE}.tables:draw_burgers",
        table=TABLE_2A,
    ),
    "table2b": TABLE(
        "Table 2b. Darcy flow",
        f"{RECIPES} Mean relative L² error of the test samples in units of 10⁻², with its 95 % interval. In "
        f'brackets: points a side of the grid on which attention works. {BOLD} "No attention" is the '
        "transformer with its attention left out; below the rule are baselines.",
        f"{HERE}.tables:draw_darcy",
        table=TABLE_2B,
    ),
    "table3": TABLE(
        "Table 3. Inverse identification of the coefficient",
        f"{RECIPES} Mean relative L² error of the recovered coefficient in units of 10⁻², with its 95 % "
        "interval, by points a side of the measurements (in brackets: of the coefficient) and by noise ε, "
        f"the same in training and evaluation. {BOLD} Below the rule are baselines.",
        f"{HERE}.tables:draw_inverse",
        table=TABLE_3,
        several=True,
    ),
    "table5": TABLE(
        "Table 5. Sizes of the networks",
        "Layers, widths and Fourier modes, and the number of parameters, a complex one counted as two. The "
        "paper has one row for its four attentions. Where the paper's number differs, it stands below ours.",
        f"{HERE}.tables:draw_sizes",
        of=("table2a", "table2b", "table3"),
    ),
    "table6": TABLE(
        "Table 6. Hours of training",
        "Hours of training, validation left out: the mean over the runs that finished, on the machine named "
        "below; the paper's are from one RTX 3090. The paper computes the Fourier type as (QKᵀ)V, in "
        "quadratic time; ours is Q(KᵀV).",
        f"{HERE}.tables:draw_hours",
        table=TABLE_6,
        several=True,
    ),
    "table8": TABLE(
        "Table 8. Layer norm, initialisation and dropout of the Galerkin transformer",
        f"{RECIPES} Mean relative L² error of the test samples in units of 10⁻³ with its 95 % interval and "
        "the epoch. η: gain of the initial Q, K and V weights, δ: number added to their diagonal (eq. 17), "
        "ζ: dropout of the attention in the text, of the residual branches in the code. The paper takes a "
        "best epoch far from the last as a sign of divergence; here a run that diverges says so, and at "
        "which epoch.",
        f"{HERE}.tables:draw_ablation",
        table=TABLE_8,
    ),
    "figure8a": Item(
        "Figure 8a. Training on Darcy flow, by seed",
        f"{{model}} on Darcy flow, {BY_SEED}",
        f"{HERE}.figures:draw_convergence",
    ),
    "figure8b": Item(
        "Figure 8b. Training on Burgers' equation, by seed",
        f"{{model}} on Burgers' equation, {BY_SEED}",
        f"{HERE}.figures:draw_convergence",
    ),
    "figure9": Item(
        "Figure 9. Test samples of Burgers' equation",
        "{shown}: {input}, {target} and prediction of four test samples, each over the pointwise error. In "
        "the paper the four have an average error of 1.079 × 10⁻³; its samples are others.",
        "resolvent.figures.experiment.samples:draw",
    ),
    "figure10": Item(
        "Figure 10. Test samples of Darcy flow",
        "{shown}: {input}, {target}, prediction and pointwise error of four test samples. The paper shows "
        "one, with the error 6.454 × 10⁻³.",
        "resolvent.figures.experiment.samples:draw",
    ),
    "figure11": Item(
        "Figure 11. The coefficient recovered from noisy measurements",
        "Measurements of the pressure with noise, and the coefficients recovered from them; trained and "
        "evaluated with the same noise. Shown: {shown}. In the paper: 0, 1 % and 10 %, on 211 points a side, "
        "with errors 0.0160, 0.0292 and 0.0885.",
        f"{HERE}.figures:draw_noise_levels",
        several=True,
    ),
    "figure12": Item(
        "Figure 12. Noise in training against noise in evaluation",
        "Recovered coefficients where the noise in evaluation is another than in training. Shown: {shown}. "
        "In the paper: trained without, evaluated with 1 % and 1.5 %: 0.194 and 0.416; trained with 1 %, "
        "evaluated with 0, 2 % and 5 %: 0.0235, 0.0754 and 0.403; trained with 10 %, evaluated with 5 %: "
        "0.0691.",
        f"{HERE}.figures:draw_noise_transfer",
        several=True,
    ),
    "figure13": Item(
        "Figure 13. Latent basis functions",
        "{shown}, one test sample: of two encoder layers the two functions, orthonormal in L², that carry "
        "most of what the layer hands on (leading singular vectors of its columns without their means), "
        "beside eigenfunctions by bilinear finite elements on the same grid. Below: ‖∇v‖/‖v - ∫v‖ of every "
        "column of every layer, of the trained network and of the same one with its initial weights. The "
        "paper remarks that its pictures of layer 4 are smoother than those of layer 1.",
        f"{HERE}.figures:draw_latent_basis",
    ),
}

PAPER = Paper(
    "Cao 2021",
    "S. Cao, <em>Choose a Transformer: Fourier or Galerkin</em> (NeurIPS 2021, arXiv:2105.14995)",
    "A reported number is shown only where every setting equals the paper's. It is compared only with the "
    "row as coded, because the public code made it. Each table lists the differences below it. Our error is "
    "that of the epoch chosen on the validation samples. The paper's public code reports the best epoch on "
    "the test samples; where runs recorded that, our error by the same protocol is shown too, for comparison "
    "with the paper's number only.",
    ITEMS,
    costs="measure_cost",
    samples=("Figs. 9 and 10", ""),
)
