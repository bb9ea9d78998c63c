"""Made-up runs of the experiments of Calvello et al. 2024 that the tables of it are tested on."""

import json

import pandas as pd
from run_files import replace_errors

STANDARDISED = 1.5  # errors of standardised fields over those in physical units
COUNTS = {"train_samples": 3600, "validation_samples": 200, "test_samples": 200, "batch_size": 2}
DISTRIBUTION = {"sigma": 12.0, "tau": 6.0, "gamma": 2.0}
LOGNORMAL = {"equation": "darcy", "distribution": DISTRIBUTION, "push_forward": "lognormal"}
PIECEWISE = LOGNORMAL | {"push_forward": "level_set"}
KOLMOGOROV = {"equation": "kolmogorov"}
NETWORKS = {  # architecture, and parameters with a complex one once and twice
    "tno2d": ("tno2d", 598_145, 598_145),
    "fno": ("neuraloperator2d", 5_705_089, 11_210_113),
    "vit_no": ("vit_no", 716_417, 835_201),
    "fano": ("fano", 48_084_865, 95_868_801),
}


def write_calvello(make_run, model, dataset=LOGNORMAL, *, of=None, once=None, flop=10**9, **options):
    """A run in the paper's setting by default; `of` names the network of model's kind.

    `training` and `settings` replace single ones; lists of `errors` are in physical units.
    """
    architecture, counted_once, twice = NETWORKS[of or model]
    epochs = {"epochs": 100 if options.get("resolution", 64) == 64 else 80}
    training = {"validation_samples": COUNTS["validation_samples"]} | options.pop("training", {})
    folder = make_run(
        model, architecture=architecture, attention=None, dataset=dataset, training=training,
        setting=COUNTS | epochs | options.pop("counts", {}), parameters=options.pop("parameters", twice),
        settings={"width": 128} | options.pop("settings", {}), **{"resolution": 64, **options},
    )  # fmt: skip
    cost = json.loads((folder / "cost.json").read_text())
    cost |= {"parameters_complex_once": once or counted_once, "forward_flop": flop}
    (folder / "cost.json").write_text(json.dumps(cost))
    errors = pd.read_csv(folder / "errors.csv")
    errors["standardised_relative_l2"] = STANDARDISED * errors["relative_l2"]
    return replace_errors(folder, errors)
