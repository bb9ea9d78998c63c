"""What the figures of the theory's measurements have in common: names and looks."""

from resolvent.figures.common.style import ATTENTIONS, MUTED, Appearance

NAMES = {
    "galerkin": "Galerkin",
    "linear": "linear",
    "fourier": "Fourier",
    "fourier_linear": "Fourier as Q(KᵀV)",
    "fourier_quadratic": "Fourier as (QKᵀ)V",
    "softmax": "softmax",
}

FIT_LINE = 0.062  # height of a line of fits, as a fraction of the panel


def look(attention: str) -> Appearance:
    """Return the look of every figure; the reassociated Fourier attention is dashed and hollow."""
    colour, marker = ATTENTIONS[attention.partition("_")[0]]
    reassociated = attention == "fourier_linear"
    return Appearance(colour, marker, (0, (4, 1.6)) if reassociated else "-", not reassociated)


def list_fits(panel, head: str, fits: list[tuple[str, str]], *, left: float, top: float) -> None:
    """Write a key with fitted orders: (words, colour) below each other, from a corner in axes fractions."""
    for number, (words, colour) in enumerate([(head, MUTED), *fits]):
        y = top - FIT_LINE * number
        panel.text(left, y, words, transform=panel.transAxes, color=colour, fontsize=8.5, va="top")
