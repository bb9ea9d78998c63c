"""Runs of one architecture at several widths, as Figures 10 and 11 of Calvello et al. 2024 gather them."""

import json

from resolvent.figures.common.results import Run

OF_WIDTH = ("width", "feedforward_width")  # settings that grow with the width


def families(runs: list[Run]) -> list[list[str]]:
    """Group keys of models that differ in their width alone, from narrow to wide."""
    widths: dict[str, dict[str, int]] = {}
    for run in runs:
        settings = run.record.settings
        others = {name: value for name, value in settings.items() if name not in OF_WIDTH}
        kind = json.dumps([run.record.architecture, others], sort_keys=True)
        widths.setdefault(kind, {})[run.model] = settings.get("width", 0)
    return [sorted(members, key=members.get) for members in widths.values()]


def widest(runs: list[Run]) -> list[str]:
    """Return the key of the widest model of each family."""
    return [family[-1] for family in families(runs)]
