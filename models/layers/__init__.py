"""What the operators are built from: attentions, quadrature, spectral convolutions, samplers, smoothers."""
