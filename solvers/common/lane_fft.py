"""Fast Fourier transforms of eight complex series at once, compiled with Numba.

    X_k = Σ_{j=0}^{n-1} x_j e^{-2πijk/n},    n without prime factors above 13

Libraries that transform one series after another leave most of a processor's vector unit idle. Here the
corresponding numbers of eight series form one vector. Real and imaginary parts are separate flat arrays (n ·
LANES). Exchanging them gives the unnormalised inverse transform.

Method: Stockham's autosort form of the mixed-radix algorithm, between two buffers (Van Loan 1992,
Computational Frameworks for the Fast Fourier Transform, 1.7).
"""

from functools import lru_cache

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from resolvent.solvers.common.compiled import compiled
from resolvent.solvers.common.vectors import FLAGS, LANES, VECTOR
from resolvent.solvers.common.vectors import spread as spread_out

RADICES = (13, 11, 7, 5, 3, 8, 4, 2)


@lru_cache(maxsize=32)
def plan(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return radices with product `length`, and the roots of unity in the order of use, flat.

    Raises `ValueError` if the length has a prime factor above 13.
    """
    radices, twiddles, left = [], [], length
    for radix in RADICES:
        while left % radix == 0:
            radices.append(radix)
            left //= radix
    if left != 1:
        raise ValueError(f"length must have no prime factor above {max(RADICES)}, got {length}")
    left = length
    for radix in radices:
        turns = np.outer(np.arange(left // radix), np.arange(1, radix)) / left
        roots = np.exp(-2j * np.pi * turns)
        twiddles.append(np.stack([roots.real, roots.imag], axis=-1).ravel())
        left //= radix
    return np.array(radices), np.concatenate([*twiddles, np.zeros(2)])


@compiled
def transform(real, imaginary, other_real, other_imaginary, radices, twiddles):
    """Transform the series in (real, imaginary), flat (n · LANES).

    Returns 0 if the result is in these buffers, 1 if it is in the other two, which have the same size.
    """
    length, flipped = real.size // LANES, 0
    chunk, offset = np.int64(LANES), np.int64(0)
    for radix in radices:
        length //= radix
        if flipped:
            _stage(other_real, other_imaginary, real, imaginary, length, chunk, twiddles, offset, radix)
        else:
            _stage(real, imaginary, other_real, other_imaginary, length, chunk, twiddles, offset, radix)
        flipped = 1 - flipped
        chunk *= radix
        offset += 2 * length * (radix - 1)
    return flipped


@compiled
def as_rows(series, target, row, rows, width):
    """Store the first `rows` of the series, each as a row of `target`, from `row` on."""
    for lane in range(rows):
        start = (row + lane) * width
        for j in range(series.size // LANES):
            target[start + j] = series[j * LANES + lane]


@compiled
def _stage(xr, xi, yr, yi, groups, chunk, twiddles, offset, radix):
    """Run one stage of the algorithm, from x to y."""
    if radix == 8:
        _butterflies(xr, xi, yr, yi, groups, chunk, twiddles, offset, 8)
    elif radix == 4:
        _butterflies(xr, xi, yr, yi, groups, chunk, twiddles, offset, 4)
    elif radix == 2:
        _butterflies(xr, xi, yr, yi, groups, chunk, twiddles, offset, 2)
    elif radix == 3:
        _butterflies(xr, xi, yr, yi, groups, chunk, twiddles, offset, 3)
    elif radix == 5:
        _butterflies(xr, xi, yr, yi, groups, chunk, twiddles, offset, 5)
    elif radix == 7:
        _butterflies(xr, xi, yr, yi, groups, chunk, twiddles, offset, 7)
    elif radix == 11:
        _butterflies(xr, xi, yr, yi, groups, chunk, twiddles, offset, 11)
    else:
        _butterflies(xr, xi, yr, yi, groups, chunk, twiddles, offset, 13)


@intrinsic(prefer_literal=True)
def _butterflies(typing, xr, xi, yr, yi, groups, chunk, twiddles, offset, radix):
    """Transform `radix` chunks at a time, vector by vector, and multiply them by the twiddles of their group.

    Written in LLVM instructions, because Numba has no vector types and does not vectorise loops over arrays
    that may overlap.
    """
    if not isinstance(radix, types.IntegerLiteral):
        return None
    size, number = radix.literal_value, types.intp
    arguments = (xr, xi, yr, yi, number, number, twiddles, number, radix)

    def code(context, builder, signature, values):
        _, _, _, _, groups, chunk, _, offset, _ = values
        word = chunk.type
        arithmetic = _Arithmetic(builder)

        def address(position, index):
            array = context.make_array(signature.args[position])(context, builder, values[position])
            return builder.gep(array.data, [index])

        def vector(position, index):
            return builder.bitcast(address(position, index), VECTOR.as_pointer())

        def spread(index):
            return spread_out(builder, builder.load(address(6, index)))

        def times(value, count):
            return builder.mul(value, word(count))

        apart = builder.mul(groups, chunk)
        with cgutils.for_range(builder, groups, intp=word) as outer:
            table = builder.add(offset, times(outer.index, 2 * (size - 1)))
            roots = [
                tuple(spread(builder.add(table, word(2 * k + part))) for part in (0, 1))
                for k in range(size - 1)
            ]
            at = builder.mul(outer.index, chunk)
            starts = [builder.add(at, times(apart, k)) for k in range(size)]
            ends = [builder.add(times(at, size), times(chunk, k)) for k in range(size)]
            with cgutils.for_range_slice(builder, word(0), chunk, word(LANES), word) as (t, _):
                inputs = [
                    tuple(builder.load(vector(part, builder.add(start, t)), align=8) for part in (0, 1))
                    for start in starts
                ]
                first, *others = arithmetic.dft(inputs)
                turned = [arithmetic.product(*pair) for pair in zip(others, roots, strict=True)]
                for end, output in zip(ends, [first, *turned], strict=True):
                    for part, value in zip((2, 3), output, strict=True):
                        builder.store(value, vector(part, builder.add(end, t)), align=8)
        return context.get_dummy_value()

    return types.void(*arguments), code


class _Arithmetic:
    """Arithmetic of complex numbers as pairs of vectors, and short transforms."""

    def __init__(self, builder):
        self.builder = builder

    def add(self, a, b):
        return tuple(self.builder.fadd(x, y, flags=FLAGS) for x, y in zip(a, b, strict=True))

    def subtract(self, a, b):
        return tuple(self.builder.fsub(x, y, flags=FLAGS) for x, y in zip(a, b, strict=True))

    def scaled(self, a, factor):
        spread = ir.Constant(VECTOR, [float(factor)] * LANES)
        return tuple(self.builder.fmul(x, spread, flags=FLAGS) for x in a)

    def product(self, a, b):
        def times(x, y):
            return self.builder.fmul(x, y, flags=FLAGS)

        real = self.builder.fsub(times(a[0], b[0]), times(a[1], b[1]), flags=FLAGS)
        return real, self.builder.fadd(times(a[0], b[1]), times(a[1], b[0]), flags=FLAGS)

    def turned(self, a, b):
        """Return a - ib and a + ib."""
        sums = [self.builder.fadd(a[k], b[1 - k], flags=FLAGS) for k in (0, 1)]
        differences = [self.builder.fsub(a[k], b[1 - k], flags=FLAGS) for k in (0, 1)]
        return (sums[0], differences[1]), (differences[0], sums[1])

    def eighth(self, a):
        """Return e^{-iπ/4} a."""
        real = self.builder.fadd(*a, flags=FLAGS)
        imaginary = self.builder.fsub(a[1], a[0], flags=FLAGS)
        return self.scaled((real, imaginary), np.sqrt(0.5))

    def dft(self, x):
        """Return the transform of a list of 2, 4, 8 or an odd number of complex vectors."""
        if len(x) == 2:
            return [self.add(*x), self.subtract(*x)]
        if len(x) == 4:
            even, odd = self.dft(x[::2]), self.dft(x[1::2])
            second, fourth = self.turned(even[1], odd[1])
            return [self.add(even[0], odd[0]), second, self.subtract(even[0], odd[0]), fourth]
        if len(x) == 8:
            even, odd = self.dft(x[::2]), self.dft(x[1::2])
            odd[1], odd[3] = self.eighth(odd[1]), self.eighth(odd[3])
            second, sixth = self.turned(even[2], odd[2])
            fourth, eighth = self.turned(even[3], odd[3])
            return [
                self.add(even[0], odd[0]),
                self.add(even[1], odd[1]),
                second,
                fourth,
                self.subtract(even[0], odd[0]),
                self.subtract(even[1], odd[1]),
                sixth,
                eighth,
            ]
        half = range(1, len(x) // 2 + 1)
        sums = [self.add(x[k], x[-k]) for k in half]
        differences = [self.subtract(x[k], x[-k]) for k in half]
        first = x[0]
        low: list = []
        high: list = []
        for one in sums:
            first = self.add(first, one)
        for j in half:
            angles = [2 * np.pi * (j * k % len(x)) / len(x) for k in half]
            even, odd = x[0], self.scaled(differences[0], np.sin(angles[0]))
            for angle, one in zip(angles, sums, strict=True):
                even = self.add(even, self.scaled(one, np.cos(angle)))
            for angle, one in zip(angles[1:], differences[1:], strict=True):
                odd = self.add(odd, self.scaled(one, np.sin(angle)))
            for side, value in zip((low, high), self.turned(even, odd), strict=True):
                side.append(value)
        return [first, *low, *high[::-1]]
