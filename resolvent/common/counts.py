"""Counts in words: "1 run", "1,024 runs"."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, which has an s, or is `plural`, unless the number is 1."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
