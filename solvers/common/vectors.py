"""Vectors of eight numbers for Numba: `load`, add, subtract, multiply, `store`.

LLVM does not vectorise loops over arrays that may overlap, so vectors are explicit here. Numbers are
broadcast to vectors. On processors with shorter vectors LLVM uses two or four instructions for one.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, overload, register_model

LANES = 8
VECTOR = ir.VectorType(ir.DoubleType(), LANES)
FLAGS = ("contract", "nsz")  # allow fused multiply-add


class VectorType(types.Type):
    """Numba's type of a vector."""

    def __init__(self) -> None:
        super().__init__(name="VectorOfEight")


vector = VectorType()


@register_model(VectorType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, type_) -> None:
        super().__init__(manager, type_, VECTOR)


def spread(builder, number):
    """Emit a vector with this number in all lanes."""
    undefined = ir.Constant(VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), LANES), None))


def _define(operation, instruction: str) -> None:
    pairs = ((vector, vector), (vector, types.float64), (types.float64, vector))

    @infer_global(operation)
    class _Template(AbstractTemplate):
        def generic(self, arguments, keywords):
            return signature(vector, *arguments) if tuple(arguments) in pairs else None

    def code(context, builder, signature, values):
        operands = [
            value if type_ is vector else spread(builder, value)
            for type_, value in zip(signature.args, values, strict=True)
        ]
        return getattr(builder, instruction)(*operands, flags=FLAGS)

    for pair in pairs:
        lower_builtin(operation, *pair)(code)


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")


@intrinsic
def larger(typing, first, second):
    """Return the elementwise maximum of two vectors; the second element if one is NaN."""

    def code(context, builder, signature, values):
        return builder.select(builder.fcmp_ordered(">", *values), *values)

    return vector(vector, vector), code


def _address(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), VECTOR.as_pointer())


@intrinsic
def load(typing, array, index):
    """Return eight numbers of a flat float64 array from `index` on, without bounds check."""

    def code(context, builder, signature, values):
        return builder.load(_address(context, builder, signature.args[0], *values), align=8)

    return vector(array, types.intp), code


@intrinsic
def store(typing, array, index, value):
    """Store a vector in a flat float64 array from `index` on, without bounds check."""

    def code(context, builder, signature, values):
        builder.store(values[2], _address(context, builder, signature.args[0], *values[:2]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), code


def factor(table, row):
    """Return a row of a table: a number for all lanes, or a vector if rows have a number for each lane."""


@overload(factor)
def _factor(table, row):
    if table.ndim == 1:
        return lambda table, row: table[row]
    return lambda table, row: load(table, row * LANES)
