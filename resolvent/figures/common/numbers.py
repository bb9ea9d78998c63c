"""Format numbers for readers (errors in a unit, powers of ten, durations), and names of metrics."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resolvent.figures.common.intervals import Interval

UNIT = 1e-3  # default unit of errors
DASH = "—"
SCIENTIFIC = re.compile(r" × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
ENDS = re.compile(r"\(([\d.]+) to ([\d.]+)\)( × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ON_THE_LINE = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
FACTOR = 10_000  # largest ratio of an error and the ends of its interval shown as numbers

METRICS = {  # names on pages; other metrics are named by their columns
    "relative_l2": "relative L²",
    "relative_h1": "relative H¹",
    "standardised_relative_l2": "relative L², standardised fields",
}


def in_units(value: float, unit: float) -> str:
    """Return an error in a unit, as in the papers: 1.203, 14.60, 911.4; below 0.001: 4.20 × 10⁻⁴."""
    scaled = value / unit
    if scaled < 1e-3:
        return scientific(scaled)
    return f"{scaled:.3f}" if scaled < 10 else f"{scaled:.2f}" if scaled < 100 else f"{scaled:.1f}"


def scientific(value: float, digits: int = 3) -> str:
    """Return a number with an exponent, 1.20 × 10⁻³, or without an exponent from 0.1 to 1000."""
    if absent(value) or not math.isfinite(value):
        return DASH
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if -1 <= int(exponent) < 3:
        return f"{value:.{max(0, digits - 1 - int(exponent))}f}"
    return f"{mantissa} × {power(10.0 ** int(exponent))}"


def ends(low: float | None, high: float | None, middle: float, digits: int = 3) -> str:
    """Return the ends of an interval, both with the exponent of its middle: "(1.56 to 2.91) × 10⁻²".

    Each end has its own exponent if the middle's gives too few or too many digits. An interval without ends
    is an empty text, one that is too wide to be informative a sentence.
    """
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    if middle > 0 and (high > FACTOR * middle or low < middle / FACTOR):
        return f"(uncertain by a factor above {FACTOR:,})"
    exponent = int(f"{middle:.{digits - 1}e}".split("e")[1]) if middle else 0
    unit = 1.0 if -1 <= exponent < 3 else 10.0**exponent
    if low < 10.0 ** (exponent - 1) or high >= 10.0 ** (exponent + 2):
        return f"({scientific(low, digits)} to {scientific(high, digits)})"
    places = max(0, digits - 1 - (exponent if unit == 1.0 else 0))
    raised = f" × {power(unit)}" if unit != 1.0 else ""
    return f"({low / unit:.{places}f} to {high / unit:.{places}f}){raised}"


def plain(text: str) -> str:
    """Return text with the numbers of `scientific` and `ends` in machine-readable form: 1.20e-03."""
    text = ENDS.sub(lambda found: f"{found[1]}{found[3] or ''} to {found[2]}{found[3] or ''}", text)
    return SCIENTIFIC.sub(lambda found: f"e{int(found[1].translate(ON_THE_LINE)):+03d}", text)


def power(unit: float) -> str:
    """Return 1e-3 as 10⁻³."""
    return f"10{str(round(math.log10(unit))).translate(RAISED)}"


def times(ratio: float) -> str:
    """Return a ratio: 4.0 × 10⁻³, 0.048, 0.83, 12.3, 2.6 × 10⁴."""
    if not 0.01 <= ratio < 1000:
        return scientific(ratio, 2)
    return f"{ratio:.{3 if ratio < 0.1 else 2 if ratio < 10 else 1}f}"


def ratio_in_words(ratio: Interval | None) -> tuple[str, str]:
    """Return a ratio and its interval, "0.78 to 1.05"; what is unknown is empty."""
    if ratio is None:
        return "", ""
    return times(ratio.value), "" if absent(ratio.low) else f"{times(ratio.low)} to {times(ratio.high)}"


def duration(seconds: float | None) -> str:
    """Format seconds: 8.4 s, 3.2 min, 1.5 h."""
    if seconds is None or math.isnan(seconds):
        return DASH
    for size, name in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.1f} s"


def short_duration(seconds: float | None) -> str:
    """Format seconds of a computation: 87.3 µs, 4.07 ms, 8.4 s."""
    for factor, name in ((1e6, "µs"), (1e3, "ms")):
        if seconds is not None and seconds * factor < 999.5:
            return f"{seconds * factor:.3g} {name}"
    return duration(seconds)


def in_bytes(size: float) -> str:
    """Format a size: 812 bytes, 3.42 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def absent(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def error_in_words(metric: str) -> str:
    """Return the name of an error in this metric, such as "relative L² error"."""
    of = {"standardised_relative_l2": "relative L² error of standardised functions"}
    return of.get(metric, f"{name_of(metric)} error")


def name_of(metric: str) -> str:
    function = metric.removeprefix("relative_l2_")
    of_function = f"relative L², {function.replace('_', ' ')}"
    return METRICS.get(metric, of_function if function != metric else metric.replace("_", " "))
