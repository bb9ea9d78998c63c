"""Train neuraloperator's FNO with its own Trainer on burgers-v1.

    resolvent task burgers-v1 --to burgers
    python train.py burgers predictions

It is trained on every fourth of the 512 points; its layers are for any grid.
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch
from neuralop import LpLoss, Trainer
from neuralop.models import FNO
from torch.utils.data import DataLoader

EPOCHS, BATCH = 20, 32


def load(split, grid):
    """Return a split of the task as a mapping of arrays."""
    return np.load(Path(sys.argv[1]) / f"{split}_{grid}.npz")


def batches(split, *, shuffle=False):
    """Return a loader of dictionaries, as the Trainer wants them: functions (samples, 1, points)."""
    samples = load(split, "n512")
    inputs, targets = (torch.tensor(samples[name][:, None, ::4]) for name in ("inputs", "targets"))
    pairs = [{"x": x, "y": y} for x, y in zip(inputs, targets, strict=True)]
    return DataLoader(pairs, BATCH, shuffle=shuffle)


out = Path(sys.argv[2])
out.mkdir(exist_ok=True)
torch.manual_seed(0)
model = FNO(n_modes=(32,), hidden_channels=32, in_channels=1, out_channels=1)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
loss = LpLoss(d=1, p=2)
trainer = Trainer(model=model, n_epochs=EPOCHS, eval_interval=2, verbose=True)
trainer.train(
    batches("train", shuffle=True), {"validation": batches("validation")}, optimizer, scheduler,
    training_loss=loss, eval_losses={"l2": loss},
)  # fmt: skip
model.eval()
for grid in ("n512", "n2048"):
    inputs = torch.tensor(load("test", grid)["inputs"])[:, None]
    with torch.no_grad():
        answers = torch.cat([model(part) for part in inputs.split(32)])
    np.save(out / f"{grid}.npy", answers[:, 0].numpy())
parameters = sum(weight.numel() for weight in model.parameters())
print(f"{parameters} parameters, {time.process_time():.0f} s of one core")
