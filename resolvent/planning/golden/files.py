"""Write golden numbers to tests/golden/<part>-v<version>.json, and compare them with those of the code.

A file has, of each array, its shape, norm, a projection and a few values. Arrays agree if these differ by no
more than the tolerance: `DOUBLE` for computations in double precision, `SINGLE` where networks compute,
relative to the norm or the largest value. Other processors and numbers of threads differ by less.
"""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from resolvent.common.files import write_text
from resolvent.models.registry import ARCHITECTURES
from resolvent.models.registry import settings_class as architecture_class
from resolvent.planning.golden.numbers import class_of, defaults_of, numbers_of
from resolvent.planning.places import HOME
from resolvent.planning.versions import BASELINES, CHECKS, DATASETS, METRICS, MODULES

FOLDER = HOME / "tests/golden"
COMMAND = "python -m resolvent.planning.golden"
# On two threads instead of one, three steps of a CODANO differ by 1.4e-5, all others by less than 1e-5.
DOUBLE, SINGLE = 1e-9, 5e-5
DIGITS = {DOUBLE: 7, SINGLE: 3}  # of a number in the name of an edit
NETWORKS = ("training", "evaluation", "estimates", "rollout")  # beside the architectures
FEW = 12  # values kept of an array


def version_of(part: str) -> int:
    """Return the version of a part where it is defined."""
    if part in ARCHITECTURES:
        return architecture_class(part).version
    if part.removesuffix(CHECKS) in DATASETS:
        known = class_of(part.removesuffix(CHECKS))
        return known.checks_version if part.endswith(CHECKS) else known.version
    module = import_module(MODULES[part])
    return module.VERSIONS[part] if part in (*METRICS, *BASELINES) else module.VERSION


def file_of_version(part: str, version: int) -> Path:
    return FOLDER / f"{part}-v{version}.json"


def tolerance(part: str) -> float:
    return SINGLE if part in (*ARCHITECTURES, *NETWORKS) else DOUBLE


def content_of(part: str) -> dict[str, Any]:
    """Compute what the file of a part has now: defaults of its settings, and its numbers."""
    numbers = {name: _summary(values) for name, values in numbers_of(part).items()}
    return {"defaults": defaults_of(part), "numbers": numbers}


def write(part: str, version: int, content: dict) -> None:
    """Write the file of a part, and remove those of its other versions."""
    for path in FOLDER.glob(f"{part}-v*.json"):
        path.unlink()
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_text(file_of_version(part, version), json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def shift_of(part: str, version: int, content: dict) -> str:
    """Return how the numbers of a part differ from those in the file of its version; "" if they agree.

    Raises `FileNotFoundError` if there is no such file.
    """
    kept = json.loads(file_of_version(part, version).read_text(encoding="utf-8"))
    for name, default in kept["defaults"].items():  # a setting that is new changes nothing
        if not _holds(default, content["defaults"].get(name, "none")):
            return f"the default of {name} is {content['defaults'].get(name, 'gone')}, not {default}"
    before, after = kept["numbers"], content["numbers"]
    if before.keys() != after.keys():
        return f"its numbers are others: {', '.join(sorted(before.keys() ^ after.keys())[:3])}"
    distances = {name: _distance(before[name], after[name]) for name in before}
    name = max(distances, key=lambda name: distances[name])
    if distances[name] <= tolerance(part):
        return ""
    return f"its numbers moved by {distances[name]:.1e} ({name})"


def digest_of_numbers(part: str, content: dict) -> str:
    """Return eight hexadecimal digits of a part's numbers; numbers within the tolerance rarely differ."""
    rounded = dict(content["defaults"])
    for name, entry in content["numbers"].items():
        if isinstance(entry, dict):
            scaled = _values(entry) / _scale(entry)
            entry = scaled.round(DIGITS[tolerance(part)]).tolist()
        rounded[f"{name}:"] = entry
    return hashlib.sha256(json.dumps(rounded, sort_keys=True).encode()).hexdigest()[:8]


def _summary(array: Any) -> Any:
    if isinstance(array, list):  # text
        return array
    array = np.asarray(array, dtype=np.float64)
    flat = array.ravel()
    finite = np.nan_to_num(flat)
    places = np.unique(np.linspace(0, len(flat) - 1, FEW).round().astype(int))
    # A projection changes with every value, also where no value is kept.
    projection = float(finite @ np.cos(1.7 * np.arange(len(flat))))
    return {
        "shape": list(array.shape),
        "norm": float(f"{np.linalg.norm(finite):.13g}"),
        "projection": float(f"{projection:.13g}"),
        "values": [float(f"{value:.13g}") if np.isfinite(value) else None for value in flat[places]],
    }


def _values(entry: dict) -> np.ndarray:
    return np.array(entry["values"], dtype=float)  # null, which is no finite number, becomes NaN


def _scale(entry: dict) -> float:
    largest = np.nan_to_num(abs(_values(entry))).max(initial=0.0)
    return max(largest, entry["norm"] / max(1.0, np.prod(entry["shape"]) ** 0.5), 1e-300)


def _holds(before: Any, now: Any) -> bool:
    """Return whether a default is as before; a setting that is new inside of it changes nothing either."""
    if before and isinstance(before, dict) and isinstance(now, dict):
        return all(key in now and _holds(value, now[key]) for key, value in before.items())
    return now == before


def _distance(before: Any, after: Any) -> float:
    if isinstance(before, list) or isinstance(after, list):
        return 0.0 if before == after else np.inf
    known, computed = _values(before), _values(after)
    if before["shape"] != after["shape"] or not np.array_equal(np.isnan(known), np.isnan(computed)):
        return np.inf
    norms = [abs(before[key] - after[key]) / max(before["norm"], 1e-300) for key in ("norm", "projection")]
    return max(np.nan_to_num(abs(known - computed)).max(initial=0.0) / _scale(before), *norms)
