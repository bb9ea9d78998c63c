"""Linear ridge regression between functions: the best that a linear operator learns from the same samples."""

from __future__ import annotations

import numpy as np

from resolvent.common.norms import relative_l2

HELD_OUT = 1 / 8  # of the samples choose the penalty, on a fit to the others
PENALTIES = np.logspace(-10, 2, 25)  # in units of the mean eigenvalue of the inputs' Gram matrix


class RidgeRegression:
    """v = A(u - mean) + mean, with the penalty λ‖A‖² on inputs that are standardised point by point.

    Fitted to `inputs` (samples, ...) and `targets` (samples, ...) in float64, through the Gram matrix
    (samples, samples). Predictions are kept within the range of the training targets, which only helps.
    """

    def __init__(self, inputs: np.ndarray, targets: np.ndarray):
        held = max(1, round(HELD_OUT * len(inputs)))
        others = _Fit(inputs[:-held], targets[:-held])
        errors = [
            relative_l2(others.predict(inputs[-held:], penalty), targets[-held:]).mean()
            for penalty in PENALTIES
        ]
        self.penalty = PENALTIES[np.argmin(errors)]
        self.fit = _Fit(inputs, targets)

    def __call__(self, inputs: np.ndarray) -> np.ndarray:
        return self.fit.predict(inputs, self.penalty)


class _Fit:
    """The regressions of every penalty at once."""

    def __init__(self, inputs: np.ndarray, targets: np.ndarray):
        self.mean, deviation = inputs.mean(axis=0, dtype=np.float64), inputs.std(axis=0, dtype=np.float64)
        self.scale = np.where(deviation > 0, deviation, 1.0)
        self.inputs = self._standardised(inputs)
        self.eigenvalues, self.vectors = np.linalg.eigh(self.inputs @ self.inputs.T)
        self.eigenvalues = np.maximum(self.eigenvalues, 0)
        self.target_mean, self.range = targets.mean(axis=0, dtype=np.float64), (targets.min(), targets.max())
        self.targets = self.vectors.T @ (targets - self.target_mean).reshape(len(targets), -1)

    def _standardised(self, inputs: np.ndarray) -> np.ndarray:
        return ((inputs - self.mean) / self.scale).reshape(len(inputs), -1)

    def predict(self, inputs: np.ndarray, penalty: float) -> np.ndarray:
        damped = self.eigenvalues + penalty * self.eigenvalues.mean()
        weights = self._standardised(inputs) @ self.inputs.T @ self.vectors / damped
        deviation = (weights @ self.targets).reshape(len(inputs), *self.target_mean.shape)
        return np.clip(self.target_mean + deviation, *self.range)
