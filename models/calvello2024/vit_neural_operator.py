"""Vision transformer neural operator."""

from torch import nn

from resolvent.models.calvello2024.patched_neural_operator import PatchConvolution, PatchedNeuralOperator


class ViTNeuralOperator(PatchedNeuralOperator):
    """ViT-NO (Calvello et al. 2024, arXiv:2406.06486, section 4.3 and appendix B.2).

    A spectral convolution lifts each patch of (u, x) to `width` channels, in the place of a vision
    transformer's linear map of its pixels; Q, K and V are affine at each point. Width 128, 6 layers, 12
    modes, learned smoother of 64 modes: 835,201 parameters, 716,417 if a complex weight is one. `operator`
    are `PatchedNeuralOperator`'s keywords.
    """

    def __init__(
        self, *, in_channels: int, width: int, modes: int, periodic_extension: bool, **operator
    ) -> None:
        lifting = PatchConvolution(
            in_channels=in_channels + 2,
            out_channels=width,
            modes=modes,
            periodic_extension=periodic_extension,
        )
        super().__init__(
            lifting=lifting, projections=lambda: nn.Linear(width, 3 * width), width=width, **operator
        )
