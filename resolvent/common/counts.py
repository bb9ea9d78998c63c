"""Format counts and settings, such as "1,024 runs" and "width 64", and warn of small counts."""

from collections.abc import Iterable

FEW_TEST_SAMPLES = 30  # with fewer, confidence intervals are unreliable


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `noun` for 1, else `plural`, by default `noun` with an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def settings_in_words(settings: Iterable[tuple[str, object]]) -> str:
    """Return what the label of a model with one of several values ends with: "64 samples, width 16"."""
    return ", ".join(
        counted(value, "sample")
        if name == "train_samples" and isinstance(value, int)
        else f"{name.replace('_', ' ')} {value_in_words(value)}"
        for name, value in settings
    )


def value_in_words(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def of_few(test_samples: int) -> str:
    """Return a warning if there are few test samples, else an empty text."""
    if test_samples >= FEW_TEST_SAMPLES:
        return ""
    return (
        f"{counted(test_samples, 'test sample')}: of fewer than {FEW_TEST_SAMPLES} the 95 % intervals can be "
        "far off; take more."
    )
