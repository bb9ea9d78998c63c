"""A model with cross-attention between patches (Calvello et al. 2024, definitions 17 and 18)."""

import torch
from einops import rearrange

from resolvent.models.calvello2024.patched_neural_operators import ViTNeuralOperator, join, split
from resolvent.models.calvello2024.settings import ViTNeuralOperatorSettings
from resolvent.models.layers.patched_attention import patched_attention


class PatchedCrossSettings(ViTNeuralOperatorSettings):
    """Settings of ViT-NO, whose operator is `PatchedCross`."""

    operator = "patched_cross:PatchedCross"


class PatchedCross(ViTNeuralOperator):
    def __init__(self, *, width, **operator):
        super().__init__(width=width, **operator)
        self.queries = torch.nn.Linear(2, width)

    def forward(self, u, x):
        w = self.lifting(split(torch.cat([u, x.expand(len(u), -1, -1, -1)], dim=-1), self.patches))
        y = self.queries(split(x[None], self.patches)).expand_as(w)
        for layer in self.layers:
            heads = {"pattern": "b p p1 p2 (qkv h e) -> qkv b h p p1 p2 e", "qkv": 3, "h": layer.num_heads}
            q, _, _ = rearrange(layer.projections(y), **heads)
            _, k, v = rearrange(layer.projections(w), **heads)
            z = patched_attention(q, k, v, cell_volume=1 / (u.shape[1] * u.shape[2]))
            y = layer.attention_norm(y + layer.output(rearrange(z, "b h p p1 p2 e -> b p p1 p2 (h e)")))
            y = layer.feedforward_norm(y + layer.feedforward(y))
        z = join(self.projection(y), self.patches)
        return z if self.smoother is None else self.smoother(z, x)
