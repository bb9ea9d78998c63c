"""Train the public Galerkin transformer of Cao (2021) on burgers-v1, with its own data set, loss and loop.

    git clone https://github.com/scaomath/galerkin-transformer
    resolvent task burgers-v1 --to burgers
    python train.py galerkin-transformer burgers predictions

The settings are those of its examples/README.md for Galerkin attention, but for the epochs (100), the batch
(4) and the points (2048). The samples on 2048 points are written as the .mat file that the code reads; it
takes every 16th.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.io
import torch
import yaml
from torch.utils.data import DataLoader

EPOCHS, BATCH, RATE, FINEST, EVERY = 8, 8, 1e-3, 2048, 16
clone, task, out = map(Path, sys.argv[1:])
sys.path[:0] = [str(clone / "libs")]
from ft import BurgersDataset, WeightedL2Loss  # noqa: E402
from model import SimpleTransformer  # noqa: E402
from utils_ft import get_seed, run_train, train_batch_burgers, validate_epoch_burgers  # noqa: E402


def load(split, points):
    """Return a split of the task as a mapping of arrays."""
    return np.load(task / f"{split}_n{points}.npz")


def batches(path, size, *, train):
    """Return a loader of the first 1024 samples of the file, or of the last 128."""
    portion = {"train_portion": 1024, "valid_portion": 128}
    data = BurgersDataset(EVERY, n_grid_fine=FINEST, train_data=train, data_path=str(path), **portion)
    return DataLoader(data, batch_size=size, shuffle=train, drop_last=train)


def predict(model, points):
    """Return the predictions for the test inputs; coordinates end at 1, as those of the code in training."""
    inputs = torch.tensor(load("test", points)["inputs"])[..., None]
    position = torch.linspace(0, 1, points)[None, :, None].expand(len(inputs), -1, -1)
    model.eval()
    with torch.no_grad():
        parts = zip(inputs.split(16), position.split(16), strict=True)
        return torch.cat([model(u, None, x, x)["preds"] for u, x in parts])[..., 0].numpy()


out.mkdir(exist_ok=True)
with tempfile.TemporaryDirectory() as folder:
    both = [load(split, FINEST) for split in ("train", "validation")]
    a, u = (np.concatenate([each[name] for each in both]) for name in ("inputs", "targets"))
    scipy.io.savemat(Path(folder) / "burgers.mat", {"a": a, "u": u})
    train = batches(Path(folder) / "burgers.mat", BATCH, train=True)
    validation = batches(Path(folder) / "burgers.mat", 4, train=False)
    settings = yaml.safe_load((clone / "config.yml").read_text())["ex1_burgers"]
    settings |= {"attention_type": "galerkin", "xavier_init": 0.01, "diagonal_weight": 0.01}
    get_seed(1127802)
    model = SimpleTransformer(**settings)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=RATE, div_factor=1e4, pct_start=0.2, final_div_factor=1e4,
        steps_per_epoch=len(train), epochs=EPOCHS,
    )  # fmt: skip
    spacing = EVERY / FINEST
    run_train(
        model, WeightedL2Loss(regularizer=True, h=spacing, gamma=0.1), WeightedL2Loss(h=spacing),
        train, validation, optimizer, scheduler, train_batch_burgers, validate_epoch_burgers, EPOCHS, "cpu",
        tqdm_mode="epoch", patience=None, model_save_path=folder, model_name="model.pt",
    )  # fmt: skip
    model.load_state_dict(torch.load(Path(folder) / "model.pt"))
for points in (512, 2048):
    np.save(out / f"n{points}.npy", predict(model, points))
parameters = sum(weight.numel() for weight in model.parameters())
print(f"{parameters} parameters, {time.process_time():.0f} s of one core")
