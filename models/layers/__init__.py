"""Building blocks of operators: attentions, quadrature, spectral convolutions, samplers, smoothers."""
