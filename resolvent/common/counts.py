"""Counts in words: "1 run", "1,024 runs"; and counts that are too small."""

FEW_TEST_SAMPLES = 30  # below so many an interval over them is not to be relied on


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, which has an s, or is `plural`, unless the number is 1."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def size_in_words(samples: int, width: int | None) -> str:
    """Return what the label of a model at one of several sizes ends with: ", 64 samples, width 16"."""
    return f", {counted(samples, 'sample')}" + (f", width {width}" if width else "")


def of_few(test_samples: int) -> str:
    """Return a sentence of warning where there are few test samples; else an empty text."""
    if test_samples >= FEW_TEST_SAMPLES:
        return ""
    return (
        f"{counted(test_samples, 'test sample')}: of fewer than {FEW_TEST_SAMPLES} the 95 % intervals can be "
        "far off; take more."
    )
