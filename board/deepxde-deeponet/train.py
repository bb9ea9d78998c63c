"""Train DeepXDE's DeepONet on burgers-v1, with PyTorch.

    resolvent task burgers-v1 --to burgers
    DDE_BACKEND=pytorch python train.py burgers predictions

Branch and loss have 128 of the 512 points. The trunk takes the sine and cosine of the position, so the answer
is periodic, and can be asked for on any grid.
"""

import sys
import time
from pathlib import Path

import deepxde
import numpy as np

STEPS, BATCH = 6000, 64


def load(split, grid):
    """Return a split of the task as a mapping of arrays."""
    return np.load(Path(sys.argv[1]) / f"{split}_{grid}.npz")


def branch(samples):
    """Return the inputs on 128 points; the grids are nested."""
    inputs = samples["inputs"]
    return inputs[:, :: inputs.shape[1] // 128].astype(np.float32)


def trunk(positions):
    """Return the positions on the circle, (points, 2)."""
    angle = 2 * np.pi * positions
    return np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)


out = Path(sys.argv[2])
out.mkdir(exist_ok=True)
deepxde.config.set_random_seed(0)
train, validation = load("train", "n512"), load("validation", "n512")
data = deepxde.data.TripleCartesianProd(
    (branch(train), trunk(train["x"][::4])), train["targets"][:, ::4],
    (branch(validation), trunk(train["x"][::4])), validation["targets"][:, ::4],
)  # fmt: skip
net = deepxde.nn.DeepONetCartesianProd([128, 128, 128, 128], [2, 128, 128, 128], "gelu", "Glorot normal")
model = deepxde.Model(data, net)
model.compile(
    "adam", lr=1e-3, decay=("step", STEPS // 6, 0.5), loss="mean l2 relative error",
    metrics=["mean l2 relative error"],
)  # fmt: skip
model.train(iterations=STEPS, batch_size=BATCH, display_every=STEPS // 10)
for grid in ("n512", "n2048"):
    test = load("test", grid)
    np.save(out / f"{grid}.npy", model.predict((branch(test), trunk(test["x"]))))
parameters = sum(weight.numel() for weight in net.parameters())
print(f"{parameters} parameters, {time.process_time():.0f} s of one core")
