"""The precision that captured numbers are worked on in, and a projection's own numbers."""

from __future__ import annotations

import torch
from torch import nn


def working(x: torch.Tensor) -> torch.Tensor:
    """`x` in float32, or in float64 where the model itself is."""
    return x if x.dtype == torch.float64 else x.float()


def wide(x: torch.Tensor) -> torch.Tensor:
    """`x` in float64, for sums; in float32 on Apple's GPU, which has no float64."""
    return x.float() if x.device.type == "mps" else x.double()


def matrix(projection: nn.Module) -> torch.Tensor:
    """The weights of a projection as [out, in]; GPT-2's Conv1D keeps them the other way round."""
    weight = projection.weight
    assert isinstance(weight, torch.Tensor)
    return weight.T if type(projection).__name__ == "Conv1D" else weight


def bias_of(projection: nn.Module) -> torch.Tensor | None:
    bias = getattr(projection, "bias", None)
    return bias if isinstance(bias, torch.Tensor) else None
