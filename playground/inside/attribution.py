"""The chosen token's score as a sum of parts: the final norm, frozen, is a linear map.

RMSNorm: norm(h) = gain · h / s with s = sqrt(mean(h²) + eps). LayerNorm: gain · (h - mean(h)) / s
+ bias with s = sqrt(var(h) + eps). With s the number that the position really had, the score
row · norm(h) is linear in h, and h is a sum: embedding, and what every block wrote. Taking the
mean off a part is the same as taking the mean off the direction it is multiplied with.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from playground.capture import Parts
from playground.inside.numbers import bias_of, matrix, wide, working


@dataclass(frozen=True, slots=True, eq=False)
class Norm:
    """A norm in numbers: gain [D]; bias [D] or None; centred: LayerNorm."""

    gain: torch.Tensor
    bias: torch.Tensor | None
    eps: float
    centred: bool

    @staticmethod
    def of(module: nn.Module, unit_offset: bool) -> Norm:
        """unit_offset: the gain is 1 + weight (Gemma)."""
        weight = module.weight
        assert isinstance(weight, torch.Tensor)
        bias = getattr(module, "bias", None)
        eps = getattr(module, "variance_epsilon", None)
        return Norm(
            gain=working(weight) + 1 if unit_offset else working(weight),
            bias=working(bias) if isinstance(bias, torch.Tensor) else None,
            eps=float(module.eps if eps is None else eps),  # type: ignore[arg-type]
            centred=isinstance(module, nn.LayerNorm),
        )

    @staticmethod
    def final(parts: Parts) -> Norm | None:
        """The final norm of a family that the table knows."""
        if parts.places is None or parts.final_norm is None:
            return None
        return Norm.of(parts.final_norm, parts.places.unit_offset)

    def centre(self, x: torch.Tensor) -> torch.Tensor:
        """`x` with its mean taken off where the norm does so."""
        return x - x.mean(dim=-1, keepdim=True) if self.centred else x

    def scale(self, x: torch.Tensor) -> torch.Tensor:
        """What the norm divides `x` [P, D] by: f64[P, 1]."""
        x = self.centre(wide(x))
        return (x.square().mean(dim=-1, keepdim=True) + self.eps).sqrt()

    def through(self, direction: torch.Tensor) -> torch.Tensor:
        """The direction before the norm, up to its scale, that `direction` [P, D] is after it."""
        return self.centre(direction * self.gain.to(direction.device))


def dots(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a · b over the last axis, summed in float64."""
    products = a * b
    exact = torch.float32 if products.device.type == "mps" else torch.float64
    return products.sum(dim=-1, dtype=exact)


@dataclass(frozen=True, slots=True, eq=False)
class AttentionParts:
    """f64: heads [H, P], bias [P]; not yet divided by the final norm's scale."""

    heads: torch.Tensor
    bias: torch.Tensor


def attention_parts(
    direction: torch.Tensor,
    o_proj: nn.Module,
    norm: Norm | None,
    projected: torch.Tensor | None,
    head_out: torch.Tensor,
) -> AttentionParts:
    """What each head's output [P, H, E] adds along `direction` [P, D], through o_proj.

    norm: the post-norm behind o_proj, frozen at the scale it took of `projected` [P, D], which
    is what o_proj gave. No post-norm may have a bias here (those of the table have none).
    """
    if norm is not None:
        assert projected is not None and norm.bias is None
        direction = (norm.through(direction) / norm.scale(projected)).to(direction.dtype)
    # direction · (W z) = (direction W) · z: the heads' writes [P, H, D] are never laid out
    weight = working(matrix(o_proj))
    back = (direction.to(weight.dtype) @ weight).reshape(head_out.shape)
    heads, bias = dots(back, working(head_out)).T, bias_of(o_proj)
    added = torch.zeros_like(heads[0]) if bias is None else dots(direction, working(bias)[None])
    return AttentionParts(heads, added)


def cosine(x: torch.Tensor, norms: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Cosine of x [P, D], whose norms [P] are known, to rows [P, D]; 0 where either is zero."""
    rows = rows.to(x.device)
    lengths: torch.Tensor = norms * rows.norm(dim=-1)
    return dots(x, rows) / lengths.clamp_min(1e-30)
