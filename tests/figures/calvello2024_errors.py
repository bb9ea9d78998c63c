"""Made-up runs of the experiments of Calvello et al. 2024 that the tables of it are tested on."""

import json

import pandas as pd
from run_files import replace_errors

STANDARDISED = 1.5  # errors of standardised fields over those in physical units
COUNTS = {"train_samples": 3600, "validation_samples": 200, "test_samples": 200, "epochs": 80}
TRAINING = {
    "normalisation": "scalar", "loss_units": "standardised", "loss": "h1_unit_spacing", "learning_rate": 1e-3,
}  # fmt: skip
DISTRIBUTION = {"sigma": 12.0, "tau": 6.0, "gamma": 2.0}
LOGNORMAL = {"equation": "darcy", "distribution": DISTRIBUTION, "push_forward": "lognormal"}
PIECEWISE = {**LOGNORMAL, "push_forward": "level_set", "above": 12.0, "below": 3.0}
KOLMOGOROV = {
    "equation": "kolmogorov", "viscosity": 1 / 70, "forcing_wavenumber": 4, "spin_up_time": 11.0,
    "lead_time": 0.1, "initial_distribution": {"sigma": 7**1.5, "tau": 7.0, "gamma": 2.5},
}  # fmt: skip
ENCODER = {"width": 128, "num_layers": 6, "feedforward_width": 128}
SMOOTHED = {"smoother": "learned", "smoother_modes": 64, "periodic_extension": False}
NETWORKS = {  # architecture, settings and parameters with a complex one once and twice
    "tno2d": ("tno2d", ENCODER, 598_145, 598_145),
    "fno": ("neuraloperator2d", {"width": 128, "num_layers": 4, "modes": 12, "model": "FNO"}, 5_705_089,
            11_210_113),
    "vit_no": ("vit_no", {**ENCODER, **SMOOTHED, "modes": 12}, 716_417, 835_201),
    "fano": ("fano", {**ENCODER, **SMOOTHED, "modes": 9}, 48_084_865, 95_868_801),
}  # fmt: skip


def write_calvello(make_run, model, dataset=LOGNORMAL, *, of=None, once=None, flop=10**9, **options):
    """A run in the paper's setting by default; `of` names the network of model's kind.

    `training` and `settings` replace single ones; lists of `errors` are in physical units.
    """
    architecture, settings, counted_once, twice = NETWORKS[of or model]
    folder = make_run(
        model,
        architecture=architecture,
        attention=None,
        dataset=dataset,
        setting=COUNTS
        | {"batch_size": 2, "epochs": 100 if options.get("resolution", 64) == 64 else 80}
        | options.pop("counts", {}),
        training=TRAINING
        | {"validation_samples": COUNTS["validation_samples"]}
        | options.pop("training", {}),
        settings=settings | options.pop("settings", {}),
        parameters=options.pop("parameters", twice),
        **{"resolution": 64, **options},
    )
    cost = json.loads((folder / "cost.json").read_text())
    cost |= {"parameters_complex_once": once or counted_once, "forward_flop": flop}
    (folder / "cost.json").write_text(json.dumps(cost))
    errors = pd.read_csv(folder / "errors.csv")
    errors["standardised_relative_l2"] = STANDARDISED * errors["relative_l2"]
    return replace_errors(folder, errors)
