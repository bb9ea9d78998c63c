"""What evaluation keeps of the power by wavenumber; and that the same weights give the same errors."""

import numpy as np
import pytest
import torch
from torch import nn
from training_fixtures import rough_samples, smooth_samples

from resolvent.common.predictions import condition
from resolvent.datasets.spectra import powers
from resolvent.evaluation.conditions import Condition, evaluate, predict
from resolvent.models.build import build

CPU, SHOWN = torch.device("cpu"), np.array([0])


class Half(nn.Module):
    """Half of what it should be: for samples whose targets are their inputs."""

    def forward(self, u, x):
        return u / 2


def kept_of(samples, operator=None):
    _, kept = evaluate(operator, [(Condition(13), samples)], CPU, SHOWN)
    (node,) = kept.children.values()
    return condition(kept, node.attrs["resolution"], 0.0)


@pytest.mark.parametrize(("samples", "step"), [(rough_samples(5), 0.5), (smooth_samples(3), 1.0)])
def test_evaluation_keeps_the_spectra_of_fields_and_of_functions(samples, step):
    kept = kept_of(type(samples)(samples.grid, samples.targets, samples.targets), Half())
    expected = powers(samples.targets, samples.grid).mean(axis=0)
    np.testing.assert_array_equal(kept["target_power"].values, expected)
    for name in ("error_power", "prediction_power"):
        np.testing.assert_allclose(kept[name].values, expected / 4, rtol=1e-4, atol=1e-12)
    np.testing.assert_array_equal(kept["wavenumber"].values, step * np.arange(len(expected)))
    lost = kept_of(samples)  # diverged
    np.testing.assert_array_equal(lost["target_power"].values, expected)
    assert np.isnan(lost["error_power"].values).all()


AS_CODED = {"attention": "fourier", "attention_dropout": 0.5, "attention_dropout_in_evaluation": True}


def test_units_dropped_in_evaluation_are_the_same_in_every_call():
    operator, samples = build("transformer1d", AS_CODED, seed=0), smooth_samples(4)
    before = torch.get_rng_state()
    first = predict(operator, samples, CPU)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(7)
    np.testing.assert_array_equal(predict(operator, samples, CPU), first)
    assert np.isfinite(first).all()
