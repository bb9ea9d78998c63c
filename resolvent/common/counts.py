"""Format counts, such as "1 run" and "1,024 runs", and warn of small counts."""

FEW_TEST_SAMPLES = 30  # with fewer, confidence intervals are unreliable


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `noun` for 1, else `plural`, by default `noun` with an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def size_in_words(samples: int, width: int | None) -> str:
    """Return the end of a model's label where several sizes are compared: ", 64 samples, width 16"."""
    return f", {counted(samples, 'sample')}" + (f", width {width}" if width else "")


def of_few(test_samples: int) -> str:
    """Return a warning if there are few test samples, else an empty text."""
    if test_samples >= FEW_TEST_SAMPLES:
        return ""
    return (
        f"{counted(test_samples, 'test sample')}: of fewer than {FEW_TEST_SAMPLES} the 95 % intervals can be "
        "far off; take more."
    )
