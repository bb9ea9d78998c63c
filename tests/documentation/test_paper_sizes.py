"""Parameters, and the costs of a step, stand beside the papers'."""

import pandas as pd

from resolvent.common.digests import write_digest
from resolvent.documentation.paper_sizes import size_sections


def test_parameters_and_the_costs_of_a_step_stand_beside_the_papers(tmp_path):
    case = {"scope": "transformer1d", "points": 8192, "batch_size": 4, "rounds": 1, "device": "a processor"}
    costs = {"peak_bytes": 2e9, "seconds": 0.5}
    rows = [
        case | costs | {"attention": "galerkin", "contraction": "linear", "flop": 330e9},
        case | costs | {"attention": "fourier", "contraction": "linear", "flop": 330e9},
        case | costs | {"attention": "fourier", "contraction": "quadratic", "flop": 569e9},
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "cost.csv", index=False)
    write_digest(tmp_path / "cost.csv")
    sections = size_sections({"snakemake cost.csv": tmp_path / "cost.csv"})
    ours = sections["Cao 2021"]["Table 5, parameters"]
    assert "| `transformer1d` | 523k-530k | 530,305 | 1.001 |" in ours
    ours = sections["Calvello et al. 2024"]["Table 1, parameters"]
    assert "| `galerkin_encoder2d` fourier | 6.04e5 | 604,289 | 1.000 |" in ours
    table = sections["Cao 2021"]["Table 1"]
    assert "Galerkin | 275 | 330 | 1.20 | 2.36 | 2.00 | 27.15 | 2 |" in table
    assert "| 1138 | 569 | 0.50 |" in table
    assert table.count("\n| ") == 2  # below the header the two rows that the paper has
    assert "on a processor; 1 timing" in table
    assert "    snakemake cost.csv" in table
