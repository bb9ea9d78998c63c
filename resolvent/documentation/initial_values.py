"""Tables of docs/equations/lorenz63.md: Lorenz-63 with several encodings of the initial values.

The second table explains the larger errors at other times if only the first token has the initial values. The
trained operators are tested again with one change: the first token keeps its quadrature weight of training,
half the first interval of the training times, at all test times.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from resolvent.common.counts import counted
from resolvent.datasets.loading import Samples, load_samples
from resolvent.documentation.pages import planned, table
from resolvent.evaluation.conditions import predict
from resolvent.evaluation.metrics import measure
from resolvent.figures.common.results import Run, error_matrix, read_runs
from resolvent.models.layers.continuum_attention import trapezoid_weights
from resolvent.training import checkpoints
from resolvent.training.checkpoints import trained_operator

CONFIGURATION = "config/lorenz63_initial_values.yaml"
RUNS = "results/lorenz63_initial_values"
COMMAND = f"snakemake --cores 2 --resources gpu=0 --configfile {CONFIGURATION}"
ERROR = "standardised_relative_l2"
SAMPLES = 50  # test samples for the first token
TOKENS = (
    "For each seed of `first_token`: its error; its error if the first token keeps its weight of training at "
    "all times; and the relative change of the prediction, at all times but the first, if every sample gets "
    f"another sample's initial values. Medians over {SAMPLES} test samples."
)


def section(root: Path, folders: list[Path]) -> str | None:
    """Return the tables of the errors at all times and of the effect of the first token's weight.

    `folders` are the folders of runs below `root`, which also has the configuration's dataset. A cell has the
    median over the test samples, averaged over seeds, and the range over several seeds. Returns None without
    runs.
    """
    if not folders:
        return None
    models: dict[str, list[Run]] = {}
    for run in read_runs(folders):
        models.setdefault(run.record.model, []).append(run)
    runs = [run for made in models.values() for run in made]
    first = runs[0]
    times = list(dict.fromkeys(first.errors["resolution"]))
    header = [f"{one}{'*' * (one == first.resolution)}" for one in times]
    card = root / planned(CONFIGURATION, root=root).datasets[first.record.dataset].card
    errors, tokens = [], []
    for made in models.values():
        form = made[0].record.settings["initial_values"]
        cells = [f"`{form}`, {counted(len(made), 'seed')}"]
        for one in times:
            matrix = error_matrix([run.errors for run in made], one, 0.0, ERROR)
            medians = np.median(matrix.to_numpy(), axis=1)
            spread = f" [{medians.min():.2e}, {medians.max():.2e}]" if len(medians) > 1 else ""
            cells.append(f"{medians.mean():.2e}{spread}")
        errors.append(cells)
        for run in made if form == "first_token" else []:
            measured = [measure_first_token(run, card, one) for one in times]
            for words in measured[0]:
                tokens.append([f"{run.seed}: {words}", *(f"{found[words]:.2e}" for found in measured)])
    settings, training = first.record.settings, first.record.training
    machines = sorted({f"{run.cost.device}, {run.cost.threads} thread(s) a run" for run in runs})
    parts = [
        f"Written by `make docs` from the runs of `{COMMAND}`. "
        f"Width {settings['width']}, {settings['num_layers']} layers, "
        f"{training['train_samples']:,} training and {training['test_samples']:,} test trajectories, "
        f"{training['epochs']} epochs in batches of {training['batch_size']}, "
        f"schedule {training['schedule']}; {'; '.join(machines)}, shared with other work.",
        "Median over the test samples of the relative L² error of standardised y and z, averaged over the "
        f"seeds, with the lowest and the highest seed. Trained at {first.resolution}*.",
        table(("initial values", *header), errors),
        TOKENS,
        table(("seed", *header), tokens),
    ]
    return "\n\n".join(parts)


def measure_first_token(run: Run, card: Path, times: str) -> dict[str, float]:
    """Measure a trained run at a set of times, and return three numbers by name.

    They are the error, the error with the first token's weight of training, and the change of the prediction
    at all times but the first if every sample gets the initial values of the next sample. All are relative,
    for standardised y and z, as medians over `SAMPLES` test samples.
    """
    operator: Any = trained_operator(checkpoints.load(run.directory / "checkpoint.pt"))
    scale = (operator.output.mean.numpy(), operator.output.deviation.numpy())
    trained_at = load_samples(card, str(run.resolution), "test", 1).grid.axes[0].coordinates
    test = load_samples(card, times, "test", SAMPLES)

    def log_weights(x: Tensor) -> Tensor:
        weights = trapezoid_weights(x)
        return torch.cat([weights.new_tensor([(trained_at[1] - trained_at[0]) / 2]), weights[1:]]).log()

    cpu = torch.device("cpu")
    plain = predict(operator, test, cpu)
    others = test.inputs.copy()
    others[:, 1:] = np.roll(test.inputs[:, 1:], 1, axis=0)
    moved = predict(operator, Samples(test.grid, others, test.targets), cpu)
    moved[..., 0] = plain[..., 0]
    operator.operator.log_weights = log_weights
    weighted = predict(operator, test, cpu)
    compared = {
        "error": (plain, test.targets),
        "first weight of training": (weighted, test.targets),
        "initial values of others": (moved, plain),
    }
    return {
        words: float(np.median(measure(*pair, test.grid, scale)[ERROR])) for words, pair in compared.items()
    }
