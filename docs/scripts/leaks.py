"""Measure how often `resolvent evaluate --fresh` finds a leak, and write the table into docs/evaluate.md.

    python docs/scripts/leaks.py                # an hour on a core: docs/measured/leaks.csv, and the table
    python docs/scripts/leaks.py --table        # the table alone, from docs/measured/leaks.csv

In every repetition a kernel and an FNO are trained on 512 new samples of burgers-v1 at 128 points and, in
place of as many of them, on a share of the public test; then the p-value of `resolvent.judging.beyond` is
computed from the public test and from 256 other new samples. Without a share, a leak is a false alarm.
"""

import sys

import numpy as np
import pandas as pd
import torch
from page_parts import ROOT, table, write_part

from resolvent.common.norms import relative_l2
from resolvent.datasets.loading import FreshSplit
from resolvent.figures.common.intervals import share_interval
from resolvent.judging.beyond import FALSE_ALARMS, FRESH_SAMPLES, p_value
from resolvent.judging.tasks import read_task
from resolvent.models.build import build

MEASURED = ROOT / "docs/measured/leaks.csv"
POINTS, TRAINED, POOL = 128, 512, 8192
SHARES = {0.0: {"kernel": 400, "FNO": 60}} | {
    share: {"kernel": 20, "FNO": 20} for share in (0.01, 0.05, 0.1, 0.25, 1.0)
}
STEPS, BATCH = 400, 32


def kernel(inputs: np.ndarray, targets: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return predictions of kernel ridge regression with a Gaussian kernel of the median width."""

    def squares(a: np.ndarray) -> np.ndarray:
        return (a**2).sum(1)[:, None] + (inputs**2).sum(1) - 2 * a @ inputs.T

    width = np.median(squares(inputs))
    weights = np.linalg.solve(np.exp(-squares(inputs) / width) + 1e-6 * np.eye(len(inputs)), targets)
    return np.exp(-squares(asked) / width) @ weights


def fno(inputs: np.ndarray, targets: np.ndarray, asked: np.ndarray, seed: int) -> np.ndarray:
    """Return predictions of an FNO of width 24 after 400 steps of Adam."""
    settings = {
        "in_channels": 1,
        "out_channels": 1,
        "width": 24,
        "num_layers": 4,
        "modes": 16,
    }
    model = build("fno1d", settings | {"projection_width": 64}, seed)
    x = torch.arange(POINTS)[:, None] / POINTS
    size, random = float(targets.std()), np.random.default_rng(seed)
    given, wanted, new = (
        torch.tensor(a / size, dtype=torch.float32)[..., None] for a in (inputs, targets, asked)
    )
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=STEPS)
    for _ in range(STEPS):
        batch = random.choice(len(given), BATCH, replace=False)
        off = model(given[batch], x) - wanted[batch]
        loss = (off.square().sum((1, 2)) / wanted[batch].square().sum((1, 2))).sqrt().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        return size * model(new, x)[..., 0].numpy()


def measure() -> pd.DataFrame:
    """Return a row for each repetition: model, share of the public test in training, mean errors, p-value."""
    settings = read_task("burgers-v1").dataset.model_copy(update={"resolutions": [POINTS], "seed": 1})
    pool = FreshSplit.of(settings, POINTS, "test", POOL).all()
    rows = []
    for share, repetitions in SHARES.items():
        for name, count in repetitions.items():
            for repetition in range(count):
                random = np.random.default_rng([repetition, round(100 * share), len(name)])
                drawn = random.permutation(POOL)
                public, new, others = np.split(drawn, [FRESH_SAMPLES, 2 * FRESH_SAMPLES])
                leaked = public[: round(share * FRESH_SAMPLES)]
                trained = pool.read(np.concatenate([leaked, others])[:TRAINED])
                tested = pool.read(np.concatenate([public, new]))
                if name == "kernel":
                    answers = kernel(trained.inputs, trained.targets, tested.inputs)
                else:
                    answers = fno(trained.inputs, trained.targets, tested.inputs, repetition)
                errors = relative_l2(answers, tested.targets, tested.grid.weights)
                on_public, on_new = errors[:FRESH_SAMPLES], errors[FRESH_SAMPLES:]
                rows.append({
                    "model": name, "share": share, "repetition": repetition, "public": on_public.mean(),
                    "new": on_new.mean(), "p_value": p_value(on_public, on_new),
                })  # fmt: skip
            print(f"{share:.0%}, {name}", flush=True)
    return pd.DataFrame(rows)


def rows_of(measured: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return a row of the table for each model and share."""
    cells = []
    for (model, share), runs in measured.groupby(["model", "share"]):
        found = int((runs["p_value"] <= FALSE_ALARMS).sum())
        interval = share_interval(found, len(runs))
        cells.append((
            model, f"{share:.0%}", str(len(runs)),
            f"{runs['public'].mean():.2e}", f"{runs['new'].mean():.2e}",
            f"{found} ({interval.low:.0%} to {interval.high:.0%})",
        ))  # fmt: skip
    return cells


HEAD = (
    "model",
    "share of the test in training",
    "trainings",
    "error on the public test",
    "on new samples",
    "called better on the public test",
)

if __name__ == "__main__":
    if "--table" not in sys.argv:
        torch.set_num_threads(1)
        measure().to_csv(MEASURED, index=False, float_format="%.4g")
    write_part(
        "docs/evaluate.md",
        table(HEAD, rows_of(pd.read_csv(MEASURED))),
        "leaks",
        "python docs/scripts/leaks.py",
    )
