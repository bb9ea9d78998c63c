"""The same weights give the same errors, whatever was drawn before."""

import numpy as np
import torch
from training_fixtures import smooth_samples

from resolvent.evaluation.conditions import predict
from resolvent.models.build import build

AS_CODED = {"attention": "fourier", "attention_dropout": 0.5, "attention_dropout_in_evaluation": True}


def test_units_dropped_in_evaluation_are_the_same_in_every_call():
    operator, samples = build("transformer1d", AS_CODED, seed=0), smooth_samples(4)
    before = torch.get_rng_state()
    first = predict(operator, samples, torch.device("cpu"))
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(7)
    np.testing.assert_array_equal(predict(operator, samples, torch.device("cpu")), first)
    assert np.isfinite(first).all()
