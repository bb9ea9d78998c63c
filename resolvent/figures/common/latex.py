"""Text for LaTeX: its special characters escaped, its mathematics set as such."""

import re

SPECIAL = {character: f"\\{character}" for character in "&%#_${}"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "—": "---",
    "–": "--",
    "…": r"\ldots{}",
    "[": "{[}",  # behind the end of a row it would begin an option
    **{sign: f"${sign}$" for sign in "<>|"},  # other signs in LaTeX's default fonts
}
GREEK = """\
α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu
ξ xi π pi ρ rho σ sigma τ tau υ upsilon φ varphi χ chi ψ psi ω omega
Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Φ Phi Ψ Psi Ω Omega"""
SIGNS = """\
× times √ surd ≤ leq ≥ geq ≈ approx ± pm · cdot → to ∞ infty ∂ partial ∇ nabla ‖ | ∫ int ⟨ langle ⟩ rangle"""
WORDS = f"{GREEK} {SIGNS}".split()
MATHEMATICS = {sign: rf"$\{name}$" for sign, name in zip(WORDS[::2], WORDS[1::2], strict=True)}
MATHEMATICS |= {"−": "$-$", "ℓ": r"$\ell$"}
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀ", "0123456789-T")
SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def latex_text(text: str) -> str:
    """Return `text` for LaTeX, in ASCII but for letters with accents."""
    text = text.translate(str.maketrans(SPECIAL | MATHEMATICS))
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀ]+", lambda raised: f"$^{{{raised[0].translate(SUPERSCRIPTS)}}}$", text)
    return re.sub("[₀-₉]+", lambda lowered: f"$_{{{lowered[0].translate(SUBSCRIPTS)}}}$", text)
