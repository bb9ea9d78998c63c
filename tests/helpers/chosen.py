"""Complete the configuration of `resolvent import` as a user does: choose a candidate for each open line."""

from typing import Any

import yaml

from resolvent.common.settings import CHOOSE
from resolvent.datasets.imported.check import Report


def candidates(value: Any) -> list[Any]:
    """Return the candidates of a value that is left to the user, as YAML reads them when they are typed."""
    (text,) = value if isinstance(value, list) else [value]
    assert text.startswith(CHOOSE), text
    return [yaml.safe_load(candidate) for candidate in text.removeprefix(CHOOSE).split("; ")]


def chosen(report: Report, **answers: Any) -> dict[str, Any]:
    """Return the dataset of a report with `answers` by key; each answer is one of the candidates.

    If there are several entries, `axes` chooses one of them.
    """
    assert report.problem is None, report.problem
    datasets = yaml.safe_load(report.text())["datasets"]
    if len(datasets) > 1:
        (entry,) = [name for name, block in datasets.items() if block["axes"] == answers["axes"]]
        assert candidates(next(iter(report.configuration["build"].values()))) == list(datasets)
    else:
        (entry,) = datasets
    block = dict(datasets[entry])
    for key, answer in answers.items():
        if str(block[key]).startswith(CHOOSE):
            assert answer in candidates(block[key]), (key, block[key])
            block[key] = answer
        assert block[key] == answer, (key, block[key])
    left = [key for key, value in block.items() if CHOOSE in str(value)]
    assert not left, f"{left} are not chosen"
    return block
