"""Tables and figures of Cao 2021 (arXiv:2105.14995): titles, functions and sources."""

from functools import partial

from resolvent.figures.papers.cao2021.reported import TABLE_2A, TABLE_2B, TABLE_3, TABLE_6, TABLE_8
from resolvent.figures.papers.items import Item, Paper

HERE = "resolvent.figures.papers.cao2021"
TABLE = partial(Item, kind="table")
COUNTED = partial(TABLE, remark=f"{HERE}.tables:remark")
RECIPES = (
    "As printed: the setting of the text; as coded: the setting of the public code, which produced the "
    "reported numbers; other: models and baselines with neither setting. The ratio compares the reported "
    "number with our result as coded, at its best epoch on the test samples, as the paper reports."
)
BOLD = (
    "Bold: the model with the lowest mean error, and those above it up to the first that the data show to be "
    "worse; models with fewer than three seeds are not ranked."
)
BY_SEED = (
    "{seeds}, with one line per seed: the loss of the training samples, whose H¹ part is weighted by γ, and "
    "the relative L² error of the test samples, as in the paper. If test errors were not recorded, the "
    "panels show the errors of the training and validation samples."
)
ITEMS = {
    "table1": COUNTED(
        "Table 1. Memory, speed and operations of the attentions",
        "Ours: peak memory beyond weights and data; memory allocated by all operators together; steps per "
        "second; operations of matrix products, convolutions and attention, two for each multiply-add. The "
        "paper's memory is that of the process, by nvidia-smi; its CUDA memory and operations are the "
        'profiler\'s. "Example 1" is the whole operator; "encoders only" are four layers of width 128 with '
        "one head on points of the plane, as in the command lines of the public code. Two of the paper's "
        "three versions label them l = 10, and the code's script has ten layers and four heads by default; "
        "but ten softmax layers keep 2.1 GB each for the gradient, which exceeds the printed memory. The "
        "paper computes Fourier attention as (QKᵀ)V; Q(KᵀV) gives the same numbers at linear cost.",
        f"{HERE}.tables:draw_step_costs",
    ),
    "table2a": TABLE(
        "Table 2a. Burgers' equation",
        f"{RECIPES} Mean relative L² error of the test samples in units of 10⁻³, with its 95 % interval. "
        f'{BOLD} "No attention" is the transformer without its attention; baselines are below the rule. The '
        "paper also quotes an FNO that was trained elsewhere for 500 epochs.",
        f"{HERE}.tables:draw_burgers",
        table=TABLE_2A,
    ),
    "table2b": TABLE(
        "Table 2b. Darcy flow",
        f"{RECIPES} Mean relative L² error of the test samples in units of 10⁻², with its 95 % interval. In "
        f'brackets: points per side of the attention\'s grid. {BOLD} "No attention" is the transformer '
        "without its attention; baselines are below the rule.",
        f"{HERE}.tables:draw_darcy",
        table=TABLE_2B,
    ),
    "table3": TABLE(
        "Table 3. Inverse identification of the coefficient",
        f"{RECIPES} Mean relative L² error of the recovered coefficient in units of 10⁻², with its 95 % "
        "interval, by points per side of the measurements (in brackets: of the coefficient) and by noise "
        f"level ε, which is the same in training and evaluation. {BOLD} Baselines are below the rule.",
        f"{HERE}.tables:draw_inverse",
        table=TABLE_3,
        several=True,
    ),
    "table5": TABLE(
        "Table 5. Sizes of the networks",
        "Layers, widths, Fourier modes and number of parameters, where a complex parameter counts as two. "
        "The paper has one row for its four attentions. Its layers, widths and modes are below ours if they "
        "differ; its number of parameters has a column of its own.",
        f"{HERE}.tables:draw_sizes",
        of=("table2a", "table2b", "table3"),
    ),
    "table6": TABLE(
        "Table 6. Hours of training",
        "Hours of training, without validation: the mean over finished runs, on the machine named below; the "
        "paper's are from one RTX 3090. The paper computes Fourier attention as (QKᵀ)V, in quadratic time; "
        "ours is Q(KᵀV).",
        f"{HERE}.tables:draw_hours",
        table=TABLE_6,
        several=True,
    ),
    "table8": TABLE(
        "Table 8. Layer norm, initialisation and dropout of the Galerkin transformer",
        f"{RECIPES} Mean relative L² error of the test samples in units of 10⁻³, with its 95 % interval and "
        "the epoch. η: gain of the initial Q, K and V weights; δ: number added to their diagonal (eq. 17); "
        "ζ: dropout of the attention in the text, of the residual branches in the code. The paper takes a "
        "best epoch far from the last as a sign of divergence; here a diverged run is marked with its epoch.",
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
        "{shown}: {input}, {target} and prediction of four test samples, each above its pointwise error. The "
        "paper shows four other samples, with an average error of 1.079 × 10⁻³.",
        "resolvent.figures.experiment.samples:draw",
    ),
    "figure10": Item(
        "Figure 10. Test samples of Darcy flow",
        "{shown}: {input}, {target}, prediction and pointwise error of four test samples. The paper shows "
        "one sample, with an error of 6.454 × 10⁻³.",
        "resolvent.figures.experiment.samples:draw",
    ),
    "figure11": Item(
        "Figure 11. The coefficient recovered from noisy measurements",
        "Noisy measurements of the pressure and the coefficients recovered from them, with the same noise in "
        "training and evaluation. Shown: {shown}. The paper shows 0, 1 % and 10 % on 211 points per side, "
        "with errors 0.0160, 0.0292 and 0.0885.",
        f"{HERE}.figures:draw_noise_levels",
        several=True,
    ),
    "figure12": Item(
        "Figure 12. Different noise in training and evaluation",
        "Coefficients recovered by models that were trained at one noise level and evaluated at several. "
        "Shown: {shown}. Errors in the paper: trained without noise, evaluated with 1 % and 1.5 %: 0.194 and "
        "0.416; trained with 1 %, evaluated with 0, 2 % and 5 %: 0.0235, 0.0754 and 0.403; trained with "
        "10 %, evaluated with 5 %: 0.0691.",
        f"{HERE}.figures:draw_noise_transfer",
        several=True,
    ),
    "figure13": Item(
        "Figure 13. Latent basis functions",
        "{shown}, one test sample. For two encoder layers: the two functions, orthonormal in L², with the "
        "largest share of the variance of the layer's output (leading singular vectors of its columns "
        "without their means). Right: eigenfunctions by bilinear finite elements on the same grid. Below: "
        "roughness ‖∇v‖/‖v - ∫v‖ of every column of every layer, for the trained network and for the same "
        "network with its initial weights. The paper remarks that its pictures of layer 4 are smoother than "
        "those of layer 1.",
        f"{HERE}.figures:draw_latent_basis",
    ),
}

PAPER = Paper(
    "Cao 2021",
    "S. Cao, <em>Choose a Transformer: Fourier or Galerkin</em> (NeurIPS 2021, arXiv:2105.14995)",
    "Except in Table 5, a reported number is shown only where every setting equals the paper's. It is "
    "compared only with the row as coded, because the public code produced it. Differences are listed below "
    "each table. Our error is that of the epoch selected on the validation samples. The paper's public code "
    "reports the best epoch on the test samples; for runs that recorded this epoch, our error by the same "
    "protocol is also shown, for comparison with the paper's number only.",
    ITEMS,
    costs="measure_cost",
    samples=("Figs. 9 and 10", ""),
)
