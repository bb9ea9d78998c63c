"""Standard normal deviates from random bits, by the formula of Box and Muller, compiled with Numba.

    n₁ = √(-2 ln u) cos 2πv,    n₂ = √(-2 ln u) sin 2πv

Logarithm, sine and cosine are polynomials, evaluated in a fixed order: the same bits give the same deviates
on every machine, for any mathematical library. Source: Box and Muller 1958, Ann. Math. Statist. 29, 610.
"""

from fractions import Fraction
from math import factorial, pi

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from resolvent.solvers.common.compiled import compiled_exactly

_UNIT = 2.0**-53
_LN2 = 0.6931471805599453
_ROOT_HALF = int(np.float64(0.7071067811865476).view(np.int64))
_EXPONENT = ~((1 << 52) - 1)
# ln m = s Σ 2 s^{2k} / (2k + 1) with s = (m - 1) / (m + 1), whose modulus is below 0.172.
_L0, _L1, _L2, _L3, _L4, _L5, _L6, _L7, _L8, _L9, _L10 = (2 / (2 * k + 1) for k in range(11))
# Taylor series of sin(πx/2) and cos(πx/2), |x| ≤ 1/2, up to x¹⁷.
_TAYLOR = [float((-1) ** (k // 2) * Fraction(pi / 2) ** k / factorial(k)) for k in range(18)]
_C0, _S0, _C1, _S1, _C2, _S2, _C3, _S3, _C4, _S4, _C5, _S5, _C6, _S6, _C7, _S7, _C8, _S8 = _TAYLOR


@compiled_exactly
def scatter_deviates(words, places, factors, values):
    """Set values[places[i]] to factors[i] times the i-th deviate from random 64-bit words."""
    deviates = np.empty(words.size)
    _deviates(words, deviates)
    for i in range(places.size):
        values[places[i]] = factors[i] * deviates[i]


@compiled_exactly
def _deviates(words, deviates):
    """Convert pairs of words to pairs of deviates."""
    for pair in range(words.size // 2):
        # ln u for u = m 2^e between 0 and 1, with m between √½ and √2.
        bits = _bits_of((np.float64(np.int64(words[2 * pair] >> np.uint64(11))) + 0.5) * _UNIT)
        exponent = (bits - _ROOT_HALF) & _EXPONENT
        m = _number_of(bits - exponent)
        s = (m - 1.0) / (m + 1.0)
        z = s * s
        tail = _L5 + z * (_L6 + z * (_L7 + z * (_L8 + z * (_L9 + z * _L10))))
        tail = _L0 + z * (_L1 + z * (_L2 + z * (_L3 + z * (_L4 + z * tail))))
        radius = np.sqrt(-2.0 * (np.float64(exponent >> 52) * _LN2 + s * tail))
        # Two bits select the quarter of the circle, the others the angle relative to its middle.
        word = words[2 * pair + 1]
        quarter = np.int64(word >> np.uint64(62))
        x = np.float64(np.int64((word << np.uint64(2)) >> np.uint64(11))) * _UNIT - 0.5
        z = x * x
        sine = _S4 + z * (_S5 + z * (_S6 + z * (_S7 + z * _S8)))
        sine = x * (_S0 + z * (_S1 + z * (_S2 + z * (_S3 + z * sine))))
        cosine = _C4 + z * (_C5 + z * (_C6 + z * (_C7 + z * _C8)))
        cosine = _C0 + z * (_C1 + z * (_C2 + z * (_C3 + z * cosine)))
        odd = (quarter & 1) == 1
        first, second = (sine if odd else cosine), (cosine if odd else sine)
        deviates[2 * pair] = radius * (-first if ((quarter + 1) & 2) == 2 else first)
        deviates[2 * pair + 1] = radius * (-second if quarter >= 2 else second)


@intrinsic
def _bits_of(typing, number):
    """Return the 64 bits of a number as an integer."""

    def code(context, builder, signature, values):
        return builder.bitcast(values[0], ir.IntType(64))

    return types.int64(types.float64), code


@intrinsic
def _number_of(typing, bits):
    """Return the number with these 64 bits."""

    def code(context, builder, signature, values):
        return builder.bitcast(values[0], ir.DoubleType())

    return types.float64(types.int64), code
