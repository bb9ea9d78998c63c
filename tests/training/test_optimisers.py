"""The Adam of torch 1.8 against its rule in complex numbers, and against today's Adam on real weights."""

import numpy as np
import torch

from resolvent.models.build import build, real_pairs
from resolvent.training.optimisers import AdamOfTorch18, build_optimiser
from resolvent.training.settings import TrainingSettings

CONSTANTS = {"lr": 0.01, "weight_decay": 0.1}


def rule_in_complex_numbers(weight, gradients):
    """Adam of torch 1.8 (torch/optim/_functional.py): `exp_avg_sq.addcmul_(grad, grad)`, no conjugate."""
    m = v = 0
    for t, gradient in enumerate(gradients, start=1):
        gradient = gradient + CONSTANTS["weight_decay"] * weight
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient * gradient
        weight = weight - CONSTANTS["lr"] * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return weight


def stepped(optimiser, parameter, gradients):
    for gradient in gradients:
        parameter.grad = torch.as_tensor(gradient).clone()
        optimiser.step()
    return parameter.detach().numpy()


def test_real_pairs_follow_the_rule_in_complex_numbers():
    random = np.random.default_rng(0)
    start, *gradients = random.standard_normal((8, 5, 3, 2))
    pair = torch.nn.Parameter(torch.tensor(start))
    ours = stepped(AdamOfTorch18([pair], {pair}, **CONSTANTS), pair, gradients)
    expected = rule_in_complex_numbers(
        *(array.view(complex)[..., 0] for array in (start, np.array(gradients)))
    )
    np.testing.assert_allclose(ours.view(complex)[..., 0], expected, rtol=1e-12)
    # Today's rule takes each part by its own size.
    today = torch.nn.Parameter(torch.tensor(start))
    other = stepped(torch.optim.Adam([today], **CONSTANTS), today, gradients)
    assert np.abs(ours - other).max() > 0.1 * np.abs(other - start).max()


def test_real_weights_are_trained_as_by_todays_adam():
    random = np.random.default_rng(1)
    start, *gradients = random.standard_normal((8, 5, 2))
    ours, today = (torch.nn.Parameter(torch.tensor(start)) for _ in range(2))
    one = stepped(AdamOfTorch18([ours], set(), **CONSTANTS), ours, gradients)
    np.testing.assert_allclose(
        one, stepped(torch.optim.Adam([today], **CONSTANTS), today, gradients), rtol=1e-12
    )


def test_the_pairs_of_an_fno_are_its_spectral_weights():
    operator = build("fno1d", {"width": 8, "num_layers": 3, "modes": 4, "projection_width": 12}, seed=0)
    optimiser = build_optimiser(operator, TrainingSettings(optimiser="adam_torch_1_8"))
    names = {name for name, parameter in operator.named_parameters() if parameter in optimiser.pairs}
    assert names == {f"layers.{layer}.convolution.weight" for layer in range(3)}
    assert optimiser.pairs == real_pairs(operator)
