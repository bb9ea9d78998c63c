"""What a store holds, in words, and how to read it."""

import re

from resolvent.common.counts import counted


def groups(card: dict) -> list[dict[str, str]]:
    """Return each group of the store in one row: its grid, and its variables with their dimensions."""
    return [
        {
            "name": name,
            "grid": _grid(group["grid"]),
            "variables": "; ".join(
                f"{variable} ({', '.join(facts['dimensions'])})"
                for variable, facts in group["variables"].items()
            ),
        }
        for name, group in card["groups"].items()
    ]


def _grid(facts: dict) -> str:
    if facts["kind"] == "explicit":
        times = facts["positions"]
        return f"{counted(len(times), 'time')} from {times[0]:g} to {times[-1]:g}"
    shape = " × ".join([f"{facts['points']:,}"] * facts["dimension"])
    return f"{shape}, {facts['kind'].replace('_', ' ')}"


def snippets(card: dict, path: str, store: str) -> dict[str, str]:
    """Return Python that reads the training samples, with this package and without.

    `path` is that of the card, `store` the path or the address of the store.
    """
    name, group = next(
        (name, group) for name, group in card["groups"].items() if card["inputs"][0] in group["variables"]
    )
    resolution = name[1:] if re.fullmatch(r"n\d+", name) else f'"{name}"'
    split = next(split for split, size in card["samples"].items() if size)
    shown = ", ".join(
        f'{split}["{variable}"].values'
        for variable in (*card["inputs"], *card["targets"])
        if variable in group["variables"]
    )
    return {
        "With Resolvent": f"import resolvent\n\n"
        f'{split} = resolvent.open_dataset("{path}", split="{split}", resolution={resolution})\n{shown}',
        "With xarray alone": f"import xarray\n\n"
        f'samples = xarray.open_dataset("{store}", group="{name}", engine="zarr", consolidated=False)\n'
        f'{split} = samples.isel(sample=samples.split == "{split}")',
    }
