"""Fourier attention neural operator."""

from torch import nn

from resolvent.models.calvello2024.patched_neural_operator import PatchConvolution, PatchedNeuralOperator


class FourierAttentionNeuralOperator(PatchedNeuralOperator):
    """FANO (Calvello et al. 2024, arXiv:2406.06486, section 4.4 and appendix B.3).

    An affine map lifts each point of (u, x) to `width` channels; Q, K and V of every head of every layer are
    spectral convolutions on each patch. Those of a layer share one Fourier analysis of what they convolve,
    and are one product over its modes. Width 128, 8 heads, 6 layers, 9 modes, learned smoother of 64 modes:
    95,868,801 parameters, 48,084,865 if a complex weight is one. `operator` are `PatchedNeuralOperator`'s
    keywords.
    """

    def __init__(
        self,
        *,
        in_channels: int,
        width: int,
        num_heads: int,
        modes: int,
        periodic_extension: bool,
        **operator,
    ) -> None:
        def projections() -> nn.Module:
            return PatchConvolution(
                in_channels=width,
                out_channels=3 * width,
                modes=modes,
                periodic_extension=periodic_extension,
                maps=3 * num_heads,
            )

        lifting = nn.Linear(in_channels + 2, width)
        super().__init__(
            lifting=lifting, projections=projections, width=width, num_heads=num_heads, **operator
        )
