"""Fit scikit-learn's kernel ridge regression on principal components to burgers-v1.

    resolvent task burgers-v1 --to burgers
    python train.py burgers predictions

The width of the kernel and the penalty have the least error on the validation samples on 512 points.
"""

import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.kernel_ridge import KernelRidge


def regression(train):
    """Return a function that predicts targets for inputs (samples, points) from the training samples."""
    inputs, targets = train["inputs"].astype(float), train["targets"].astype(float)
    unit = np.sqrt(np.square(inputs).sum(axis=1).mean())  # so that the kernel does not depend on the grid
    of_inputs = PCA(40, svd_solver="covariance_eigh").fit(inputs / unit)
    of_targets = PCA(64, svd_solver="covariance_eigh").fit(targets)

    def predict(gamma, alpha, functions):
        ridge = KernelRidge(kernel="rbf", gamma=gamma, alpha=alpha)
        ridge.fit(of_inputs.transform(inputs / unit), of_targets.transform(targets))
        return of_targets.inverse_transform(ridge.predict(of_inputs.transform(functions / unit)))

    return predict


def error(prediction, targets):
    """Return the mean relative L2 error."""
    return (np.linalg.norm(prediction - targets, axis=1) / np.linalg.norm(targets, axis=1)).mean()


task, out = Path(sys.argv[1]), Path(sys.argv[2])
out.mkdir(exist_ok=True)
predict, validation = regression(np.load(task / "train_n512.npz")), np.load(task / "validation_n512.npz")
errors = {}
for gamma, alpha in product((0.1, 0.2, 0.5, 1.0, 2.0, 5.0), (1e-10, 1e-8, 1e-6, 1e-4)):
    errors[gamma, alpha] = error(predict(gamma, alpha, validation["inputs"]), validation["targets"])
gamma, alpha = min(errors, key=errors.get)
print(f"gamma {gamma:g}, alpha {alpha:g}, validation error {errors[gamma, alpha]:.3e}")
for grid in ("n512", "n2048"):
    predict, test = regression(np.load(task / f"train_{grid}.npz")), np.load(task / f"test_{grid}.npz")
    np.save(out / f"{grid}.npy", predict(gamma, alpha, test["inputs"]).astype(np.float32))
print(f"{time.process_time():.0f} s of one core")
